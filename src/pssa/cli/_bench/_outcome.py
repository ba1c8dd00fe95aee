"""What a benchmark is asked and what it answers, and the machine that it ran on."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pssa import __version__
from pssa.errors import InputError

__all__ = ["Cell", "Measure", "Measurement", "Request", "Table", "load_average", "machine"]

Cell = str | int | float | None
_PACKAGES = ("torch", "transformers", "numpy")


@dataclass(frozen=True)
class Request:
    """What may be chosen about a benchmark.

    :raises InputError: for values that cannot be.
    """

    data: Path | None = None  # folder of data sets; None: the embedded corpus
    vectors: Path | None = None
    encoder: str | None = None  # folder or hub name
    run: Path | None = None  # to score with; None: one that is trained for a moment
    rows: tuple[int, ...] = ()  # empty: as many as suit the benchmark
    repeats: int = 3

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise InputError(f"--repeats is {self.repeats}; it must be at least 1")
        for given in self.rows:
            if given < 1:
                raise InputError(f"--rows holds {given}; every number of rows must be at least 1")
        if self.data is not None and not self.data.is_dir():
            raise InputError(f"--data {self.data} is not a folder; expected one with laptop/train.txt and the like")
        for name in ("vectors", "run"):
            path = getattr(self, name)
            if path is not None and not path.exists():
                raise InputError(f"--{name} {path} does not exist; name one that does, or leave it out")
        if self.vectors is not None and self.encoder is not None:
            raise InputError("--vectors are for models that read words and --encoder for the others; give one of them")

    def one_size(self, usual: int) -> int:
        """The number of rows, for a benchmark that takes one.

        :raises InputError: if several are given.
        """
        if len(self.rows) > 1:
            raise InputError(f"--rows names {len(self.rows)} sizes; this benchmark takes one")
        return self.rows[0] if self.rows else usual


@dataclass(frozen=True)
class Table:
    """Numbers with names."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> list[list[str]]:
        """The rows as people read them."""
        return [[_shown(cell) for cell in row] for row in self.rows]


@dataclass(frozen=True)
class Measurement:
    """What was measured, and what follows from it in a sentence or two."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)  # every single measurement, in seconds or as named

    def plain(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        tables = [
            {"title": t.title, "columns": list(t.columns), "rows": [list(row) for row in t.rows]} for t in self.tables
        ]
        return {"tables": tables, "notes": list(self.notes), "raw": dict(self.raw)}


Measure = Callable[[Request], Measurement]


def machine() -> dict[str, Any]:
    """What numbers depend on, without loading any of it."""
    found = {name: _version(name) for name in _PACKAGES}
    return {
        "pssa": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        **{name: found[name] for name in _PACKAGES if found[name]},
    }


def load_average() -> float | None:
    """Processes that wanted a core in the last minute, by the system's count; None where it keeps none."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    if sys.platform == "linux":
        names = (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        )
        return next(names, platform.processor())
    return platform.processor()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        # Three figures; more would claim what no clock gives.
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
