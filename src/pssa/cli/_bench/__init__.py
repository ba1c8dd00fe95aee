"""The benchmarks of `pssa bench`: one file each, and the file's name is the benchmark's name.

They are part of the package, and not scripts beside it, so that everybody can run them where it is installed. They look at
every room, from reading to bulk scoring, which only the command line may. A benchmark's file has `measure(request) ->
Measurement` and loads nothing heavy before that is called; its docstring's first line says what it measures. Files that begin
with an underscore are shared parts.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from pssa.cli._bench._outcome import Measure, Measurement, Request, Table
from pssa.errors import InputError

__all__ = ["Measurement", "Request", "Table", "find", "names", "title"]


def names() -> tuple[str, ...]:
    """Every benchmark there is, by looking into this folder."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def title(name: str) -> str:
    """What a benchmark measures, in one line."""
    return (importlib.import_module(f"{__name__}.{name}").__doc__ or "").partition("\n")[0]


def find(name: str) -> Measure:
    """The benchmark of this name.

    :raises InputError: if there is none.
    """
    if name not in names():
        raise InputError(f"there is no benchmark {name!r}; there are {', '.join(names())}")
    return cast(Measure, importlib.import_module(f"{__name__}.{name}").measure)
