"""Taggers from the command line: `pssa train --model tagger`, and `pssa aspects`, which measures and uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.aspects.made_taggers import toy_sentences, toy_tagger
from tests.cli.command import Command

from pssa.cli import main


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained toy tagger."""
    return toy_tagger(tmp_path_factory.mktemp("taggers") / "toy")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The toy sentences as a file."""
    path = tmp_path / "train.jsonl"
    rows = (
        {"text": one.text, "aspects": [{"from": start, "to": end} for start, end in one.aspects]}
        for one in toy_sentences()
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_train_evaluate_and_resume(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "tagger"
    assert main(["train", "--model", "tagger", "--train", str(data), "--out", str(out), "--epochs", "1", "--json"]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert (trained["run"], trained["sentences"], trained["epochs"]) == (str(out), 29, 1)
    assert main(["aspects", "evaluate", str(out), "--data", str(data), "--json"]) == 0
    assert [*json.loads(capsys.readouterr().out)] == ["precision", "recall", "f1", "gold", "found", "right"]
    assert main(["aspects", "evaluate", str(out), "--data", str(data)]) == 0
    assert "24 aspects" in capsys.readouterr().out
    assert main(["train", "--resume", str(out)]) == 0
    assert "29 sentences" in capsys.readouterr().out


def test_a_run_that_finds_and_labels_is_measured_like_a_tagger(command: Command, tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"text": "The food was great.", "aspects": [{"from": 4, "to": 8}]}\n')
    found = command("aspects", "evaluate", "starter", "--data", tmp_path / "data.jsonl", "--json").json
    assert (found["gold"], found["found"], found["right"]) == (1, 1, 1)


@pytest.mark.slow
def test_find_writes_rows_and_counts(tagger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("review\nThe screen is great.\nNever again!\n")
    given = ["aspects", "find", str(tagger), "--input", str(tmp_path / "in.csv"), "--columns", "text=review"]
    assert main([*given, "--output", str(tmp_path / "out.csv"), "--json"]) == 0
    counts = {"aspects": 1, "texts": 2, "empty": 1, "rejected": 0}
    assert json.loads(capsys.readouterr().out) == {"output": str(tmp_path / "out.csv"), **counts}
    assert main([*given, "--output", str(tmp_path / "out.csv")]) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*given, "--output", str(tmp_path / "out.csv"), "--force"]) == 0
    assert "1 aspect in 2 texts" in capsys.readouterr().out
    assert main([*given[:5], "--output", str(tmp_path / "other.csv")]) == 2
    assert "--columns" in capsys.readouterr().err
