"""Accuracy, macro-F1, scores per class and the confusion matrix; precision, recall and F1 of exact spans.

Macro-F1 is the mean over all declared labels; an undefined score (nothing predicted, nothing to find) is 0. Spans count as
SemEval-2014 counts them for aspect term extraction (Pontiki et al. 2014): right if both offsets are, over all texts together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pssa.errors import InputError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Scores of one label."""

    precision: float
    recall: float
    f1: float
    support: int  # instances with this gold label


@dataclass(frozen=True)
class Scores:
    """Accuracy, macro-F1, scores by label and the confusion matrix."""

    instances: int
    accuracy: float
    macro_f1: float
    per_class: Mapping[str, ClassScores]
    confusion: tuple[tuple[int, ...], ...]  # (C, C): gold label by predicted label
    labels: tuple[str, ...]

    @property
    def commonest_share(self) -> float:
        """The accuracy of always giving the commonest label."""
        return max(found.support for found in self.per_class.values()) / self.instances

    def as_dict(self) -> dict[str, object]:
        """Return the scores as plain values for JSON."""
        return {**asdict(self), "confusion": [list(row) for row in self.confusion], "labels": list(self.labels)}


@dataclass(frozen=True)
class SpanScores:
    """Counts of aspects, and what follows from them."""

    gold: int  # aspects in the data
    found: int
    right: int  # found, with the offsets of an aspect in the data

    @property
    def precision(self) -> float:
        """Share of the found aspects that are right; 0 if none is found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the aspects in the data that are found; 0 if there are none."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / (self.gold + self.found) if self.gold + self.found else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **asdict(self)}


def score(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> Scores:
    """Compare predictions with gold labels.

    :raises InputError: if the two differ in length, are empty, or hold a label that is not declared.
    """
    n_labels = len(labels)
    cells = cells_of(gold, predicted, labels)
    confusion = np.bincount(cells, minlength=n_labels**2).reshape(n_labels, n_labels).astype(np.float64)
    precision, recall, f1 = _class_scores(confusion)
    support = confusion.sum(axis=1)
    per_class = {
        label: ClassScores(float(precision[c]), float(recall[c]), float(f1[c]), int(support[c]))
        for c, label in enumerate(labels)
    }
    return Scores(
        instances=len(gold),
        accuracy=float(accuracy_of(confusion)),
        macro_f1=float(macro_f1_of(confusion)),
        per_class=per_class,
        confusion=tuple(tuple(map(int, row)) for row in confusion),
        labels=tuple(labels),
    )


def score_spans(gold: Iterable[Iterable[Hashable]], found: Iterable[Iterable[Hashable]]) -> SpanScores:
    """Count the spans of each text, or spans with labels, in the same order; each counts once in a text."""
    pairs = [(set(expected), set(given)) for expected, given in zip(gold, found, strict=True)]
    n_right = sum(len(expected & given) for expected, given in pairs)
    return SpanScores(sum(len(expected) for expected, _ in pairs), sum(len(given) for _, given in pairs), n_right)


def cells_of(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return (n,): the cell of each instance in the flattened confusion matrix."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} gold labels and {len(predicted)} predictions; expected the same number of each")
    if not gold:
        raise InputError("there are no instances to score; give at least one labelled instance")
    place = {label: number for number, label in enumerate(labels)}
    if len(place) < len(labels):
        raise InputError(f"a label is declared twice in {', '.join(labels)}")
    unknown = ({*gold} | {*predicted}) - place.keys()
    if unknown:
        raise InputError(f"label {min(map(str, unknown))!r} is not one of the labels {', '.join(labels)}; declare it")
    return np.array([place[g] * len(labels) + place[p] for g, p in zip(gold, predicted, strict=True)], dtype=np.intp)


def accuracy_of(confusion: Floats) -> Floats:
    """Return (...,): accuracy of confusion matrices (..., C, C)."""
    return _share(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def macro_f1_of(confusion: Floats) -> Floats:
    """Return (...,): macro-F1 of confusion matrices (..., C, C)."""
    return np.asarray(f1_of(confusion).mean(axis=-1))


def f1_of(confusion: Floats) -> Floats:
    """Return (..., C): F1 of each class by confusion matrices (..., C, C)."""
    return _class_scores(confusion)[2]


def _class_scores(confusion: Floats) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1, each (..., C)."""
    correct = np.diagonal(confusion, axis1=-2, axis2=-1)
    predicted = confusion.sum(axis=-2)
    gold = confusion.sum(axis=-1)
    return _share(correct, predicted), _share(correct, gold), _share(2 * correct, predicted + gold)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
