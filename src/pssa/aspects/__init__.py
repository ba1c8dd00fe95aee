"""Finding aspects in raw text: taggers on words and on encoders, their training and their runs.

Names load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pssa.aspects.evaluate import EndToEndScores, evaluate_aspects, evaluate_end_to_end, evaluate_reviews
    from pssa.aspects.find import Finder, FoundAspect, find_in_texts
    from pssa.aspects.names import NameFinder, parse_names, read_names
    from pssa.aspects.sentences import split_sentences
    from pssa.aspects.spans import AspectSentence, read_sentences
    from pssa.aspects.tagger_finder import AspectFinder, load_finder
    from pssa.aspects.train import resume_aspects, train_aspects
    from pssa.aspects.train_run import resume_run, train_with_tagger

__all__ = [
    "AspectFinder",
    "AspectSentence",
    "EndToEndScores",
    "Finder",
    "FoundAspect",
    "NameFinder",
    "evaluate_aspects",
    "evaluate_end_to_end",
    "evaluate_reviews",
    "find_in_texts",
    "load_finder",
    "parse_names",
    "read_names",
    "read_sentences",
    "resume_aspects",
    "resume_run",
    "split_sentences",
    "train_aspects",
    "train_with_tagger",
]

_NAMES = {
    "pssa.aspects.evaluate": (
        "EndToEndScores",
        "evaluate_aspects",
        "evaluate_end_to_end",
        "evaluate_reviews",
    ),
    "pssa.aspects.find": (
        "Finder",
        "FoundAspect",
        "find_in_texts",
    ),
    "pssa.aspects.tagger_finder": (
        "AspectFinder",
        "load_finder",
    ),
    "pssa.aspects.names": (
        "NameFinder",
        "parse_names",
        "read_names",
    ),
    "pssa.aspects.sentences": ("split_sentences",),
    "pssa.aspects.spans": (
        "AspectSentence",
        "read_sentences",
    ),
    "pssa.aspects.train": (
        "resume_aspects",
        "train_aspects",
    ),
    "pssa.aspects.train_run": (
        "resume_run",
        "train_with_tagger",
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
