"""Evaluation on a test set: scores, slices by tag, comparison of two runs, overlap with the training data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pssa.data.example import Corpus
from pssa.data.io import read
from pssa.errors import InputError
from pssa.evaluation import Bootstrap, Scores, mcnemar, paired_bootstrap, score
from pssa.runs.classifier import Classifier


@dataclass(frozen=True)
class Evaluation:
    """The scores of a classifier on a corpus."""

    scores: Scores
    slices: dict[str, Scores]  # by tag, where examples have tags
    gold: tuple[str, ...]
    predicted: tuple[str, ...]


def evaluate(classifier: Classifier, corpus: Corpus) -> Evaluation:
    """Score a classifier's predictions.

    :raises InputError: if an example has no label to compare with, or one that the classifier does not know.
    """
    if not corpus:
        raise InputError("the corpus is empty; give at least one labelled instance")
    gold = tuple(example.label or "" for example in corpus)
    if "" in gold:
        raise InputError(f"instance {corpus[gold.index('')].id} has no label; evaluation needs one for every instance")
    if unknown := sorted({*gold} - {*classifier.labels}):
        known = ", ".join(classifier.labels)
        raise InputError(f"the data has the label {unknown[0]!r}, and the run knows {known}; relabel the data")
    predicted = tuple(classifier.predicted_labels(corpus))
    tags = sorted({tag for example in corpus for tag in example.tags})
    slices = {}
    for tag in tags:
        rows = [row for row, example in enumerate(corpus) if tag in example.tags]
        slices[tag] = score([gold[row] for row in rows], [predicted[row] for row in rows], classifier.labels)
    return Evaluation(score(gold, predicted, classifier.labels), slices, gold, predicted)


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
    folder = Path(run).absolute()
    root = folder.parent.parent if folder.parent.name in ("stages", "members") else folder
    path = root / "stages" / "corpus.jsonl"
    if not path.is_file():
        return None
    try:
        trained = {example.text for example in read(path, labels=corpus.labels, conflict="keep")}
    except InputError:
        return None  # the copy is damaged; scores do not need it
    return sum(example.text in trained for example in corpus)


def describe_train_overlap(count: int) -> str:
    """Return the note that follows the number of all instances."""
    return f"{count} of them with a text that the run was trained on, which says little about texts that are new to it"
