"""Where a job's rows go, held by one process at a time."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bulk.made_parts import ASKED, destination, go_on, leave, names, result

from pssa.bulk.destination import followed
from pssa.bulk.part import opened_part
from pssa.errors import InputError, RunError


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with opened_part(destination(tmp_path), ASKED) as part:
        part.append(result(1))
        with pytest.raises(RunError, match=r"out\.csv is being written by another process"):
            go_on(destination(tmp_path, "resume"), 2)
        part.append(result(2))
        part.finish()
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n2\r\n"


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: .*nowhere does not exist"):
        go_on(destination(tmp_path / "nowhere"), 1)
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(InputError, match=r"out\.csv cannot be written: it is a directory"):
        go_on(destination(tmp_path, "replace"), 1)
    (tmp_path / "out.csv").rmdir()
    (tmp_path / "out.csv.part").write_text("a file")
    with pytest.raises(InputError, match=r"out\.csv cannot be written: .*out\.csv\.part: File exists; name a file"):
        go_on(destination(tmp_path), 1)


def test_what_could_not_take_rejected_rows_in_the_end_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, what in (
        ("nowhere/bad", "nowhere does not exist; make the folder"),
        ("folder", "it is a directory"),
    ):
        with pytest.raises(InputError, match=f"/{name} cannot be written: .*{what}.*--rejected"):
            go_on(replace(destination(tmp_path, "replace"), side=tmp_path / name), 1)
    assert names(tmp_path) == ["folder"]


def test_a_device_is_no_file_to_be_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.csv")
    with pytest.raises(
        InputError, match=r"out\.csv cannot be written: it is a directory or a device; name a file with .*--output"
    ):
        go_on(destination(tmp_path, "replace"), 1)


def test_nothing_of_the_part_is_trusted_before_the_lock_is_held(tmp_path: Path) -> None:
    where = destination(tmp_path, "replace")
    leave(where, 2)
    lock = os.open(where.folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(RunError):
        go_on(where, 1)
    os.close(lock)
    assert json.loads((where.folder / "journal.json").read_text())["tally"]["rows"] == 2


def test_a_folder_that_was_removed_before_the_lock_was_had_is_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = destination(tmp_path)
    monkeypatch.setattr(fcntl, "flock", lambda lock, how: where.folder.rmdir())
    with pytest.raises(RunError, match=r"out\.csv is being written by another process"):
        go_on(where, 1)


def test_a_symbolic_link_stands_for_the_file_that_it_means(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, target = tmp_path / "link.csv", tmp_path / "real" / "out.csv"
    link.symlink_to(Path("real") / "out.csv")
    assert followed(link) == target.resolve()  # which is not there yet
    target.write_text("older")
    assert followed(link) == target.resolve()
    assert followed(Path("plain.csv")) == Path("plain.csv")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to-pipe").symlink_to("pipe")
    assert followed(tmp_path / "to-pipe") == tmp_path / "to-pipe"  # to be refused under this name
