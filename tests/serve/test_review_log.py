"""The log of a review: on disk before it counts, whole after a kill, and nobody else's."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import NoReturn

import pytest
from tests.serve.review_toys import HUGE

from pssa.errors import InputError, RunError
from pssa.serve.review.log import LogEntry, ReviewLog

_DIGEST = "a" * 64


def _entry(number: int) -> LogEntry:
    return LogEntry(number, "2026-01-31T09:30:00+00:00", 0, "1", "drop", 0, "Hugé", HUGE, None)


def _write(path: Path, numbers: range) -> bytes:
    log = ReviewLog.open(path, _DIGEST)
    for number in numbers:
        log.append(_entry(number))
    log.close()
    return path.read_bytes()


def test_a_log_begins_with_the_digest_of_its_evidence_and_has_a_line_for_each_change(tmp_path: Path) -> None:
    header, line, end = _write(tmp_path / "log", range(1, 2)).decode().split("\n")
    assert json.loads(header) == {"review": 1, "evidence": _DIGEST}
    fields = json.loads(line)
    assert list(fields) == ["number", "time", "index", "example", "action", "word", "text", "before", "after", "undoes"]
    assert (fields["text"], fields["before"]["score"], fields["after"]) == ("Hugé", 0.75, None)
    assert end == ""


def test_a_line_is_synchronised_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ReviewLog.open(tmp_path / "log", _DIGEST)
    synchronised: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synchronised.append((tmp_path / "log").read_bytes()))
    log.append(_entry(1))
    assert synchronised == [(tmp_path / "log").read_bytes()]
    assert synchronised[0].count(b"\n") == 2
    log.close()


@pytest.mark.parametrize("cut", [1, 20, 150])
def test_a_torn_last_line_is_left_out_and_cut_off_before_the_next(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "log"
    whole = _write(path, range(1, 3))
    first = whole[: whole.rfind(b"\n", 0, -1) + 1]
    path.write_bytes(whole[:-cut])
    log = ReviewLog.open(path, _DIGEST)
    assert log.entries == [_entry(1)]
    assert log.note == "the last line of log was cut short by a crash and is left out"
    assert path.read_bytes() == whole[:-cut]
    log.append(_entry(2))
    log.close()
    assert path.read_bytes() == whole
    assert whole.startswith(first)


@pytest.mark.parametrize("length", [0, 1, 40])
def test_a_log_whose_first_line_was_torn_begins_again(tmp_path: Path, length: int) -> None:
    path = tmp_path / "log"
    header = _write(path, range(0))
    path.write_bytes(header[:length])
    ReviewLog.open(path, _DIGEST).close()
    assert path.read_bytes() == header


def test_a_file_that_is_no_log_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"notes of mine")
    with pytest.raises(InputError, match="log, line 1: is not a line of a review"):
        ReviewLog.open(tmp_path / "log", _DIGEST)
    assert (tmp_path / "log").read_bytes() == b"notes of mine"


def test_the_log_of_another_file_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "log", range(1, 2))
    with pytest.raises(InputError, match="line 1: is the log of another evidence"):
        ReviewLog.open(tmp_path / "log", "b" * 64)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'{"review":1', b'{"review":2', "line 1: has version 2; this program reads version 1 only"),
        (b'"number":1,', b'"number":2,', "line 2: has the number 2; expected 1"),
        (b'"word":0,"text"', b'"word":"0","text"', "line 2: `word` is '0'; expected a whole number"),
        (b'"kind":"active"', b'"kind":"good"', "line 2: `kind` is 'good'; expected active or misleading"),
        (b'"action":"drop"', b'"action":drop', "line 2: is not valid JSON"),
        ("é".encode(), b"\xe9", "line 2: is not UTF-8"),
    ],
)
def test_a_damaged_line_before_the_end_is_named(tmp_path: Path, old: bytes, new: bytes, said: str) -> None:
    path = tmp_path / "log"
    content = _write(path, range(1, 3))
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        ReviewLog.open(path, _DIGEST)
    assert said in str(caught.value)


def test_a_second_process_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    first = ReviewLog.open(tmp_path / "log", _DIGEST)
    with pytest.raises(RunError, match="log is in use by another process"):
        ReviewLog.open(tmp_path / "log", _DIGEST)
    first.close()
    ReviewLog.open(tmp_path / "log", _DIGEST).close()


def test_where_no_log_can_be_kept_there_is_no_review(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"log: cannot be opened \(No such file"):
        ReviewLog.open(tmp_path / "absent" / "log", _DIGEST)


def test_a_full_disk_loses_the_change_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    before = _write(path, range(1, 2))
    log = ReviewLog.open(path, _DIGEST)

    def fail(descriptor: int) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(RunError, match="so nothing was changed: No space left on"):
            log.append(_entry(2))
    assert path.read_bytes() == before
    assert log.entries == [_entry(1)]
    log.append(_entry(2))
    log.close()
    assert path.read_bytes().count(b"\n") == 3


def test_a_log_is_never_opened_through_a_link_nor_read_without_end(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "log").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a symbolic link"):
        ReviewLog.open(tmp_path / "log", _DIGEST)
    assert (tmp_path / "precious").read_text() == "kept"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe"):
        ReviewLog.open(tmp_path / "pipe", _DIGEST)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="has more than"):
        ReviewLog.open(tmp_path / "large", _DIGEST)
