"""The run on word vectors that trainings start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pssa
from pssa.aspects.find import FOLDER
from pssa.predict.fingerprint import run_digest
from pssa.runs.run_names import resolve_start

RECORD = Path(__file__).parent / "fixtures" / "starter.json"
MOST_BYTES = 8_000_000


@pytest.fixture(scope="module")
def recorded() -> Any:
    return json.loads(RECORD.read_text("utf-8"))


def test_its_files_are_those_that_were_recorded(recorded: Any) -> None:
    run = resolve_start("starter")
    assert recorded["digests"] == {"run": run_digest(run), "tagger": run_digest(run / FOLDER)}


def test_it_answers_as_recorded_on_any_processor(recorded: Any) -> None:
    judge = pssa.load(resolve_start("starter")).predict
    for item in recorded["answers"]:
        answers = [answer.as_dict() for answer in judge(item["text"])]
        assert [(each["from"], each["to"], each["label"]) for each in answers] == [
            (each["from"], each["to"], each["label"]) for each in item["aspects"]
        ]
        for answer, before in zip(answers, item["aspects"], strict=True):
            assert answer["probabilities"] == pytest.approx(before["probabilities"], abs=1e-3)


def test_it_is_small_and_holds_no_training_data() -> None:
    files = [path for path in resolve_start("starter").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    assert not [path for path in files if "stages" in path.parts or path.name == "evidence.jsonl"]


def test_its_card_names_its_sources_and_scores() -> None:
    card = (resolve_start("starter") / "README.md").read_text("utf-8")
    for part in ("MAMS", "Apache License 2.0", "GloVe", "MAMS val", "REST test", "LAPTOP test"):
        assert part in card
    metrics = json.loads((resolve_start("starter") / "metrics.json").read_text("utf-8"))
    confusion = metrics["held_out"]["confusion"]
    assert sum(map(sum, confusion)) == metrics["held_out"]["instances"]


def test_it_knows_how_sure_it_may_be_and_which_texts_are_unlike_its_own() -> None:
    classifier = pssa.load(resolve_start("starter"))
    assert classifier.calibration is not None
    assert classifier.calibration.kept_out
    assert classifier.calibration.error_after < classifier.calibration.error_before
    assert classifier.profile is not None
    assert classifier.profile.text_notes("The food was great but the waiter was rude.") == ()
    for text in ("食べ物はとても美味しかった", "كان الطعام رائعا لكن الخدمة كانت سيئة"):
        (note,) = classifier.profile.text_notes(text)
        assert note.startswith("script unseen in training")
