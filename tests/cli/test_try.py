"""`pssa try`, with a run whose tagger finds given names."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.aspects.find import FOLDER, OLDER_FILE
from pssa.aspects.names import NameFinder

REVIEW = "The screen is huge. We liked the battery, not the screen!"


@pytest.fixture
def starter(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in place of the one that comes with the package."""
    root = shutil.copytree(run, tmp_path / "starter")
    (root / FOLDER).mkdir()
    (root / FOLDER / OLDER_FILE).touch()
    finder = NameFinder(("screen", "battery"))
    monkeypatch.setattr("pssa.aspects.tagger.load_finder", lambda path, device: finder)
    monkeypatch.setattr("pssa.runs.run_names._PACKAGED", root)
    return root


def test_every_aspect_is_judged_in_its_sentence(command: Command, starter: Path) -> None:
    (item,) = command("try", REVIEW, "--json").json["items"]
    assert item.keys() == {"text", "aspects"}
    assert [(each["aspect"], REVIEW[each["from"] : each["to"]]) for each in item["aspects"]] == [
        ("screen", "screen"),
        ("battery", "battery"),
        ("screen", "screen"),
    ]
    first, _, last = item["aspects"]
    assert first.keys() == {"aspect", "from", "to", "label", "probabilities", "words"}
    assert first["probabilities"] == pytest.approx(
        pssa.load(starter).predict("The screen is huge.", "screen").probabilities
    )
    assert [word["word"] for word in last["words"]][:3] == ["We", "liked", "the"]
    assert all(word.keys() == {"word", "share"} for word in last["words"])


def test_texts_are_answered_in_their_order(command: Command, starter: Path) -> None:
    result = command("try", "I left.", "Weak battery.", "--run", starter)
    assert (result.code, result.err) == (0, "")
    nothing, _, answer, sentence, _, advice = result.out.splitlines()
    assert "--aspects" in advice
    assert "I left." in nothing
    assert answer.startswith("battery is ")
    assert "[battery]" in sentence


def test_aspects_can_be_named_also_for_a_run_without_a_tagger(command: Command, run: Path) -> None:
    (item,) = command("try", REVIEW, "--run", run, "--aspects", "Battery, wifi", "--json").json["items"]
    assert [(each["aspect"], each["from"]) for each in item["aspects"]] == [("battery", REVIEW.index("battery"))]
    nothing = command("try", "I left.", "--run", run, "--aspects", "battery")
    assert nothing.code == 0
    assert "no aspect found" in nothing.out
    assert "--aspects" not in nothing.out  # which it has already


@pytest.mark.usefixtures("starter")
@pytest.mark.filterwarnings("default")
def test_the_starter_finds_aspects_for_a_run_that_cannot(command: Command, run: Path) -> None:
    result = command("try", "Weak battery.", "--run", run)
    assert result.out.startswith("battery is ")
    assert "--aspects" in result.err


@pytest.mark.usefixtures("starter")
@pytest.mark.parametrize("words", [(), ("-",)])
def test_standard_input_has_texts(command: Command, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Weak battery.\n\nWe left.\n"))
    found = command("try", *words, "--json").json["items"]
    assert [(item["text"], len(item["aspects"])) for item in found] == [("Weak battery.", 1), ("We left.", 0)]


def test_what_cannot_be_tried_is_refused(command: Command, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--aspects" in command("try", REVIEW, "--run", run, "--aspects", ",").refusal
    assert "empty" in command("try", " ").refusal
    assert "100000" in command("try", "x" * 100_001).refusal
    monkeypatch.setattr("sys.stdin", io.StringIO("line\n" * 1001))
    assert "pssa predict" in command("try").refusal


def test_without_the_starter_it_says_so(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.runs.run_names._PACKAGED", tmp_path)
    assert "without the run starter" in command("try", "Weak battery.").refusal
