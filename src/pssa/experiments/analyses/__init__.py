"""Looks at trained models: one file per kind of measurement, each a function `look(subject, **settings)` that gives plain values.

Adding one is adding a file; `Look(training, "name")` in an exhibit asks for it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pssa.data import Corpus, Evidence
from pssa.data.opinion_words import OpinionRow
from pssa.errors import InputError
from pssa.runs.classifier import Classifier

__all__ = ["Subject", "find", "names"]


@dataclass(frozen=True)
class Subject:
    """A trained model and what it can be looked at with."""

    classifier: Classifier
    train: Corpus
    test: Corpus
    opinion_rows: Sequence[OpinionRow] | None  # of the test corpus, where people marked words
    evidence: Evidence | None = None  # of the train corpus, where it supervised the model


LookFunction = Callable[..., Any]


def names() -> tuple[str, ...]:
    """Every kind there is."""
    return tuple(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(kind: str) -> LookFunction:
    """The function of a kind."""
    if kind not in names():
        raise InputError(f"unknown look {kind!r}; known: {', '.join(names())}")
    function: LookFunction = importlib.import_module(f"{__name__}.{kind}").look
    return function
