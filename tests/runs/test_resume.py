"""Runs that are interrupted and resumed end like undisturbed ones, with every method and model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runs.interrupted import Interrupting, contents, interrupt

import pssa
from pssa import models
from pssa.data.example import Corpus
from pssa.errors import InputError, RunError
from pssa.runs import methods
from pssa.runs.directory import RunDirectory
from pssa.runs.training_run import finish_run, write_run
from pssa.training import EpochRecord, Observer

TrainTiny = Callable[..., Path]


def interrupt_and_resume(train_tiny: TrainTiny, run: Path, after: int, **settings: Any) -> None:
    interrupt(train_tiny, run, after, **settings)
    assert not RunDirectory.open(run).finished
    finish_run(run)


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.names())
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_interrupted_methods_end_the_same(train_tiny: TrainTiny, tmp_path: Path, method: str, share: float) -> None:
    settings = {"method": method, "epochs": 0, "max_epochs": 2}
    watch = Interrupting()
    train_tiny(tmp_path / "undisturbed", observer=watch, **settings)
    after = max(1, int(share * watch.seen))
    interrupt_and_resume(train_tiny, tmp_path / "interrupted", after, **settings)
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")
    answer = pssa.load(tmp_path / "interrupted").predict("the screen is great", "screen")
    assert sum(answer.probabilities.values()) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("model", models.names())
def test_an_interrupted_model_ends_with_the_same_files(train_tiny: TrainTiny, tmp_path: Path, model: str) -> None:
    settings = {"model": model, "hidden": 3} if "hidden" in models.option_defaults(model) else {"model": model}
    train_tiny(tmp_path / "undisturbed", **settings)
    interrupt_and_resume(train_tiny, tmp_path / "interrupted", 1, **settings)
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


def test_an_interrupted_run_loads_as_far_as_it_came(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("unheard 1 2 3\nscreen 3 2 1\n")
    settings = {"vectors": str(vectors)}
    train_tiny(tmp_path / "one-epoch", epochs=1, **settings)
    interrupt(train_tiny, tmp_path / "interrupted", 1, epochs=3, **settings)
    expected = pssa.load(tmp_path / "one-epoch")
    with pytest.warns(UserWarning, match="interrupted is not a finished run"):
        found = pssa.load(tmp_path / "interrupted")
    assert found.torch.probabilities(corpus).tolist() == expected.torch.probabilities(corpus).tolist()
    answers = [run.predict("an unheard screen", "screen").probabilities for run in (expected, found)]
    assert answers[0] == answers[1]


def test_a_run_may_be_interrupted_again_and_again(train_tiny: TrainTiny, tmp_path: Path) -> None:
    train_tiny(tmp_path / "undisturbed", epochs=4)
    interrupt(train_tiny, tmp_path / "interrupted", 1, epochs=4)
    for epochs in (2, 3):  # an observer is told of finished epochs too
        with pytest.raises(KeyboardInterrupt):
            finish_run(tmp_path / "interrupted", Interrupting(epochs))
    finish_run(tmp_path / "interrupted")
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


def test_a_resumed_run_does_not_need_the_users_files(train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path) -> None:
    train_file, vectors = tmp_path / "train.jsonl", tmp_path / "vectors.txt"
    corpus.write(train_file)
    vectors.write_text("screen 3 2 1\n")
    settings: dict[str, Any] = {"model": "memnet", "vectors": str(vectors), "epochs": 2, "device": "cpu"}
    write_run(train_file, tmp_path / "undisturbed", **settings)
    with pytest.raises(KeyboardInterrupt):
        write_run(train_file, tmp_path / "interrupted", observer=Interrupting(1), **settings)
    train_file.unlink()
    vectors.unlink()
    finish_run(tmp_path / "interrupted")
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


def test_resuming_a_finished_run_changes_nothing(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run")
    before = contents(run)
    assert finish_run(run) == run
    assert contents(run) == before


def test_a_finished_run_is_told_finished_where_nothing_can_be_written(copied_run: Path) -> None:
    (copied_run / ".lock").unlink()
    (copied_run / ".lock").mkdir()  # cannot be opened to write, not even by root, for whom no folder is read-only
    before = contents(copied_run)
    assert finish_run(copied_run) == copied_run
    assert contents(copied_run) == before
    (copied_run / "metrics.json").unlink()
    with pytest.raises(RunError, match="cannot be written"):
        finish_run(copied_run)


def test_a_finished_run_is_told_finished_while_another_process_has_it(copied_run: Path) -> None:
    with RunDirectory.open(copied_run).locked():
        assert finish_run(copied_run) == copied_run


def test_resuming_tidies_up_after_a_kill(train_tiny: TrainTiny, finished_run: Path, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run")
    (run / "stages" / "initial").mkdir()
    (run / "stages" / "initial" / "checkpoint.safetensors").touch()
    (run / "stages" / "vectors.safetensors").touch()
    finish_run(run)
    assert contents(run) == contents(finished_run)
    assert not (run / "stages" / "initial").exists()


def test_a_run_in_progress_cannot_be_resumed_by_another(train_tiny: TrainTiny, tmp_path: Path) -> None:
    class Meddling(Observer):
        def on_epoch(self, record: EpochRecord) -> None:
            with pytest.raises(RunError, match="is in use by another process"):
                finish_run(tmp_path / "run")

    train_tiny(tmp_path / "run", observer=Meddling())


def test_what_is_no_run_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        finish_run(tmp_path)
    (tmp_path / "model.json").touch()
    with pytest.raises(InputError, match=r"has no config\.toml, so it was stopped"):
        finish_run(tmp_path)


def test_a_damaged_checkpoint_is_named(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = tmp_path / "run"
    interrupt(train_tiny, run, 1)
    (path,) = run.rglob("checkpoint.safetensors")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged"):
        finish_run(run)
