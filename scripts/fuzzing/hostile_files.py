"""Files and folders that are made to harm: what writes them."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzzing.folders import write_encoder

__all__ = [
    "MB",
    "Make",
    "of_bytes",
    "of_encoder",
    "of_gzip",
    "of_line",
    "of_parquet",
    "of_tokenizer",
    "of_zip",
    "safetensors",
    "tensor",
]

MB = 1 << 20
Make = Callable[[Path], None]


def of_bytes(content: bytes) -> Make:
    """These bytes."""

    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def of_line(head: bytes, piece: bytes, times: int) -> Make:
    """A line of this many pieces and no end."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            for _ in range(times // 1000):
                file.write(piece * 1000)

    return make


def of_gzip(head: bytes, piece: bytes, times: int) -> Make:
    """A packed line or lines."""

    def make(path: Path) -> None:
        with gzip.open(path, "wb", 9) as file:
            file.write(head)
            for _ in range(times):
                file.write(piece)

    return make


def of_zip(name: str, method: int, piece: bytes, times: int) -> Make:
    """An archive with one file of these pieces."""

    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method) as archive, archive.open(name, "w", force_zip64=True) as member:
            for _ in range(times):
                member.write(piece)

    return make


def safetensors(header: Any, body: int = 64, said: int | None = None) -> bytes:
    """A safetensors file with this header, true or not."""
    content = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(content) if said is None else said) + content + bytes(body)


def tensor(dtype: str = "F32", shape: tuple[int, ...] = (2, 2), offsets: tuple[int, int] = (0, 16)) -> dict[str, Any]:
    """What a header says of a tensor."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def of_encoder(**changes: Any) -> Make:
    """An encoder's folder with other values in its config.json."""

    def make(path: Path) -> None:
        write_encoder(path)
        config = json.loads((path / "config.json").read_text("utf-8"))
        (path / "config.json").write_text(json.dumps(config | changes), "utf-8")

    return make


def of_tokenizer(content: str) -> Make:
    """An encoder's folder with another tokenizer.json."""

    def make(path: Path) -> None:
        write_encoder(path)
        (path / "tokenizer.json").write_text(content, "utf-8")

    return make


def of_parquet(kind: str) -> Make:
    """A table whose texts are no texts: a bomb, numbers, dates or lists."""

    def make(path: Path) -> None:
        import pyarrow
        from pyarrow import parquet

        aspect = pyarrow.array(["a"] * 1000)
        columns = {
            "bomb": pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 1000, "int32"), ["a" * (12 * MB)]),
            "numbers": pyarrow.array(range(1000)),
            "dates": pyarrow.array([2**62] * 1000, pyarrow.timestamp("us")),
            "nested": pyarrow.array([[["a"]]] * 1000),
        }
        table = pyarrow.table({"text": columns[kind], "aspect": aspect, "label": pyarrow.array(["positive"] * 1000)})
        parquet.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30)

    return make
