"""Whether a model rests on the words that attention and gradients name: what its answers on test lose without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pssa.experiments.analyses import Subject
from pssa.runs.explain import trust

__all__ = ["look"]


def look(subject: Subject, saliencies: Sequence[str] = ("attention", "gradient"), limit: int = 0) -> dict[str, Any]:
    """Comprehensiveness and sufficiency by way of taking words away and by saliency.

    :param limit: look at so many instances only, drawn at random and the same for every model; 0: at all.
    """
    found: dict[str, Any] = trust(subject.classifier, subject.test, saliencies, limit=limit).as_dict()["faithfulness"]
    return found
