"""The rows that were kept of a vector file, beside the runs, so that the next run need not read gigabytes again.

An entry is found by the file's name, size and time, the words that were wanted and the number of further rows; change any of them
and the file is read anew. A damaged entry is read past and replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from pssa.data.files import write_atomically
from pssa.data.packed_text import Observer
from pssa.data.vectors import Vectors, read_vectors

__all__ = ["read_vectors_once"]


def read_vectors_once(
    path: str | Path, words: Collection[str], folder: Path | None, *, extra_rows: int, observer: Observer | None = None
) -> Vectors:
    """What `read_vectors` gives, from `folder` where it was read before; without a folder nothing is kept."""
    if folder is None:
        return read_vectors(path, words, extra_rows=extra_rows, observer=observer)
    entry = folder / f"{_key(Path(path), words, extra_rows)}.safetensors"
    if (known := _load(entry)) is not None:
        return known
    vectors = read_vectors(path, words, extra_rows=extra_rows, observer=observer)
    # Where there is no room for a cache the work goes on without one.
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(entry, save({"matrix": vectors.matrix}, {"words": json.dumps(vectors.words)}))
    return vectors


def _key(path: Path, words: Collection[str], extra_rows: int) -> str:
    # A file that is not there is `read_vectors`' to complain of.
    facts = (path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else ()
    told = repr((str(path.resolve()), facts, extra_rows, sorted(words)))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _load(entry: Path) -> Vectors | None:
    if not entry.is_file():
        return None
    try:
        with safe_open(entry, framework="numpy") as handle:
            return Vectors(tuple(json.loads(handle.metadata()["words"])), handle.get_tensor("matrix"))
    except (SafetensorError, OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
