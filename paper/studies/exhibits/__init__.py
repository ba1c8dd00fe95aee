"""The exhibits, one file each. A file names its `EXHIBIT` first in `__all__`; to add an exhibit, add a file."""

from __future__ import annotations

from paper.studies.exhibit import Exhibit
from pssa.registry import Registry

__all__ = ["find", "names", "reading_order"]

# Exhibits that are not named here come last.
_ORDER = (
    *("datasets", "mining", "overall", "claims", "epsilon", "random-masking", "corpus-size", "self-attention", "speed"),
    *("case-study", "strip-bug", "parameters", "human-agreement", "rare-words", "faithfulness"),
    *("transfer", "stress", "correction", "few-labels", "readings", "readings-held-out", "selection"),
)
_REGISTRY = Registry(__name__, "exhibit", separator="-")


def names() -> tuple[str, ...]:
    """Return the names of all exhibits, in reading order."""
    return tuple(sorted(_REGISTRY.names(), key=reading_order))


def reading_order(name: str) -> tuple[int, str]:
    """Return a sort key that puts exhibits in reading order."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def find(name: str) -> Exhibit:
    """Return the exhibit called `name`."""
    exhibit: Exhibit = _REGISTRY.find(name)
    return exhibit
