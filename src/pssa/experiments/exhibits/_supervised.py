"""Attentional models before and after supervision, looked at where people marked words: what several exhibits share."""

from __future__ import annotations

from collections.abc import Iterator

from pssa.experiments.cells import Look, settings
from pssa.experiments.exhibit import Scope
from pssa.experiments.rows import ATTENDING, METHODS, NAMES, Method, paper_rows

__all__ = ["LOOKED_AT", "SEEDS", "looks_at", "marked_places", "method_of", "row_name"]

# The plain model, and what supervises it.
LOOKED_AT = ("", "+PG-AS", "+Consensus", "+Human")
SEEDS = 3  # at most: a look needs the trained model itself
_FEW = 300  # instances whose words are taken away from an encoder, about a hundred times each


def marked_places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Data sets in which people marked words, each with every model in scope that attends."""
    for data in scope.data:
        if scope.resources.sources[data].opinion_words is not None:
            yield from ((data, model) for model in ATTENDING if scope.has(model))


def method_of(model: str, name: str) -> Method:
    """The method behind a row's name, with what is usual for the model."""
    return next((method for method in paper_rows(model) if method.name == name), METHODS[name])


def looks_at(scope: Scope, kind: str, method: str, model: str, data: str) -> dict[int, Look]:
    """A look of that kind at a row's models, by seed."""
    row = method_of(model, method)
    chosen = settings(limit=_FEW) if kind == "faithfulness" and model.startswith("bertabsa") else ()
    return {place.seed: Look(row.training_in(place), kind, chosen) for place in scope.places(model, data, SEEDS)}


def row_name(model: str, method: str) -> str:
    """As the paper writes it."""
    return NAMES[model] + (f" ({method})" if method else "")
