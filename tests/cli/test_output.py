"""What commands print for people, and what a log gets of a training."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

from pssa import cli
from pssa.cli._output import print_table, say
from pssa.data.example import Corpus
from pssa.errors import PssaWarning


def test_one_instance_is_told_so(command: Command, run: Path, corpus: Corpus, tmp_path: Path) -> None:
    corpus.select([0]).write(tmp_path / "one.jsonl")
    told = command("evaluate", run, "--data", tmp_path / "one.jsonl", "--versus", run).out
    assert told.startswith("1 instance: accuracy")


def test_a_narrow_table_cuts_nothing_off(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    print_table("confusion: gold in rows", ("", "positive", "negative"), [["positive", "1", "2"]])
    told = capsys.readouterr().out
    assert told.startswith("confusion: gold in rows\n")
    assert "…" not in told


def test_labels_and_words_of_strangers_do_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]0;gone\x07 \x9b31m \u202e label"
    say(hostile)
    print_table(hostile, ("name", "count"), [[hostile, 1]])
    cli._print_warning(PssaWarning(f"none of the labels is {hostile}"))
    shown = "".join(capsys.readouterr())
    assert shown.count("label") == 5
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*shown}
