"""The command that a review gives: it is true, and survives a shell."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.serve.review_toys import EVIDENCE, write_bare, write_files

from pssa.cli import main
from pssa.data.evidence_file import write_evidence
from pssa.data.io import read
from pssa.runs import Config, train
from pssa.serve.review.session import Review


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def command_of(path: Path, corpus: Path | None = None, **reading: Any) -> str:
    review = Review.open(path, corpus, **reading)
    try:
        return review.sources.training_command(review.header, review.export()[0])
    finally:
        review.close()


def write_corpus(path: Path) -> Path:
    labels = ("good", "bad", "mixed")
    rows = [f"The screen of {number} is fine.,screen,{labels[number % 3]}" for number in range(12)]
    path.write_text("\n".join(["text,aspect,label", *rows]) + "\n")
    return path


def test_the_command_names_the_files_and_survives_a_shell(tmp_path: Path) -> None:
    folder = tmp_path / "my data"
    folder.mkdir()
    path = write_files(folder)
    train, reviewed = folder / "train.jsonl", folder / "evidence.reviewed-1.jsonl"
    words = ["pssa", "train", "--train", str(train), "--model", "memnet", "--evidence", str(reviewed), "--out", "RUN"]
    assert shlex.split(command_of(path, train)) == words


@pytest.mark.parametrize(
    ("model", "words"), [("bertabsa_att", " --model bertabsa_att --encoder ENCODER "), ("human", " ")]
)
def test_the_command_names_a_model_that_can_be_trained(path: Path, model: str, words: str) -> None:
    write_evidence(replace(EVIDENCE, header=replace(EVIDENCE.header, model=model)), path)
    assert command_of(path).startswith(f"pssa train --train TRAIN{words}--evidence ")


def test_the_command_has_labels_in_an_order_that_somebody_has_said(path: Path) -> None:
    theirs = path.with_name("theirs.jsonl")
    theirs.write_text(path.with_name("train.jsonl").read_text().replace("positive", "good").replace("negative", "bad"))
    corpus = read(theirs, labels=("good", "bad"))
    write_bare(corpus, path)
    assert " --labels LABELS --evidence " in command_of(path, theirs)
    assert " --labels good,bad,mixed --evidence " in command_of(path, theirs, labels=("good", "bad", "mixed"))


def test_the_command_has_the_seed_and_how_the_corpus_was_read(path: Path) -> None:
    write_evidence(replace(EVIDENCE, header=replace(EVIDENCE.header, seed=3)), path)
    command = command_of(path, path.with_name("train.jsonl"), format="json_lines", conflict="error")
    assert " --model memnet --format json_lines --conflict error --seed 3 --evidence " in command


@pytest.mark.parametrize(
    ("changes", "corpus", "more"),
    [
        ({"train": "{}/train.jsonl"}, "train.jsonl", ""),
        ({"train": "{}/train.jsonl"}, None, ""),
        ({}, None, " --train TRAIN"),
        ({}, "train.jsonl", " --train {}/train.jsonl"),
        ({"train": "{}/second.jsonl"}, "train.jsonl", " --train {}/train.jsonl"),
        (
            {"train": "{}/t.csv", "columns": {"text": "review"}, "format": "csv"},
            "train.jsonl",
            " --train {}/train.jsonl --format '' --columns text=text",
        ),
        # Another order of labels than the usual one is another model.
        ({"train": "{}/train.jsonl", "labels": ("negative", "neutral", "positive")}, "train.jsonl", ""),
    ],
)
def test_evidence_in_a_run_is_trained_with_as_the_run_was(
    path: Path, changes: dict[str, Any], corpus: str | None, more: str
) -> None:
    folder = path.parent
    named = {name: value.format(folder) if name == "train" else value for name, value in changes.items()}
    config = Config(model="memnet", method="pg-as").updated(named)
    path.with_name("config.toml").write_text(config.to_toml())
    command = command_of(path, None if corpus is None else folder / corpus)
    assert command.startswith(
        f"pssa train --config {folder}/config.toml --method base{more.format(folder)} --evidence {folder}/"
    )


def test_a_configuration_of_another_model_is_not_that_of_the_evidence(path: Path) -> None:
    for content in (Config(model="tnet").to_toml(), "nonsense"):
        path.with_name("config.toml").write_text(content)
        assert command_of(path).startswith("pssa train --train TRAIN --model memnet --evidence ")


@pytest.mark.slow
def test_the_command_of_a_run_trains(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "train.csv")
    few: dict[str, Any] = {"dimension": 8, "epochs": 1, "iterations": 1, "epsilon": 9.0}
    few["labels"] = ("good", "bad", "mixed")
    train(corpus, tmp_path / "run", method="pg-as", model="memnet", device="cpu", seed=3, **few)
    command = command_of(tmp_path / "run" / "evidence.jsonl", corpus)
    assert main([*shlex.split(command)[1:-1], str(tmp_path / "again")]) == 0
    ours, theirs = (Config.from_toml(tmp_path / name / "config.toml") for name in ("run", "again"))
    assert replace(theirs, method="pg-as", supervision=ours.supervision, mining=ours.mining) == ours


def test_the_command_names_the_columns_that_the_corpus_was_read_with(path: Path) -> None:
    theirs = path.with_name("theirs.jsonl")
    theirs.write_text(path.with_name("train.jsonl").read_text().replace('"text":', '"the review":'))
    assert " --columns 'text=the review' --evidence " in command_of(path, theirs, columns={"text": "the review"})
