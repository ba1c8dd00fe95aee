"""Atomic writing: the old content or the new, and nothing left beside it."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NoReturn

import pytest

from pssa.data.atomic import require_writable, write_atomically
from pssa.errors import InputError


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


def test_what_could_not_be_written_is_refused_before(tmp_path: Path) -> None:
    require_writable(tmp_path / "evidence.jsonl")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(
        InputError, match=r"e\.jsonl cannot be written: No such file or directory; name a file elsewhere"
    ):
        require_writable(tmp_path / "none" / "e.jsonl")


def test_a_disk_that_refuses_everything_is_named_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(part: Path, *_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, "Read-only file system", str(part))

    for name in ("write_bytes", "unlink"):
        monkeypatch.setattr(Path, name, refuse)
    with pytest.raises(OSError, match="Read-only file system") as raised:
        write_atomically(tmp_path / "page.html", b"")
    assert raised.value.filename == str(tmp_path / "page.html")
