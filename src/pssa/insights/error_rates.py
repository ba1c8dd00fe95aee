"""Error rates: how often a run confuses labels, as it has kept it from held-out data or as labelled data shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.example import Corpus
from pssa.data.numbers import percent
from pssa.evaluation.shares import ShareEstimator
from pssa.runs import Classifier
from pssa.runs.run_metrics import held_out_confusion


@dataclass(frozen=True)
class ErrorRates:
    """The confusion matrix of a classifier, and where it is from."""

    confusion: tuple[tuple[int, ...], ...] | None  # gold label by predicted label; None: unknown
    source: str = ""

    @classmethod
    def of_run(cls, run: Path, labels: Sequence[str]) -> ErrorRates:
        """Read what the run has kept; unknown if there is nothing of use."""
        return cls(*held_out_confusion(run, labels))

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
