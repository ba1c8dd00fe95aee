"""The exhibits, one file each, and the pages that show them.

A file names its `EXHIBIT` first in `__all__`. To add an exhibit, add a file, and its name to a page.
"""

from __future__ import annotations

from paper.studies.exhibit import Exhibit
from pssa.registry import Registry

__all__ = ["PAGES", "find", "names", "page_of", "reading_order"]

# A page is called like its first exhibit.
PAGES = {
    "Scores in domain": ("overall", "claims", "random-masking", "selection", "self-attention"),
    "Other domains, and variants of sentences": ("stress", "transfer"),
    "What models attend to": ("human-agreement", "rare-words", "faithfulness"),
    "Labels and corrections by people": ("few-labels", "correction"),
    "Other readings and settings": ("readings", "readings-held-out", "epsilon", "corpus-size"),
    "Mining, sentence by sentence": ("mining", "case-study"),
    "Data and models": ("datasets", "parameters", "strip-bug"),
    "Time": ("speed",),
}
_ORDER = tuple(name for each in PAGES.values() for name in each)  # exhibits of no page come last
_REGISTRY = Registry(__name__, "exhibit", separator="-")


def names() -> tuple[str, ...]:
    """Return the names of all exhibits, in reading order."""
    return tuple(sorted(_REGISTRY.names(), key=reading_order))


def reading_order(name: str) -> tuple[int, str]:
    """Return a sort key that puts exhibits in reading order."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def page_of(name: str) -> tuple[str, str]:
    """Return the name and the title of the page that shows an exhibit; an exhibit of your own has a page to itself."""
    return next(((each[0], title) for title, each in PAGES.items() if name in each), (name, name))


def find(name: str) -> Exhibit:
    """Return the exhibit called `name`."""
    exhibit: Exhibit = _REGISTRY.find(name)
    return exhibit
