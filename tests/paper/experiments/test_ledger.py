"""The ledger keeps what is complete, through kills, and lets one process in."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from paper.experiments.ledger import Ledger
from pssa.errors import InputError, RunError


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
