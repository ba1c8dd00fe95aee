"""What cells leave in the workspace and in the ledger, and the times of their stages."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest
from tests.paper.experiments.rooms import tiny_resources

from paper.experiments import timing as watching
from paper.experiments.cells import Place, Training
from paper.experiments.ledger import Ledger
from paper.experiments.timing import StageTimer
from paper.experiments.workspace import Workspace
from pssa.data.evidence import RoundReport
from pssa.errors import InputError, RunError

HERE = Place("laptop", "memnet", 0)


@pytest.fixture
def room(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "out", tiny_resources(tmp_path))


def test_a_folder_without_parameters_is_no_model(room: Workspace) -> None:
    base = Training(HERE)
    room.weights(base).mkdir(parents=True)
    assert not room.has_weights(base)
    (room.weights(base) / "model.safetensors").write_text("")
    assert room.has_weights(base)
    room.drop_weights(base)
    assert not room.weights(base).exists()


def test_cells_of_one_place_share_its_materials_and_have_settings_of_their_own(room: Workspace) -> None:
    first, second = room.open(HERE, (("gamma", 1.0),)), room.open(HERE, (("gamma", 2.0),))
    assert first.run.prepared_data is second.run.prepared_data
    assert (first.run.config.supervision.gamma, second.run.config.supervision.gamma) == (1.0, 2.0)
    assert room.open(Place("laptop", "memnet", 1), ()).run.config.seed == 1


def test_only_what_cells_left_behind_is_cleared(room: Workspace) -> None:
    base = Training(HERE)
    room.weights(base).mkdir(parents=True)
    precious = room.folder / "weights" / "model.bin"
    precious.write_text("of somebody else")
    room.clear([base])
    assert precious.read_text() == "of somebody else"
    assert not room.weights(base).exists()


def test_what_was_appended_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "out" / "cells.jsonl"
    with Ledger.open(path) as ledger:
        ledger.append({"key": "a", "accuracy": 0.5})
        assert ledger.find("a") == {"key": "a", "accuracy": 0.5}
    with Ledger.open(path) as ledger:
        assert [record["key"] for record in ledger] == ["a"]
        assert ledger.find("b") is None


def test_a_part_of_a_line_that_a_kill_left_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_bytes(b'{"key": "a"}\n{"key": "b", "acc')
    assert len(Ledger.read(path)) == 1
    with Ledger.open(path) as ledger:
        ledger.append({"key": "c"})
    assert path.read_bytes() == b'{"key": "a"}\n{"key": "c"}\n'


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_bytes(b'{"key": "a"}\n[1]\n')
    with pytest.raises(InputError, match="line 2"):
        Ledger.read(path)


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    with Ledger.open(path), pytest.raises(RunError, match="in use"), Ledger.open(path):
        raise AssertionError


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"), Ledger.open(tmp_path / "file" / "cells.jsonl"):
        raise AssertionError


def test_a_record_that_could_not_be_written_leaves_the_ledger_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cells.jsonl"
    with Ledger.open(path) as ledger:
        ledger.append({"key": "a"})

        def fail(descriptor: int) -> NoReturn:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space"):
                ledger.append({"key": "b"})
        assert (path.read_bytes(), ledger.find("b")) == (b'{"key": "a"}\n', None)
        path.write_bytes(b'{"key": "a"}\n{"key": "b", "torn')  # not even the rest could be cut off
        ledger.append({"key": "c"})
    assert path.read_bytes() == b'{"key": "a"}\n{"key": "c"}\n'


def test_a_pipe_in_its_place_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "cells.jsonl")
    with pytest.raises(InputError, match="is a pipe"), Ledger.open(tmp_path / "cells.jsonl"):
        raise AssertionError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until it is changed."""
    time = [0.0]
    monkeypatch.setattr(watching, "_now", lambda: time[0])
    return time


def test_seconds_of_a_stage_run_from_its_beginning_to_its_end(clock: list[float]) -> None:
    watch = StageTimer()
    clock[0] = 5.0
    watch.on_stage("initial", 10)
    clock[0] = 7.0
    watch.on_stage_end("initial")
    assert watch.seconds == {"initial": 2.0}


def test_a_round_of_mining_takes_what_follows_the_training_before_it(clock: list[float]) -> None:
    watch = StageTimer()
    watch.on_stage("initial", 10)
    clock[0] = 4.0
    watch.on_stage_end("initial")
    clock[0] = 4.5
    watch.on_round(RoundReport(1, accuracy=0.5, mean_entropy=1.0, open_share=0.5, active=1, misleading=0))
    assert watch.seconds == {"initial": 4.0, "mine-1": 0.5}
