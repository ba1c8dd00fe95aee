"""`pssa evidence mine`."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.cli.command import Command

from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus
from pssa.training.progress import TrainingProgress

Tiny = tuple[str, ...]


def test_evidence_is_written_and_summed_up(command: Command, tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    found = command(
        "evidence", "mine", *tiny, "--saliency", "attention", "--iterations", "2", "--out", path, "--json"
    ).json
    evidence = read_evidence(path)
    evidence.check_corpus(corpus)
    assert (found["evidence"], found["examples"]) == (str(path), 60)
    assert found["active"] == sum(len(example.active) for example in evidence.examples)
    assert found["misleading"] == sum(len(example.misleading) for example in evidence.examples)
    assert len(found["per_iteration"]) == 2
    assert (evidence.header.method, evidence.header.saliency) == ("aw-as", "attention")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "words", "method", "saliency"),
    [
        ('method = "aw-as"', (), "aw-as", "attention"),
        ('method = "aw-as"', ("--method", "progressive"), "aw-as", "attention"),
        ('method = "aw-as"', ("--saliency", "random"), "rm-as", "random"),
        ('method = "aw-as"', ("--set", "method=rm-as"), "rm-as", "random"),
        ('method = "consensus"', (), "consensus", "leave_one_out"),
        ('method = "consensus"', ("--saliency", "gradient"), "consensus", "gradient"),
        ('method = "consensus"', ("--method", "progressive"), "pg-as", "gradient"),
        ('method = "base"', (), "pg-as", "gradient"),
        ("", (), "pg-as", "gradient"),
        ("", ("--saliency", "leave_one_out"), "pg-as", "leave_one_out"),
        ("", ("--method", "aw-as"), "aw-as", "attention"),
        ('method = "base"\nsaliency = "attention"', (), "aw-as", "attention"),
    ],
)
def test_a_file_says_how_to_mine_and_the_command_overrules_it(
    command: Command, tiny: Tiny, tmp_path: Path, file: str, words: tuple[str, ...], method: str, saliency: str
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(
        file + "\niterations = 1\nconsensus_models = 2\nconsensus_folds = 2\nconsensus_threshold = 0.05\n"
    )
    path = tmp_path / "evidence.jsonl"
    result = command("evidence", "mine", *tiny, "--epochs", "1", "--config", settings, *words, "--out", path)
    assert (result.code, result.err) == (0, "")
    header = read_evidence(path).header
    assert (header.method, header.saliency) == (method, saliency)


@pytest.mark.slow
def test_a_file_may_name_the_data(command: Command, tiny: Tiny, run: Path, tmp_path: Path) -> None:
    own, named = tmp_path / "own.jsonl", tmp_path / "named.jsonl"
    assert command("evidence", "mine", *tiny, "--iterations", "1", "--out", own).code == 0
    words = ("--config", run / "config.toml", "--iterations", "1", "--out", named)
    assert command("evidence", "mine", *words).code == 0
    assert named.read_bytes() == own.read_bytes()
    assert (
        command("evidence", "mine", "--out", tmp_path / "3.jsonl").refusal
        == "pssa: pssa evidence mine needs --train FILE"
    )


def test_reading_vectors_is_shown(
    command: Command, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(TrainingProgress, "on_vectors", lambda bars, read, total: seen.append(read))
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("screen 1 2 3\n")
    words = ("--vectors", vectors, "--iterations", "1", "--out", tmp_path / "evidence.jsonl")
    assert command("evidence", "mine", *tiny, *words).code == 0
    assert seen[-1] == vectors.stat().st_size


def test_its_command_to_train_can_be_given(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    labels = ("good", "bad", "conflict")
    rows = [f"The screen of {number} is fine.,screen,{labels[number % 3]}" for number in range(12)]
    Path("my data.txt").write_text("\n".join(["text,aspect,label", *rows]) + "\n")
    words = ("--labels", "good,bad", "--conflict", "keep", "--format", "csv", "--device", "cpu")
    few = ("--set", "dimension=8", "--epochs", "1", "--iterations", "1", "--set", "epsilon=9")
    result = command("evidence", "mine", "--train", "my data.txt", *words, *few, "--out", "my evidence.jsonl")
    given = shlex.split(result.out.partition("train with it: pssa ")[2])
    assert given[:3] == ["train", "--train", "my data.txt"]
    assert given[-10:] == [
        *("--format", "csv", "--labels", "good,bad"),
        *("--conflict", "keep", "--evidence", "my evidence.jsonl", "--out", "RUN"),
    ]
    assert command(*given, "--set", "dimension=8", "--epochs", "1").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "epsilon=0.001"), "no sentence had an entropy below epsilon 0.001; raise"),
        (("--method", "consensus", "--set", "consensus_threshold=0.99"), "2 models (consensus_right) must be right"),
    ],
)
def test_finding_nothing_is_said(
    command: Command, tiny: Tiny, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    few = tmp_path / "few.toml"
    few.write_text("iterations = 1\nconsensus_models = 2\nconsensus_folds = 2\n")
    result = command("evidence", "mine", *tiny, *words, "--config", few, "--out", tmp_path / "evidence.jsonl")
    assert result.err.startswith(f"pssa: warning: nothing was found to train with: {said}")
    assert "60 examples, 0 active, 0 misleading words" in result.out
    assert "train with it" not in result.out


@pytest.mark.filterwarnings("always:.*ignores:UserWarning")
def test_a_setting_of_the_other_way_to_mine_is_a_warning(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    words = ("--iterations", "1", "--set", "mining.consensus_right=1", "--out", tmp_path / "evidence.jsonl")
    result = command("evidence", "mine", *tiny, *words)
    assert result.code == 0
    assert result.err.startswith("pssa: warning: method pg-as ignores consensus_right")
