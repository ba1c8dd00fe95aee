"""The exhibits, one file each; a file defines `EXHIBIT`, and adding one is adding a file."""

from __future__ import annotations

import importlib
import pkgutil

from pssa.errors import InputError
from pssa.experiments.exhibit import Exhibit

__all__ = ["find", "names"]


def names() -> tuple[str, ...]:
    """Every exhibit there is."""
    modules = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return tuple(name.replace("_", "-") for name in modules)


def find(name: str) -> Exhibit:
    """The exhibit called `name`."""
    if name not in names():
        raise InputError(f"unknown exhibit {name!r}; known: all, {', '.join(names())}")
    exhibit: Exhibit = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").EXHIBIT
    return exhibit
