"""Attention and gradients on test: how they agree with the words that people marked, and with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from pssa import saliency
from pssa.data.opinion_words import evidence_from_opinion_words
from pssa.evaluation import correlate, marked_words, measure_agreement
from pssa.experiments.analyses import Subject
from pssa.saliency import observe

__all__ = ["look"]


def look(subject: Subject, saliencies: Sequence[str] = ("attention", "gradient")) -> dict[str, Any]:
    """The correlation of every two saliencies and, where people marked words, the agreement with them."""
    classifier = subject.classifier
    corpus = replace(subject.test, examples=tuple(classifier.featurizer.cut(subject.test)))
    indexed = classifier.index(corpus)
    candidates = indexed.table.candidates
    scores = {name: observe(classifier.model, indexed, saliency.build(name, {})).scores for name in saliencies}
    found: dict[str, Any] = {"correlation": [asdict(pair) for pair in correlate(scores, candidates)]}
    if subject.opinion_rows is not None:
        marked = marked_words(evidence_from_opinion_words(subject.opinion_rows, corpus).evidence, candidates.shape[1])
        found["agreement"] = asdict(measure_agreement(scores, marked, indexed, classifier.labels))
    return found
