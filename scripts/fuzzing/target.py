"""`Target`: something that takes bytes from strangers, sound bytes to begin with, and a way to try others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis.strategies import SearchStrategy

__all__ = ["Attack", "Target"]

Attack = Callable[[bytes], None]  # raises what the package raises


@dataclass(frozen=True)
class Target:
    """What is attacked."""

    prepare: Callable[[Path], Attack]  # in a folder of its own
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()  # of the format, to be put in
    grown: SearchStrategy[bytes] | None = None  # cases by the format's grammar
    share: float = 1.0  # of the cases, against that of other targets; the slower, the fewer
