"""`pssa train`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Command
from tests.models.encoders import write_encoder

import pssa
from pssa.cli import main
from pssa.data.evidence import stats
from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus
from pssa.runs import Config
from pssa.runs.directory import RunDirectory
from pssa.training import EpochRecord
from pssa.training.progress import TrainingProgress

Tiny = tuple[str, ...]


def stages(run: Path) -> list[str]:
    """Names of the stages, each once, in the order of the history."""
    records = (json.loads(line) for line in (run / "history.jsonl").read_text().splitlines())
    return list(dict.fromkeys(record["stage"] for record in records))


def test_training_leaves_a_run_and_says_so(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    result = command("train", *tiny, "--out", tmp_path / "run")
    assert (result.code, result.err) == (0, "")
    assert f"{tmp_path / 'run'}: 60 instances; 2 epochs; " in result.out
    assert "trained parameters" in result.out
    assert pssa.load(tmp_path / "run").labels == ("positive", "negative", "neutral")


@pytest.mark.slow
def test_what_was_mined_is_summed_up(command: Command, enhanced: Path, run: Path) -> None:
    evidence = enhanced / "evidence.jsonl"
    counts = stats(read_evidence(evidence))
    found = command("train", "--resume", enhanced, "--json").json
    assert (found["evidence"], found["active"], found["misleading"]) == (
        str(evidence),
        counts.active,
        counts.misleading,
    )
    said = f"{counts.active} active, {counts.misleading} misleading words in {evidence}\n"
    assert said in command("train", "--resume", enhanced).out
    assert "evidence" not in command("train", "--resume", run, "--json").json


@pytest.mark.slow
def test_a_mining_that_found_nothing_is_a_warning(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    words = ("--method", "aw-as", "--iterations", "1", "--set", "epsilon=0.001")
    result = command("train", *tiny, *words, "--out", tmp_path / "run", "--json")
    assert (result.code, json.loads(result.out)["active"]) == (0, 0)
    assert result.err == (
        "pssa: warning: nothing was supervised: no sentence had an entropy below epsilon 0.001; "
        "raise it with --set epsilon=VALUE\n"
    )
    again = command("train", *tiny, "--evidence", tmp_path / "run" / "evidence.jsonl", "--out", tmp_path / "again")
    assert again.err == "pssa: warning: nothing was supervised: the evidence has no word\n"


@pytest.mark.filterwarnings("always:.*ignores:UserWarning")
def test_an_option_that_the_method_makes_no_use_of_is_a_warning(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    words = ("--iterations", "1", "--set", "mining.epsilon=2", "--out", tmp_path / "run")
    said = "pssa: warning: method base ignores iterations, epsilon; remove"
    result = command("train", *tiny, *words)
    assert result.code == 0
    assert result.err.startswith(said)


def test_options_settings_and_a_file_come_together(command: Command, tiny: Tiny, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('model = "tnet"\nseed = 5\n[training]\npatience = 3\nbatch_size = 2\n')
    words = ("--config", file, "--set", "options.dropout=0.25", "--set", "labels=positive,neutral,negative")
    assert command("train", *tiny, *words, "--out", tmp_path / "run").code == 0
    config = Config.from_toml(tmp_path / "run" / "config.toml")
    assert (config.model, config.seed) == ("memnet", 5), "an option goes before the file"
    assert (config.training.patience, config.training.batch_size, config.training.learning_rate) == (3, 16, 0.01)
    assert config.options["dropout"] == 0.25
    assert config.data.labels == ("positive", "neutral", "negative")


@pytest.mark.slow
def test_the_configuration_of_a_run_makes_the_run_again(
    command: Command, train_file: Path, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.select(range(0, 60, 5)).write(tmp_path / "dev.jsonl")
    (tmp_path / "vectors.txt").write_text("screen 1 2 3\n")
    monkeypatch.chdir(tmp_path)
    words = ("--dev", "dev.jsonl", "--vectors", "vectors.txt", "--model", "memnet", "--device", "cpu")
    few = ("--set", "max_epochs=2")
    assert command("train", "--train", train_file, *words, *few, "--out", tmp_path / "run").code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert command("train", "--config", tmp_path / "run" / "config.toml", "--out", tmp_path / "again").code == 0
    for name in ("config.toml", "history.jsonl", "metrics.json", "model.safetensors", "stages/dev.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name


@pytest.fixture
def interrupted(command: Command, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that Ctrl-C ended after its first epoch."""

    def interrupt(bars: TrainingProgress, record: EpochRecord) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "interrupted"
    with monkeypatch.context() as patch:
        patch.setattr(TrainingProgress, "on_epoch", interrupt)
        result = command("train", *tiny, "--out", out)
    assert (result.code, result.out) == (130, "")
    assert result.err == f"pssa: interrupted; continue with: pssa train --resume {out}\n"
    return out


