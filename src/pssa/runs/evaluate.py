"""Evaluation on a test set: scores, slices by tag, comparison of two runs, overlap with the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pssa.data.example import Corpus
from pssa.data.io import read
from pssa.data.validation import brief_repr
from pssa.display import percent, to_html
from pssa.errors import InputError
from pssa.evaluation import Bootstrap, Scores, mcnemar, paired_bootstrap, score
from pssa.evaluation.calibration import confidence_error
from pssa.runs.classifier import Classifier
from pssa.runs.loading import load
from pssa.runs.read_defaults import read_as_trained
from pssa.runs.run_names import whole_run

if TYPE_CHECKING:
    from pssa.runs.prepared_data import Source


_MAX_KEPT = 1 << 24  # instances in a confusion matrix, which may come from a stranger


@dataclass(frozen=True)
class Abstention:
    """Coverage and accuracy of a classifier that abstains, on labelled data."""

    threshold: float  # lowest confidence to answer
    coverage: float  # share of instances that get an answer
    accuracy: float | None  # of these answers; None if there are none
    wrong: float  # wrong answers as a share of all instances


@dataclass(frozen=True)
class Evaluation:
    """Scores of a classifier on a corpus, in all and by tag, with its predictions; a table in a notebook."""

    scores: Scores
    slices: dict[str, Scores]  # by tag, where examples have tags
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    confidences: tuple[float, ...] = ()  # probability of each predicted label
    abstention: Abstention | None = None  # where the classifier abstains; scores are of all predictions nevertheless

    def __repr__(self) -> str:
        scores = self.scores
        return brief_repr(
            self,
            instances=scores.instances,
            accuracy=round(scores.accuracy, 4),
            macro_f1=round(scores.macro_f1, 4),
            majority_accuracy=round(self.majority.accuracy, 4),
            f1={label: round(found.f1, 4) for label, found in scores.per_class.items()},
        )

    def _repr_html_(self) -> str:
        return to_html(self)

    @classmethod
    def of_confusion(cls, confusion: Sequence[Sequence[int]], labels: tuple[str, ...]) -> Evaluation | None:
        """Return the evaluation that has this confusion matrix, by gold and predicted label; None if it counts nothing."""
        if not 0 < sum(map(sum, confusion)) < _MAX_KEPT:
            return None
        cells = [
            (gold, predicted)
            for gold, row in zip(labels, confusion, strict=True)
            for predicted, count in zip(labels, row, strict=True)
            for _ in range(count)
        ]
        gold, predicted = (tuple(pair[side] for pair in cells) for side in (0, 1))
        return cls(score(gold, predicted, labels), {}, gold, predicted)

    @property
    def correct(self) -> npt.NDArray[np.bool_]:
        """(n,) whether each prediction is right."""
        return np.array([ours == gold for ours, gold in zip(self.predicted, self.gold, strict=True)])

    @property
    def calibration_error(self) -> float | None:
        """Expected calibration error of the predicted label; None where confidences are not known."""
        return confidence_error(np.array(self.confidences), self.correct) if self.confidences else None

    @property
    def majority(self) -> Scores:
        """The scores of always predicting the label that is most frequent in this data."""
        label = max(self.scores.labels, key=self.gold.count)
        return score(self.gold, [label] * len(self.gold), self.scores.labels)


def describe_held_out(found: Evaluation | None) -> str:
    """Describe the scores on held-out data beside those of the most frequent label, in a sentence."""
    if found is None:
        return (
            "held out: nothing, so there is no score yet; give dev=..., or measure one with classifier.evaluate(data)"
        )
    majority, label = found.majority, max(found.scores.labels, key=found.gold.count)
    ours, theirs = (
        f"accuracy {percent(each.accuracy)}, macro-F1 {percent(each.macro_f1)}" for each in (found.scores, majority)
    )
    return f"held out: {ours}, on {found.scores.instances} instances (always {label}: {theirs})"


def evaluate(run: str | Path | Classifier, data: Source, **reading: Any) -> Evaluation:
    """Score the predictions of a run or a classifier on labelled data.

    :param data: labelled instances: a file, a frame, a Hugging Face dataset, a list of dicts or a `Corpus`.
    :param reading: how a file or a table is read: `format`, `columns` and the other options of `pssa.read`; by default like the
        training data of the run, where that fits.
    :raises InputError: if an example has no label to compare with, or one that the run does not know.
    """
    # Full precision, so that a score does not depend on the machine.
    classifier = load(run, precision="float32") if isinstance(run, (str, Path)) else run
    name = run if isinstance(run, (str, Path)) else run.folder or ""
    corpus = data if isinstance(data, Corpus) else read_as_trained(name, data, labels=classifier.labels, **reading)
    if not corpus:
        raise InputError("the corpus is empty; give at least one labelled instance")
    gold = tuple(example.label or "" for example in corpus)
    if "" in gold:
        raise InputError(f"instance {corpus[gold.index('')].id} has no label; evaluation needs one for every instance")
    if unknown := sorted({*gold} - {*classifier.labels}):
        known = ", ".join(classifier.labels)
        raise InputError(f"the data has the label {unknown[0]!r}, and the run knows {known}; relabel the data")
    probabilities = np.asarray(classifier.probabilities(corpus))
    predicted = tuple(classifier.labels[number] for number in probabilities.argmax(axis=1).tolist())
    tags = sorted({tag for example in corpus for tag in example.tags})
    slices = {}
    for tag in tags:
        rows = [row for row, example in enumerate(corpus) if tag in example.tags]
        slices[tag] = score([gold[row] for row in rows], [predicted[row] for row in rows], classifier.labels)
    scores = score(gold, predicted, classifier.labels)
    found = Evaluation(scores, slices, gold, predicted, tuple(probabilities.max(axis=1).tolist()))
    if not classifier.abstain_below:
        return found
    return replace(found, abstention=measure_abstention(found, classifier.abstain_below))


def measure_abstention(found: Evaluation, threshold: float) -> Abstention:
    """Return how many instances are answered with at least this confidence, and how many of these answers are right."""
    answered, correct = np.array(found.confidences) >= threshold, found.correct
    accuracy = float(correct[answered].mean()) if answered.any() else None
    return Abstention(threshold, float(answered.mean()), accuracy, float((answered & ~correct).mean()))


def describe_abstention(found: Abstention) -> str:
    """Describe coverage and accuracy in a sentence."""
    if found.threshold > 1:
        return "no confidence is high enough for an answer: all instances are uncertain"
    threshold = f"a confidence of {found.threshold:.2f} or more"
    if found.accuracy is None:
        return f"answers with {threshold}: none; all instances are uncertain"
    answered = f"{percent(found.coverage)} of the instances, {percent(found.accuracy)} of these right"
    return f"answers with {threshold}: {answered}; {percent(found.wrong)} of all instances get a wrong answer"


def require_same_labels(first: Classifier, second: Classifier, names: tuple[str, str]) -> None:
    """Refuse to compare classifiers of these names that do not choose among the same labels."""
    if {*first.labels} != {*second.labels}:
        ours, theirs = (", ".join(each.labels) for each in (first, second))
        raise InputError(
            f"{names[1]} has other labels, {theirs}, than {names[0]}, {ours}; compare runs of the same labels"
        )


def compare(first: Evaluation, second: Evaluation, *, resamples: int, seed: int) -> tuple[Bootstrap, float]:
    """Test whether `first` is better than `second` on the same examples: by paired bootstrap, and p of McNemar's test."""
    labels = first.scores.labels
    bootstrap = paired_bootstrap(first.gold, first.predicted, second.predicted, labels, resamples=resamples, seed=seed)
    return bootstrap, mcnemar(first.gold, first.predicted, second.predicted)


def count_train_overlap(run: str | Path, corpus: Corpus) -> int | None:
    """Count the instances whose text the run was trained on; None where the run has not kept its training data.

    :param run: the run, one of its stages or one of its members.
    """
    path = whole_run(Path(run)) / "stages" / "corpus.jsonl"
    if not path.is_file():
        return None
    try:
        trained = {example.text for example in read(path, labels=corpus.labels, conflict="keep")}
    except InputError:
        return None  # the copy is damaged; scores do not need it
    return sum(example.text in trained for example in corpus)


def describe_train_overlap(count: int, n_instances: int) -> str:
    """Describe in a sentence how many of the instances the run was trained on."""
    have = "has" if count == 1 else "have"
    known = f"Of {n_instances} test instances, {count} {have} a text that the run was trained on"
    return f"{known}, which says little about new texts."
