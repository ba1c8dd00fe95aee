"""Word vectors made to harm."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pssa.data import files
from pssa.data.vectors import load_matrix, read_vectors
from pssa.errors import InputError

ROW = b"menu 1 2\n"


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        archive.writestr("v.txt", content)
    return target.getvalue()


FILES: dict[str, tuple[bytes, str]] = {
    "very wide": (b"w" + b" 0" * 4097 + b"\n", "line 1: has 4097 values; expected at most 4096"),
    "digits and a letter": (b"menu " + b"1" * 900_000 + b"x\n", "has the value '1{40}'; expected a number"),
    "digits after a space": (ROW + b"a " + b"1" * 900_000 + b"x 1 2\nend\n", "line 3: has 0 values"),
    "a bomb": (zipped(b"\n" * 1_100_000), "line 1000001: comes after 1000000 blank lines"),
    "packed by bzip2": (zipped(ROW, zipfile.ZIP_BZIP2), "packed in an unusual way, not deflated; unpack it first"),
    "packed by lzma": (zipped(ROW, zipfile.ZIP_LZMA), "packed in an unusual way"),
    "UTF-16": ("menu 1 2\n".encode("utf-16"), "is binary or UTF-16"),
    "an archive cut short": (zipped(ROW * 99)[:60], "archive that cannot be opened"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_hostile_vectors_are_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    content, message = FILES[kind]
    (tmp_path / "vectors").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_vectors(tmp_path / "vectors", {"menu", "soup"})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("pack", [zipped, gzip.compress])
def test_a_bomb_of_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(files, "_MAX_UNPACKED", 1 << 16)
    (tmp_path / "vectors").write_bytes(pack(b"a 1\n" * 100_000))
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        read_vectors(tmp_path / "vectors", {"menu"})


def test_a_word_longer_than_any_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_bytes(b"w" * 4097 + b" 1 2\n" + ROW)
    assert read_vectors(tmp_path / "vectors", {"menu"}).words == ("menu",)


def tensor(dtype: str = "F32", shape: tuple[int, ...] = (2, 2), offsets: tuple[int, int] = (0, 16)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def safetensors(header: dict[str, Any] | bytes, said: int | None = None) -> bytes:
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(content) if said is None else said) + content + bytes(16)


LIES: dict[str, bytes] = {
    "its length": safetensors({"embedding": tensor()}, said=2**63),
    "a length beyond the file": safetensors({"embedding": tensor()}, said=10**6),
    "offsets beyond the file": safetensors({"embedding": tensor(offsets=(0, 2**40))}),
    "offsets that overlap": safetensors({"a": tensor(), "embedding": tensor(offsets=(0, 16))}),
    "a shape that does not fit": safetensors({"embedding": tensor(shape=(2**32, 2**32))}),
    "a type that is none": safetensors({"embedding": tensor("F128")}),
    "a type that numpy has not": safetensors({"embedding": tensor("F8_E4M3", (4, 4))}),
    "another type": safetensors({"embedding": tensor("I32")}),
    "another name": safetensors({"other": tensor()}),
    "another number of dimensions": safetensors({"embedding": tensor(shape=(4,))}),
    "depth": safetensors(b"[" * 100_000),
    "nothing": b"",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused(tmp_path: Path, lie: str) -> None:
    (tmp_path / "m.safetensors").write_bytes(LIES[lie])
    with pytest.raises(InputError, match=r"m\.safetensors: (is not a readable embedding matrix|has no matrix)"):
        load_matrix(tmp_path / "m.safetensors")
