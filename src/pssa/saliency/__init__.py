"""Saliency: how much each word counts for a prediction. One file per definition, and the file's name is its name.

A definition's file exports one frozen dataclass: its fields are the options, calling it gives raw word scores.
`score_words` makes shares of them, in the same way for every definition. Files that begin with an underscore are shared
parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from pssa.errors import InputError
from pssa.registry import Registry
from pssa.saliency._noise import Smooth
from pssa.saliency._scores import Observation, Saliency, entropy_bits, normalise, observe, score_words

__all__ = [
    "Observation",
    "Saliency",
    "Smooth",
    "build",
    "entropy_bits",
    "is_quadratic",
    "names",
    "normalise",
    "observe",
    "score_words",
]

_SALIENCIES = Registry(__name__, "saliency")


def names() -> tuple[str, ...]:
    """Return every saliency: the modules of this folder."""
    return _SALIENCIES.names()


def build(name: str, options: Mapping[str, Any]) -> Saliency:
    """Build the saliency called `name` with these options, the rest at their defaults.

    :raises InputError: for a saliency or an option that does not exist; the message lists those that do.
    """
    kind: Any = _SALIENCIES.find(name)
    known = {field.name for field in fields(kind)}
    if unknown := sorted(set(options) - known):
        known_names = ", ".join(sorted(known)) or "none"
        raise InputError(f"unknown option {unknown[0]!r} of saliency {name}; known: {known_names}")
    return cast(Saliency, kind(**options))


def is_quadratic(name: str) -> bool:
    """Return whether the saliency reads a text once for each of its words, as its class attribute of this name says."""
    return getattr(_SALIENCIES.find(name), "is_quadratic", False)
