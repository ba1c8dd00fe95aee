"""Notes about texts that are unlike the training data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pssa
from pssa.data import embedded
from pssa.data.tokenize import tokenize
from pssa.errors import InputError
from pssa.runs.input_profile import (
    LONG_TEXT,
    NEW_ASPECT,
    OTHER_SCRIPT,
    UNKNOWN_WORDS,
    InputProfile,
    note_kind,
    notes_column,
)

PROFILE = InputProfile.of(embedded.load("train"))
SEEN = "screen"


def notes(text: str, aspect: str) -> list[str]:
    return [note_kind(note) for note in PROFILE.notes(text, tokenize(text), aspect)]


@pytest.mark.parametrize(
    ("text", "aspect", "kinds"),
    [
        ("The screen is huge and bright, and I love it.", SEEN, []),
        ("Le plat principal etait froid mais le screen marche tres bien", SEEN, [UNKNOWN_WORDS]),
        ("Экран отличный, но батарея слабая screen", SEEN, [OTHER_SCRIPT]),
        ("画面はとても良いです screen", SEEN, [OTHER_SCRIPT]),
        ("The screen is huge. " * 30, SEEN, [LONG_TEXT]),
        ("The zither is huge and bright, and I love it.", "zither", [NEW_ASPECT]),
        ("Nice screen, café!", SEEN, []),
        ("xyzzy screen", SEEN, []),  # too short to tell
    ],
)
def test_texts_unlike_the_training_data_are_noted(text: str, aspect: str, kinds: list[str]) -> None:
    assert notes(text, aspect) == kinds


def test_few_texts_like_the_training_data_are_noted() -> None:
    found = [
        note_kind(note)
        for example in embedded.load("test")
        for note in PROFILE.notes(example.text, example.spans, example.aspect_text)
    ]
    assert not {*found} - {NEW_ASPECT, UNKNOWN_WORDS}
    assert found.count(UNKNOWN_WORDS) <= 3


def test_a_profile_survives_its_file_and_damage_is_refused(tmp_path: Path) -> None:
    assert InputProfile.load(tmp_path) is None
    PROFILE.save(tmp_path)
    assert InputProfile.load(tmp_path) == PROFILE
    path = tmp_path / "inputs.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"words": 3}))
    with pytest.raises(InputError, match=r"inputs\.json is damaged"):
        InputProfile.load(tmp_path)


def test_answers_have_notes_unless_the_run_is_older(finished_run: Path, tmp_path: Path) -> None:
    text = "Экран отличный, но батарея слабая"
    answer = pssa.load(finished_run).predict(text, "Экран")
    assert [note_kind(note) for note in answer.notes] == [OTHER_SCRIPT, NEW_ASPECT]
    assert answer.as_dict()["notes"] == list(answer.notes)
    older = shutil.copytree(finished_run, tmp_path / "older")
    (older / "inputs.json").unlink()
    plain = pssa.load(older).predict(text, "Экран")
    assert (plain.notes, "notes" in plain.as_dict()) == ((), False)
    assert plain.probabilities == answer.probabilities


def test_a_column_of_notes_does_not_replace_the_users_own(finished_run: Path) -> None:
    rows = [{"text": "the wifi is great", "aspect": "wifi", "notes": "call back"}]
    (found,) = pssa.load(finished_run).predict(rows)
    assert (found["notes"], found["pssa_notes"]) == ("call back", NEW_ASPECT)
    assert (notes_column(["text"]), notes_column(["text", "notes"])) == ("notes", "pssa_notes")
