"""Saliency: how much each word counts for a prediction. One file per definition, and the file's name is its name.

A definition's file exports one frozen dataclass: its fields are the options, calling it gives raw word scores.
`score_words` makes shares of them, in the same way for every definition. Two class attributes say where it can be used:

- `needs`: what a model must have. "attention"; "refined", self-attention that is refined; "states", words whose own states
  reach the prediction, since gradients are zero elsewhere. Without it, any model will do;
- `is_quadratic = True`: it reads a text once for each of its words.

Files that begin with an underscore are shared parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from pssa.errors import InputError
from pssa.registry import Registry
from pssa.saliency._scores import Observation, Saliency, entropy_bits, hide, normalise, observe, score_words

__all__ = [
    "Observation",
    "Saliency",
    "build",
    "entropy_bits",
    "hide",
    "is_quadratic",
    "names",
    "needs",
    "normalise",
    "observe",
    "option_names",
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
    known = option_names(name)
    if unknown := sorted(set(options) - known):
        known_names = ", ".join(sorted(known)) or "none"
        raise InputError(f"unknown option {unknown[0]!r} of saliency {name}; known: {known_names}")
    return cast(Saliency, _SALIENCIES.find(name)(**options))


def option_names(name: str) -> set[str]:
    """Return the options of a saliency."""
    return {field.name for field in fields(_SALIENCIES.find(name))}


def needs(name: str) -> str:
    """Return what a model must have for the saliency, as its class attribute of this name says; empty: nothing."""
    return getattr(_SALIENCIES.find(name), "needs", "")


def is_quadratic(name: str) -> bool:
    """Return whether the saliency reads a text once for each of its words, as its class attribute of this name says."""
    return getattr(_SALIENCIES.find(name), "is_quadratic", False)
