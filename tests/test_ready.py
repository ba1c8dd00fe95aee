"""The model that comes with the package."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pssa
from pssa.cli import main
from pssa.runs.onnx_runtime import OnnxRuntime
from pssa.runs.run_names import starter_run

RECORD = Path(__file__).parent / "fixtures" / "ready.json"
MOST_BYTES = 26_000_000


@pytest.fixture(scope="module")
def recorded() -> Any:
    return json.loads(RECORD.read_text("utf-8"))


def test_its_files_are_those_that_were_recorded(recorded: Any) -> None:
    files = sorted(starter_run().iterdir())
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files} == recorded["digests"]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES


def test_it_answers_as_recorded_on_any_processor(recorded: Any) -> None:
    classifier = pssa.load("starter")
    for item in recorded["answers"]:
        answers = [answer.as_dict() for answer in classifier.predict(item["text"])]
        assert [(each["aspect"], each["label"]) for each in answers] == [
            (each["aspect"], each["label"]) for each in item["answers"]
        ]
        for answer, before in zip(answers, item["answers"], strict=True):
            # Processors round eight bits differently.
            assert answer["probabilities"] == pytest.approx(before["probabilities"], abs=0.05)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Best vacuum ever!", {"vacuum": "positive"}),
        ("The room was spotless, though the wifi never worked!", {"room": "positive", "wifi": "negative"}),
        ("The charger broke after two days.", {"charger": "negative"}),
        ("high quality", {"quality": "positive"}),
    ],
)
def test_it_is_right_about_ordinary_reviews(text: str, right: dict[str, str]) -> None:
    assert {each.aspect: each.label for each in pssa.load("starter").predict(text)} == right


def test_what_a_text_merely_names_is_left_out_and_neutral_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    text = "My laptop has an Intel processor; the screen is gorgeous."
    assert main(["try", text]) == 0
    assert "processor is" not in capsys.readouterr().out
    assert main(["try", text, "--mentions"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("processor is neutral")]
    assert line.endswith("(no opinion found)")


def test_every_answer_has_a_score_and_its_reasons_in_the_text() -> None:
    text = "We came late. The waiter was rude, but the soup was lovely."
    for answer in pssa.load("starter").predict(text):
        assert answer.score is not None
        assert 0 < answer.score <= 1
        top = max(answer.words, key=lambda word: word.share)
        assert text[top.start : top.end] == {"waiter": "rude", "soup": "lovely", "": "late"}[answer.aspect]


def test_it_answers_without_torch_and_transformers() -> None:
    program = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
import pssa
print([answer.aspect for answer in pssa.load("starter").predict("The soup was lovely.")])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['soup']"


@pytest.mark.parametrize("text", ["", "   ", "😀😀😀", "<p></p>", "x" * 100_000, "?!" * 5_000])
def test_odd_texts_have_an_answer(text: str) -> None:
    assert isinstance(pssa.load("starter").predict(text), list)


def test_it_notes_other_languages_and_scripts() -> None:
    profile = pssa.load("starter").profile
    assert profile is not None
    assert profile.text_notes("The food was great but the waiter was rude.") == ()
    (note,) = profile.text_notes("食べ物はとても美味しかった")
    assert note.startswith("script unseen in training")
    assert profile.language_notes("Das Hotel war gut, aber das Personal leider sehr unfreundlich.")


def test_it_knows_how_sure_it_may_be() -> None:
    classifier = pssa.load("starter")
    assert classifier.calibration is not None
    assert classifier.calibration.kept_out
    assert classifier.abstaining(risk=0.05).abstain_below > 0


def test_its_card_names_its_sources_and_scores() -> None:
    card = (starter_run() / "README.md").read_text("utf-8")
    for part in ("MiniLM", "DMASTE", "ROAST", "MAMS", "TSA-MD", "Apache", "MIT", "REST test", "LAPTOP test"):
        assert part in card


@pytest.mark.parametrize("name", ["encoder.onnx", "heads.safetensors", "tokenizer.json", "model.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}"])
def test_a_broken_or_missing_file_is_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    copy = shutil.copytree(starter_run(), tmp_path / "copy")
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_bytes(content)
    with pytest.raises(pssa.InputError, match=name.replace(".", r"\.")):
        OnnxRuntime.load(copy)