def test_an_interrupted_run_goes_on_with_resume_alone(command: Command, interrupted: Path, run: Path) -> None:
    with RunDirectory.open(interrupted).locked():
        busy = command("train", "--resume", interrupted)
    assert (busy.code, "is in use by another process" in busy.err) == (1, True)
    found = command("train", "--resume", interrupted, "--json").json
    assert (found["run"], found["instances"]) == (str(interrupted), 60)
    assert (interrupted / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()
    assert (interrupted / "history.jsonl").read_bytes() == (run / "history.jsonl").read_bytes()


def test_resuming_a_finished_run_sums_it_up_in_one_json_object(command: Command, run: Path) -> None:
    found = command("train", "--resume", run, "--json").json
    assert (found["run"], found["instances"], found["epochs"]) == (str(run), 60, 2)
    assert found["labels"] == {"positive": 22, "negative": 23, "neutral": 15}


def test_an_interruption_before_there_is_a_run_gives_no_advice(
    command: Command, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*given: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pssa.runs.training_run.write_run", interrupt)
    result = command("train", *tiny, "--out", tmp_path / "run")
    assert (result.code, result.err) == (130, "pssa: interrupted\n")


ROUNDS = ("--iterations", "3", "--set", "round_epochs=1", "--set", "epsilon=9")


@pytest.fixture(scope="module")
def enhanced(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the paper's method; to be read only."""
    out = tmp_path_factory.mktemp("runs") / "enhanced"
    assert main(["train", *tiny, "--method", "aw-as", *ROUNDS, "--out", str(out)]) == 0
    return out


def test_the_whole_method_leaves_evidence_and_both_models(enhanced: Path, run: Path) -> None:
    assert stages(enhanced) == ["initial", "round-2", "round-3", "final"]
    evidence = read_evidence(enhanced / "evidence.jsonl")
    assert (evidence.header.saliency, evidence.header.iterations) == ("attention", 3)
    for example in evidence.examples:
        # No gate is closed at nine bits, but the last candidate stays.
        n_candidates = len(example.words) - (example.aspect[1] - example.aspect[0])
        assert len(example.findings) == min(3, n_candidates - 1)
    initial = pssa.load(enhanced / "stages" / "initial")
    assert initial.predict("The screen is huge.", "screen").label in initial.labels
    # The initial stage is the training of a plain run, and supervision leads elsewhere.
    weights = [path / "model.safetensors" for path in (run, enhanced / "stages" / "initial", enhanced)]
    plain, first, final = (path.read_bytes() for path in weights)
    assert plain == first != final


def test_training_with_its_evidence_ends_like_the_method(
    command: Command, tiny: Tiny, enhanced: Path, tmp_path: Path
) -> None:
    evidence = enhanced / "evidence.jsonl"
    assert command("train", *tiny, "--evidence", evidence, "--out", tmp_path / "run").code == 0
    assert stages(tmp_path / "run") == ["final"]
    assert (tmp_path / "run" / "evidence.jsonl").read_bytes() == evidence.read_bytes()
    expected = (enhanced / "model.safetensors").read_bytes()
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == expected


def test_evidence_of_another_corpus_is_refused_before_anything_is_written(
    command: Command, tiny: Tiny, enhanced: Path, train_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("".join(train_file.read_text().splitlines(keepends=True)[1:]))
    words = ("--train", other, "--evidence", enhanced / "evidence.jsonl", "--out", tmp_path / "run")
    assert "the evidence was made from another corpus" in command("train", *tiny, *words).refusal
    assert list(tmp_path.iterdir()) == [other]


def test_resuming_a_finished_run_of_the_joint_model_sums_it_up(command: Command, tmp_path: Path) -> None:
    write_encoder(tmp_path / "encoder")
    lines = ("The food was good .####[([1], [3], 'POS')]", "The waiter was bad .####[([1], [3], 'NEG')]")
    (tmp_path / "reviews.txt").write_text("\n".join(lines * 8) + "\n")
    words = ("--model", "joint", "--encoder", tmp_path / "encoder", "--epochs", "1", "--out", tmp_path / "run")
    trained = command("train", "--train", tmp_path / "reviews.txt", *words)
    resumed = command("train", "--resume", tmp_path / "run")
    assert (resumed.code, resumed.out) == (0, trained.out)
    assert "finished before" in resumed.err
    assert command("train", "--resume", tmp_path / "run", "--json").json["sentences"] > 0
