"""Atomic writes, locks and bounded reads."""

from __future__ import annotations

import errno
import io
import os
import re
from pathlib import Path
from typing import NoReturn

import pytest

from pssa.data import files
from pssa.data.files import BoundedStream, acquire_lock, hold_lock, read_bounded, require_writable, write_atomically
from pssa.data.vectors import load_matrix
from pssa.errors import InputError, RunError
from pssa.models._encoder_folder import read_description
from pssa.runs.directory import read_tensors


def test_new_content_replaces_the_old_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_names_the_file_and_not_its_temporary_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        write_atomically(tmp_path / "none" / "page.html", b"")
    assert raised.value.filename == str(tmp_path / "none" / "page.html")


def test_a_disk_that_refuses_everything_is_named_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(part: Path, *_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, "Read-only file system", str(part))

    for name in ("write_bytes", "unlink"):
        monkeypatch.setattr(Path, name, refuse)
    with pytest.raises(OSError, match="Read-only file system") as raised:
        write_atomically(tmp_path / "page.html", b"")
    assert raised.value.filename == str(tmp_path / "page.html")


def test_what_could_not_be_written_is_refused_before(tmp_path: Path) -> None:
    require_writable(tmp_path / "evidence.jsonl")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"e\.jsonl cannot be written: No such file"):
        require_writable(tmp_path / "none" / "e.jsonl")


def unpacked(tmp_path: Path, packed: int, inside: int) -> io.BufferedReader:
    """A file of `packed` bytes that pretends to hold `inside`."""
    path = tmp_path / "file"
    path.write_bytes(bytes(packed))
    return io.BufferedReader(BoundedStream(path, io.BytesIO(b"a" * inside)))


def test_text_that_outgrows_its_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MAX_UNPACKED", 10)
    with pytest.raises(InputError, match="file: unpacks to more than 100 times its"):
        unpacked(tmp_path, packed=3, inside=301).read()


def test_a_small_file_may_unpack_to_sixteen_mebibytes(tmp_path: Path) -> None:
    assert len(unpacked(tmp_path, packed=3, inside=1 << 24).read()) == 1 << 24


def test_a_file_is_read_whole_up_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert read_bounded(tmp_path / "file", 3) == b"abc"
    with pytest.raises(InputError, match="file: has more than 2 bytes"):
        read_bounded(tmp_path / "file", 2)


def test_pipes_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    os.mkfifo(tmp_path / "tokenizer.json")
    refused = "is a pipe, a socket or a device; expected a file"
    with pytest.raises(InputError, match=refused):
        read_tensors(tmp_path / "tokenizer.json")
    with pytest.raises(InputError, match=refused):
        load_matrix(tmp_path / "tokenizer.json")
    with pytest.raises(InputError, match=refused):
        read_description(None, tmp_path)
    with pytest.raises(InputError, match=refused):
        read_bounded(tmp_path / "tokenizer.json", 3)


def test_a_lock_keeps_others_out_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with hold_lock(path, name="the run") as handle:
        handle.write(b"1")
        with pytest.raises(RunError, match=r"the run is in use by another process"), hold_lock(path, name="the run"):
            pass
    with hold_lock(path) as handle:
        handle.seek(0)
        assert handle.read() == b"1"  # opening it again does not empty it


def test_a_folder_that_is_open_can_be_locked(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY) for _ in range(2))
    acquire_lock(first, tmp_path)
    with pytest.raises(RunError, match=re.escape(str(tmp_path))):
        acquire_lock(second, tmp_path)
    os.close(first)
    acquire_lock(second, tmp_path)
    os.close(second)
