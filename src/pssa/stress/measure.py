"""How a classifier answers variants: accuracy by kind, and the share of instances that it gets right in every one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pssa.data.validation import brief_repr
from pssa.errors import InputError
from pssa.evaluation import mcnemar
from pssa.runs.classifier import Classifier
from pssa.runs.evaluate import evaluate
from pssa.stress.variants import KINDS, Variant, VariantSet


@dataclass(frozen=True)
class KindResult:
    """Variants of one kind, and how many of them were answered right."""

    variants: int
    right: int

    @property
    def accuracy(self) -> float | None:
        """The share that was answered right; None without variants."""
        return self.right / self.variants if self.variants else None


@dataclass(frozen=True)
class StressResult:
    """The answers of a classifier to instances and their variants."""

    kinds: dict[str, KindResult]
    right: tuple[bool, ...]  # by instance: the original
    all_right: tuple[bool, ...]  # by instance: the original and every variant
    mistakes: tuple[Variant, ...]  # variants answered wrong whose original was answered right

    def __repr__(self) -> str:
        return brief_repr(
            self, instances=len(self.right), all_right=_share(self.all_right), mistakes=len(self.mistakes)
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON can write them."""
        kinds = {kind: {"variants": found.variants, "accuracy": found.accuracy} for kind, found in self.kinds.items()}
        return {
            "instances": len(self.right),
            "kinds": kinds,
            "accuracy": _share(self.right),
            "all_right": _share(self.all_right),
        }


def stress(classifier: Classifier, variants: VariantSet) -> StressResult:
    """Classify instances and variants.

    :raises InputError: if an instance has no label to compare with, or one that the classifier does not know.
    """
    result = evaluate(classifier, variants.corpus)
    if unknown := {str(each.example.label) for each in variants.variants} - {*classifier.labels}:
        raise InputError(f"a variant has the label {min(unknown)!r}, which the run does not know; remove the variant")
    changed = [variant.example for variant in variants.variants]
    predicted = classifier.predicted_labels(changed)
    right = [gold == answer for gold, answer in zip(result.gold, result.predicted, strict=True)]
    all_right, mistakes = list(right), []
    counts = {kind: [0, 0] for kind in KINDS}
    for variant, answer in zip(variants.variants, predicted, strict=True):
        is_right = answer == variant.example.label
        counts[variant.kind][0] += 1
        counts[variant.kind][1] += is_right
        all_right[variant.index] &= is_right
        if right[variant.index] and not is_right:
            mistakes.append(variant)
    kinds = {kind: KindResult(*each) for kind, each in counts.items()}
    return StressResult(kinds, tuple(right), tuple(all_right), tuple(mistakes))


def compare_all_right(first: StressResult, second: StressResult) -> float:
    """Return the two-sided p of McNemar's exact test that both get equally many instances right in every variant."""
    ours, theirs = (["yes" if each else "no" for each in result.all_right] for result in (first, second))
    return mcnemar(["yes"] * len(ours), ours, theirs)


def choose_mistakes(mistakes: Sequence[Variant], most: int) -> list[Variant]:
    """Choose mistakes to show, taking the kinds in turn, the shortest texts of each first."""
    shortest = sorted(mistakes, key=lambda each: (len(each.example.text), each.index))
    by_kind = [[each for each in shortest if each.kind == kind] for kind in KINDS]
    return [each for turn in zip_longest(*by_kind) for each in turn if each is not None][:most]


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)
