"""Error rates: how often a run confuses labels, as it has kept it from held-out data or as labelled data shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa.data.example import Corpus
from pssa.data.numbers import percent
from pssa.evaluation.shares import ShareEstimator
from pssa.runs import Classifier
from pssa.runs.directory import read_json

_MAX_COUNT = 1 << 40  # of instances; the file may come from a stranger


@dataclass(frozen=True)
class ErrorRates:
    """The confusion matrix of a classifier, and where it is from."""

    confusion: tuple[tuple[int, ...], ...] | None  # gold label by predicted label; None: unknown
    source: str = ""

    @classmethod
    def of_run(cls, run: Path, labels: Sequence[str]) -> ErrorRates:
        """Read what the run has kept: `held_out` in `metrics.json`, or the groups in `dev` of a joint model; unknown if there is
        nothing of use.
        """
        path = run / "metrics.json"
        found = read_json(path) if path.is_file() else None
        kept = found.get("held_out") if isinstance(found, dict) else None
        if isinstance(kept, dict):
            return cls(_parse(kept, labels), str(kept.get("source") or "held-out data")[:200])
        groups = found.get("dev") if isinstance(found, dict) else None
        scores = (
            [group.get("labels") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
        )
        parsed = [matrix for each in scores if isinstance(each, dict) and (matrix := _parse(each, labels))]
        if not parsed:
            return cls(None)
        places = range(len(labels))
        total = tuple(tuple(sum(one[gold][given] for one in parsed) for given in places) for gold in places)
        return cls(total, "held-out reviews")

    @classmethod
    def measured(cls, classifier: Classifier, corpus: Corpus, name: str) -> ErrorRates:
        """Measure them on labelled data that the classifier was not trained on."""
        from pssa.runs.evaluate import evaluate

        return cls(evaluate(classifier, corpus).scores.confusion, name)

    def describe(self, estimator: ShareEstimator) -> str:
        """Return in words how intervals account for the classifier's errors, or why they do not."""
        if self.confusion is None or not estimator.is_corrected:
            why = estimator.reason or "the run has no confusion matrix of held-out data"
            return (
                "The 95 % intervals account only for the number of reviews. They do not account for the classifier's"
                f" mistakes, because its error rates are not known well enough: {why}."
            )
        n_all = sum(map(sum, self.confusion))
        n_right = sum(row[place] for place, row in enumerate(self.confusion))
        return (
            "The 95 % intervals account for the number of reviews and for mistakes such as the classifier makes on"
            f" {self.source}, where {percent(n_right / n_all)} of {n_all:,} labels are right. On other reviews it can make"
            " more; labelled reviews of your own tell (--held-out)."
        )


def _parse(kept: dict[str, Any], labels: Sequence[str]) -> tuple[tuple[int, ...], ...] | None:
    """Return the matrix in the order of `labels`; None if it is not one of these labels."""
    names, rows = kept.get("labels"), kept.get("confusion")
    if not isinstance(names, list) or not isinstance(rows, list) or sorted(map(str, names)) != sorted(labels):
        return None
    is_matrix = len(rows) == len(names) and all(isinstance(row, list) and len(row) == len(names) for row in rows)
    if not is_matrix or any(type(cell) is not int or not 0 <= cell < _MAX_COUNT for row in rows for cell in row):
        return None
    places = [names.index(label) for label in labels]
    return tuple(tuple(rows[gold][predicted] for predicted in places) for gold in places)
