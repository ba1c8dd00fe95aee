"""Reading within bounds."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from pssa.data import bounded
from pssa.data.bounded import Unpacked, read_whole
from pssa.data.vectors import load_matrix
from pssa.errors import InputError
from pssa.models._encoder_files import read_description
from pssa.runs.directory import read_tensors


def unpacked(tmp_path: Path, packed: int, inside: int) -> io.BufferedReader:
    """A file of `packed` bytes that pretends to hold `inside`."""
    path = tmp_path / "file"
    path.write_bytes(bytes(packed))
    return io.BufferedReader(Unpacked(path, io.BytesIO(b"a" * inside)))


def test_text_that_is_in_proportion_comes_out_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_FREE", 10)
    assert unpacked(tmp_path, packed=3, inside=300).read() == b"a" * 300


def test_text_that_outgrows_its_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_FREE", 10)
    with pytest.raises(InputError, match=r"file: unpacks to more than 100 times its size; if that is right, unpack it"):
        unpacked(tmp_path, packed=3, inside=301).read()


def test_a_small_file_may_unpack_to_sixteen_mebibytes(tmp_path: Path) -> None:
    assert len(unpacked(tmp_path, packed=3, inside=1 << 24).read()) == 1 << 24


def test_a_file_is_read_whole_up_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert read_whole(tmp_path / "file", 3) == b"abc"
    with pytest.raises(InputError, match="file: has more than 2 bytes"):
        read_whole(tmp_path / "file", 2)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is a pipe, a socket or a device; expected a file"):
        read_whole(tmp_path / "pipe", 3)


def test_what_became_a_pipe_meanwhile_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(bounded, "require_regular", lambda path: None)
    assert read_whole(tmp_path / "pipe", 3) == b""


def test_pipes_in_the_place_of_weights_and_of_files_of_an_encoder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    os.mkfifo(tmp_path / "tokenizer.json")
    refused = "is a pipe, a socket or a device; expected a file"
    with pytest.raises(InputError, match=refused):
        read_tensors(tmp_path / "tokenizer.json")
    with pytest.raises(InputError, match=refused):
        load_matrix(tmp_path / "tokenizer.json")
    with pytest.raises(InputError, match=refused):
        read_description(None, tmp_path)
