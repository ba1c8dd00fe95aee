"""Notes about texts that are unlike the training data."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import pssa
from pssa.cli import main
from pssa.data import embedded
from pssa.data.example import Example
from pssa.data.tokenize import tokenize
from pssa.errors import InputError
from pssa.runs.input_profile import (
    LONG_TEXT,
    NEW_ASPECT,
    OTHER_SCRIPT,
    UNKNOWN_WORDS,
    InputProfile,
    added_column,
    is_unfounded,
    note_kind,
)
from pssa.runs.run_names import resolve_run

FIXTURES = Path(__file__).parents[1] / "fixtures"
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


LANGUAGES = [json.loads(line) for line in (FIXTURES / "languages.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "it"])
def test_most_texts_in_another_language_are_noted_and_none_in_the_language_of_the_training_texts(language: str) -> None:
    texts = [each["text"] for each in LANGUAGES if each["language"] == language]
    starter = InputProfile.load(resolve_run("starter"))
    assert starter is not None
    found = [notes for text in texts if (notes := starter.language_notes(text))]
    assert len(texts) == 40
    if language == "en":
        assert not found
        return
    assert len(found) >= 32
    assert found.count((f"language: {language}, trained on en",)) >= 32
    assert all(is_unfounded(note_kind(note)) for notes in found for note in notes)


def test_answers_name_the_language_and_try_does_not_wait_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    german, english = "Hotel in guter Lage, Bar schlecht", "The hotel is in a good place, but the bar is bad."
    starter = pssa.load("starter")
    found = starter.predict([german, english])
    assert all("language: de, trained on en" in answer.notes for answer in found[0])
    assert not any("language" in note for answer in found[1] for note in answer.notes)
    assert "language: de, trained on en" in starter.predict(german, "Bar").notes
    assert main(["try", german, "--aspects", "Bar"]) == 0
    assert "language" not in capsys.readouterr().out


def test_the_languages_of_the_training_texts_are_detected_and_noted_no_more() -> None:
    german = [each["text"] for each in LANGUAGES if each["language"] == "de"]
    profile = InputProfile.of([Example.from_text(text, tokenize(text)[0]) for text in german])
    assert profile.languages == ("de",)
    assert not any(map(profile.language_notes, german))
    assert profile.language_notes("The room was clean and the waiter was friendly.") == ("language: en, trained on de",)
    assert replace(profile, languages=()).language_notes("The room was clean and the waiter was friendly.") == ()


def test_known_words_need_no_detector() -> None:
    code = """
import sys
from pssa.runs.input_profile import InputProfile
from pssa.runs.run_names import resolve_run
profile = InputProfile.load(resolve_run("starter"))
assert not profile.language_notes("The food was good and the waiter was friendly.")
assert "py3langid" not in sys.modules
assert profile.language_notes("Das Essen war gut und der Kellner freundlich.")
assert "py3langid" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


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
    assert (added_column(["text"]), added_column(["text", "notes"])) == ("notes", "pssa_notes")
