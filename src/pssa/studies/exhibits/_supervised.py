"""Attentional models before and after supervision, looked at where people marked words: what several exhibits share."""

from __future__ import annotations

from collections.abc import Iterator

from pssa.experiments.cells import Look, settings
from pssa.experiments.scope import Scope
from pssa.studies.rows import ATTENDING, METHODS, NAMES

__all__ = ["LOOKED_AT", "SEEDS", "attending_places", "looks_at", "marked_places", "row_name"]

# The plain model, and what supervises it.
LOOKED_AT = ("", "+PG-AS", "+Consensus", "+Human")
SEEDS = 3  # at most: a look needs the trained model itself
_FEW = 300  # instances whose words are taken away from an encoder, about a hundred times each


def attending_places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Every data set with every model in scope that attends."""
    return ((data, model) for data in scope.data for model in ATTENDING if scope.has(model))


def marked_places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Those in which people marked words."""
    return ((data, model) for data, model in attending_places(scope) if _is_marked(scope, data))


def looks_at(scope: Scope, kind: str, method: str, model: str, data: str) -> dict[int, Look]:
    """A look of that kind at a row's models, by seed; none at human words where nobody marked any."""
    row = METHODS[method]
    if "human" in row.mined_by and not _is_marked(scope, data):
        return {}
    chosen = settings(limit=_FEW) if kind == "faithfulness" and model.startswith("bertabsa") else ()
    return {place.seed: Look(row.training_in(place), kind, chosen) for place in scope.places(model, data, SEEDS)}


def _is_marked(scope: Scope, data: str) -> bool:
    return scope.resources.sources[data].opinion_words is not None


def row_name(model: str, method: str) -> str:
    """As the paper writes it."""
    return NAMES[model] + (f" ({method})" if method else "")
