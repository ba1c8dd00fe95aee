"""Test instances by how often the rarest opinion word that people marked in them stands in train: answers, and attention."""

from __future__ import annotations

from dataclasses import replace

from pssa import saliency
from pssa.data.opinion_words import evidence_from_opinion_words
from pssa.errors import InputError
from pssa.experiments.analyses import Subject
from pssa.experiments.mined import word_counts
from pssa.saliency import observe

__all__ = ["BUCKETS", "bucket_of", "look"]

# By the frequency up to which they reach.
BUCKETS = {"0": 0, "1-2": 2, "3-10": 10, "11-50": 50, "> 50": float("inf")}


def bucket_of(count: int) -> str:
    """The bucket of a word that stands in train so often."""
    return next(name for name, most in BUCKETS.items() if count <= most)


def look(subject: Subject) -> dict[str, dict[str, float]]:
    """By bucket, sums over its instances: right answers, attention on marked words, and what even attention would give them."""
    if subject.opinion_rows is None:
        raise InputError("nobody marked opinion words in this data; look at a data set that has some")
    classifier, counts = subject.classifier, word_counts(subject.train)
    corpus = replace(subject.test, examples=tuple(classifier.featurizer.cut(subject.test)))
    marked = evidence_from_opinion_words(subject.opinion_rows, corpus).evidence.examples
    seen = observe(classifier.model, classifier.index(corpus), saliency.build("attention", {}))
    found = {name: {"instances": 0, "right": 0, "mass": 0.0, "even": 0.0} for name in BUCKETS}
    for number, (example, marks) in enumerate(zip(corpus, marked, strict=True)):
        words = [finding.word for finding in marks.findings]
        if not words:
            continue
        row = found[bucket_of(min(counts[example.words[word].lower()] for word in words))]
        row["instances"] += 1
        row["right"] += classifier.labels[int(seen.predicted[number])] == example.label
        row["mass"] += float(seen.scores[number, words].sum())
        row["even"] += len(words) / len(example.candidates)
    return found
