"""The embedded corpus: small, written for this package, for demonstration and tests only (see README.md beside it)."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from pssa.data.example import Corpus
from pssa.data.io import read
from pssa.errors import InputError

SPLITS = ("train", "test")


@cache
def load(split: str) -> Corpus:
    """Return the `train` or the `test` split.

    Test examples carry the tag `misleading` or `plain`; all carry their origin (`hand`, `grammar`) and their domain
    (`laptop`, `restaurant`).

    :raises InputError: if there is no such split.
    """
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r} of the embedded corpus; known: {', '.join(SPLITS)}")
    with as_file(files(__name__).joinpath(f"{split}.jsonl")) as path:
        return read(path)
