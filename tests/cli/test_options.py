"""Options that commands share: columns with names of their own go with every command that reads rows."""

from __future__ import annotations

import csv
import shlex
import tomllib
from pathlib import Path

import pytest
from tests.cli.command import Command, parsers_of
from tests.cli.conftest import TINY

import pssa
from pssa import models, saliency
from pssa.cli import _options, build_parser
from pssa.data.example import Corpus
from pssa.runs import methods

COLUMNS = "text=Review,aspect=term,label=polarity,from=start,to=end,id=no,sentence_id=sentence"


@pytest.fixture(scope="module")
def reviews(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as somebody else's table."""
    path = tmp_path_factory.mktemp("data") / "my reviews.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["no", "sentence", "Review", "term", "start", "end", "polarity", "shop"])
        for one in corpus:
            writer.writerow([one.id, one.sentence_id, one.text, one.aspect_text, *one.aspect_chars, one.label, 7])
    return path


def test_every_command_that_takes_a_format_takes_columns() -> None:
    commands = [
        (parser.prog, options)
        for parser in parsers_of(build_parser())
        if {"--format", "--from"} & (options := set(parser._option_string_actions))
    ]
    assert len(commands) >= 11
    assert [name for name, options in commands if "--columns" not in options] == []


@pytest.mark.parametrize(
    ("words", "room"),
    [("train", "models"), ("evidence mine", "models"), ("evidence mine", "saliency")],
)
def test_help_lists_what_the_folder_holds_a_new_file_too(
    command: Command, words: str, room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = models.names() if room == "models" else saliency.names()
    assert ", ".join(known) in " ".join(command(*words.split(), "--help").out.split())
    (tmp_path / room).mkdir()
    for name in ("zebra", "ape", "_stripes"):
        (tmp_path / room / f"{name}.py").touch()
    monkeypatch.setattr(_options, "_PACKAGE", tmp_path)
    said = " ".join(command(*words.split(), "--help").out.split())
    assert "ape, zebra" in said
    assert "_stripes" not in said


def test_help_names_every_method_that_there_is(command: Command) -> None:
    said = " ".join(command("train", "--help").out.split())
    assert [name for name in methods.names() if name not in said] == []


def test_a_table_is_checked_and_converted_by_names(
    command: Command, reviews: Path, train_file: Path, tmp_path: Path
) -> None:
    ours, theirs = command("data", "check", train_file), command("data", "check", reviews, "--columns", COLUMNS)
    assert theirs.code == 0
    assert theirs.out.splitlines()[1:] == ours.out.splitlines()[1:]
    result = command("data", "convert", reviews, tmp_path / "out.jsonl", "--columns", COLUMNS)
    assert (result.code, result.err) == (0, "columns not kept: shop\n")
    assert [(one.id, one.words, one.aspect, one.label) for one in pssa.read(tmp_path / "out.jsonl")] == [
        (one.id, one.words, one.aspect, one.label) for one in pssa.read(train_file)
    ]


@pytest.mark.slow
def test_a_training_keeps_the_columns_and_its_run(command: Command, reviews: Path, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert command("train", "--train", reviews, "--columns", COLUMNS, *TINY, "--out", out).code == 0
    columns = dict(pair.split("=") for pair in COLUMNS.split(","))
    assert tomllib.loads((out / "config.toml").read_text())["data"]["columns"] == columns
    assert (out / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()
    again = tmp_path / "again"
    assert command("train", "--config", out / "config.toml", "--out", again).code == 0
    assert command("train", "--resume", out).code == 0
    refused = command("train", "--resume", out, "--columns", COLUMNS).refusal
    assert refused.startswith("pssa: --columns ")
    refused = command("train", "--train", reviews, "--columns", "text=Rating", *TINY, "--out", "x").refusal
    assert "no column 'Rating' for text (--columns)" in refused


@pytest.mark.slow
def test_mining_passes_the_columns_on_to_training(command: Command, reviews: Path, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    mined = command(
        "evidence", "mine", "--train", reviews, "--columns", COLUMNS, *TINY, "--set", "epsilon=9", "--out", path
    )
    told = next(line for line in mined.out.splitlines() if line.startswith("train with it: pssa "))
    words = shlex.split(told.removeprefix("train with it: pssa "))
    assert words[words.index("--columns") + 1] == COLUMNS
    words[words.index("RUN")] = str(tmp_path / "run")
    assert command(*words, *TINY).code == 0


@pytest.mark.slow
def test_it_is_evaluated_and_reported(
    command: Command, reviews: Path, train_file: Path, run: Path, tmp_path: Path
) -> None:
    theirs = ("--columns", COLUMNS)
    ours = command("evaluate", run, "--data", train_file, "--json").json
    found = command("evaluate", run, "--data", reviews, *theirs, "--json").json
    assert {name: found[name] for name in ("accuracy", "macro_f1", "confusion")} == {
        name: ours[name] for name in ("accuracy", "macro_f1", "confusion")
    }
    page = tmp_path / "page.html"
    assert command("report", run, "--data", reviews, *theirs, "--limit", "1", "--out", page).code == 0
    first = command("explain", run, "--input", train_file, "--limit", "2", "--json").json
    assert command("explain", run, "--input", reviews, *theirs, "--limit", "2", "--json").json == first


def test_a_run_has_a_name_and_a_new_one_cannot(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pssa.runs.run_names._PACKAGED", tmp_path / "none")
    assert "without the run starter" in command("explain", "starter", "--text", "A b.", "--aspect", "A").refusal
    assert build_parser().parse_args(["train", "--train", "x", "--out", "starter"]).out == Path("starter")
