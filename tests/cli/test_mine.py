"""`pssa mine`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus

Tiny = tuple[str, ...]


def test_evidence_is_written_and_summed_up(command: Command, tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    found = command("mine", *tiny, "--saliency", "attention", "--iterations", "2", "--out", path, "--json").json
    evidence = read_evidence(path)
    evidence.check_corpus(corpus)
    assert (found["evidence"], found["examples"]) == (str(path), 60)
    assert found["active"] == sum(len(example.active) for example in evidence.examples)
    assert found["misleading"] == sum(len(example.misleading) for example in evidence.examples)
    assert len(found["per_iteration"]) == 2
    assert (evidence.header.method, evidence.header.saliency) == ("aw-as", "attention")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("words", "method", "saliency"),
    [
        ((), "pg-as", "gradient"),
        (("--saliency", "random"), "rm-as", "random"),
        (("--saliency", "leave_one_out"), "pg-as", "leave_one_out"),
        (("--method", "consensus"), "consensus", "attention"),
        (("--method", "consensus", "--saliency", "gradient"), "consensus", "gradient"),
    ],
)
def test_method_and_saliency_are_recorded(
    command: Command, tiny: Tiny, tmp_path: Path, words: tuple[str, ...], method: str, saliency: str
) -> None:
    path = tmp_path / "evidence.jsonl"
    few = ("--iterations", "1", "--set", "consensus_models=2", "--set", "consensus_folds=2")
    result = command("mine", *tiny, *words, *few, "--out", path)
    assert (result.code, result.err) == (0, "")
    assert f"{path}: 60 examples, " in result.out
    header = read_evidence(path).header
    assert (header.method, header.saliency) == (method, saliency)


def test_mined_evidence_can_be_trained_with(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    assert command("mine", *tiny, "--iterations", "1", "--out", path).code == 0
    assert command("train", *tiny, "--evidence", path, "--out", tmp_path / "run").code == 0


def test_an_existing_file_is_refused(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    path.write_text("older\n")
    assert f"{path} exists already; choose another --out" in command("mine", *tiny, "--out", path).refusal
    assert path.read_text() == "older\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--saliency", "grad"), "unknown saliency 'grad'; known: attention"),
        (("--model", "tnet"), "model tnet has no attention to supervise"),
        (("--folds", "1"), "folds is 1; it can be 0 (no cross-fitting) or at least 2"),
        (("--method", "boosting"), "argument --method: invalid choice: 'boosting'"),
        (("--train", "nowhere.csv"), "nowhere.csv: does not exist"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    command: Command, tiny: Tiny, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in command("mine", *tiny, *words, "--out", tmp_path / "evidence.jsonl").refusal
    assert not list(tmp_path.iterdir())
