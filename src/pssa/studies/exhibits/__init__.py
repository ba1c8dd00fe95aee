"""The exhibits, one file each; a file defines `EXHIBIT`, and adding one is adding a file."""

from __future__ import annotations

import importlib
import pkgutil

from pssa.errors import InputError
from pssa.studies.exhibit import Exhibit

__all__ = ["find", "names", "place_of"]

# As one reads them; what is not named here comes last.
_ORDER = (
    *(
        "datasets",
        "overall",
        "claims",
        "epsilon",
        "random-masking",
        "corpus-size",
        "self-attention",
        "speed",
        "case-study",
    ),
    *("strip-bug", "parameters", "human-agreement", "rare-words", "faithfulness"),
)


def names() -> tuple[str, ...]:
    """Every exhibit there is, in the order in which they are read."""
    modules = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return tuple(sorted((name.replace("_", "-") for name in modules), key=place_of))


def place_of(name: str) -> tuple[int, str]:
    """Where an exhibit stands among the others, for sorting."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def find(name: str) -> Exhibit:
    """The exhibit called `name`."""
    if name not in names():
        raise InputError(f"unknown exhibit {name!r}; known: all, {', '.join(names())}")
    exhibit: Exhibit = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").EXHIBIT
    return exhibit
