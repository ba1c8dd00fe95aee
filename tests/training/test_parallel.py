"""Several processes train as one: alone a team does nothing, and two end where one ends."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models import IndexedCorpus
from pssa.training import Checkpoint, EpochRecord, Team, parallel, team

SCRIPT = Path(__file__).parent / "train_as_team.py"
TRAININGS = ("plain", "supervised", "in-parts", "alone-in-a-batch", "resumed", "search")
RECORD = EpochRecord("initial", 1, 0.5, 0.0, 0.75)


@pytest.fixture(autouse=True)
def _nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)


def started(monkeypatch: pytest.MonkeyPatch, rank: str, size: str) -> None:
    for name, value in (("RANK", rank), ("WORLD_SIZE", size), ("MASTER_ADDR", "localhost")):
        monkeypatch.setenv(name, value)


def test_a_launcher_says_who_a_process_is_and_half_of_its_variables_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "2", "4")
    assert Team.from_environment() == Team(2, 4)
    assert not Team.from_environment().is_main
    started(monkeypatch, "1", "2")
    monkeypatch.delenv("MASTER_ADDR")
    assert Team.from_environment() == Team(0, 1)


def test_a_rank_must_be_one_of_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "2", "2")
    with pytest.raises(InputError, match="rank is 2 of 2 processes"):
        Team.from_environment()
    started(monkeypatch, "first", "2")
    with pytest.raises(InputError, match=r"must be whole numbers: .*'first'; start"):
        Team.from_environment()


def test_a_team_of_one_does_nothing_and_loads_nothing(monkeypatch: pytest.MonkeyPatch, corpus: IndexedCorpus) -> None:
    monkeypatch.setitem(sys.modules, "torch.distributed", None)  # an import would fail
    batch = corpus.batch(torch.arange(4))
    parameter = nn.Parameter(torch.ones(2))
    checkpoint = Checkpoint({"model.a": torch.ones(1)}, (RECORD,))
    with team(torch.device("cpu")) as alone:
        assert alone == Team(0, 1)
        assert alone.take(batch) is batch
        assert alone.broadcast(checkpoint) is checkpoint
        assert alone.broadcast(None) is None
        assert alone.share(RECORD) is RECORD
        alone.add_gradients([parameter])
    assert parameter.grad is None


@pytest.mark.parametrize(("n_rows", "shares"), [(5, [[0, 3], [1, 4], [2]]), (1, [[0], [], []])])
def test_the_rows_of_a_batch_are_dealt_out(corpus: IndexedCorpus, n_rows: int, shares: list[list[int]]) -> None:
    batch = corpus.batch(torch.arange(n_rows))
    taken = [Team(rank, 3).take(batch) for rank in range(3)]
    assert [part.index.tolist() for part in taken] == shares
    assert {part.positions.shape[1] for part in taken} == {batch.positions.shape[1]}


def test_rows_are_taken_from_every_tensor_of_a_batch(corpus: IndexedCorpus) -> None:
    batch = corpus.batch(torch.arange(6))
    taken = batch.take(slice(1, 6, 2))
    assert torch.equal(taken.labels, batch.labels[[1, 3, 5]])
    assert torch.equal(taken.word_of, batch.word_of[[1, 3, 5]])


def test_gradients_travel_in_buckets_and_a_large_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_BUCKET", 6)
    sizes = [3, 3, 2, 9, 1]
    buckets = parallel._buckets([nn.Parameter(torch.zeros(size)) for size in sizes])
    assert [[parameter.numel() for parameter in bucket] for bucket in buckets] == [[3, 3], [2], [9], [1]]


def test_a_process_without_a_gpu_of_its_own_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    started(monkeypatch, "3", "4")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    message = "process 3 of this machine has no GPU of its own; there are 2, start that many processes at most"
    with pytest.raises(InputError, match=message), team(torch.device("cuda")):
        pass


def weights_of(folder: Path, training: str, rank: int) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = load_file(folder / f"{training}-{rank}.safetensors")
    return tensors


def history_of(folder: Path, training: str, rank: int) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((folder / f"{training}-{rank}.json").read_text())
    return records


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes leave."""
    folder = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(SCRIPT)]
    paths = os.pathsep.join([str(SCRIPT.parents[2]), os.environ.get("PYTHONPATH", "")])
    found = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, timeout=900, env=found)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process leaves."""
    folder = tmp_path_factory.mktemp("one")
    runpy.run_path(str(SCRIPT))["train_all"](folder, Team())
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("training", [*TRAININGS, "dropout"])
def test_two_processes_have_the_same_weights_and_history(two: Path, training: str) -> None:
    first, second = (weights_of(two, training, rank) for rank in (0, 1))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert history_of(two, training, 0) == history_of(two, training, 1)


@pytest.mark.slow
@pytest.mark.parametrize("training", TRAININGS)
def test_two_processes_end_where_one_ends(one: Path, two: Path, training: str) -> None:
    alone, together = (weights_of(folder, training, 0) for folder in (one, two))
    for name, expected in alone.items():
        torch.testing.assert_close(together[name], expected, atol=1e-5, rtol=0)
    histories = [history_of(folder, training, 0) for folder in (one, two)]
    assert len(histories[0]) == len(histories[1])
    for expected_record, record in zip(*histories, strict=True):
        assert record == pytest.approx(expected_record, abs=1e-5)


@pytest.mark.slow
def test_a_resumed_training_of_two_processes_is_an_undisturbed_one(two: Path) -> None:
    undisturbed, resumed = weights_of(two, "in-parts", 0), weights_of(two, "resumed", 0)
    assert all(torch.equal(undisturbed[name], resumed[name]) for name in undisturbed)
    assert history_of(two, "in-parts", 0) == history_of(two, "resumed", 0)


@pytest.mark.slow
def test_each_process_has_a_dropout_of_its_own(one: Path, two: Path) -> None:
    alone, together = history_of(one, "dropout", 0), history_of(two, "dropout", 0)
    assert alone[0]["loss"] != pytest.approx(together[0]["loss"], abs=1e-3)


@pytest.mark.slow
def test_the_leader_is_heard_by_all(two: Path) -> None:
    assert [(two / f"said-{rank}").read_text() for rank in (0, 1)] == ["from the leader"] * 2
