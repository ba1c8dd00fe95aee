"""Attention of a supervised model on the words of its evidence, by the round that found them, in the whole sentences of train."""

from __future__ import annotations

from typing import Any

from pssa import saliency
from pssa.data.evidence import KINDS
from pssa.errors import InputError
from pssa.experiments.analyses import Subject
from pssa.saliency import observe

__all__ = ["look"]


def look(subject: Subject) -> dict[str, dict[str, Any]]:
    """By round and kind of word, how many words there are and the sum of the attention on them."""
    if subject.evidence is None:
        raise InputError("no evidence supervised this model; look at one that was trained with some")
    model, indexed = subject.classifier.model, subject.classifier.index(subject.train)
    scores = observe(model, indexed, saliency.build("attention", {})).scores
    rounds: dict[int, dict[str, Any]] = {}
    for row, example in zip(scores, subject.evidence.examples, strict=True):
        for finding in example.findings:
            blank = {kind: {"words": 0, "attention": 0.0} for kind in KINDS}
            told = rounds.setdefault(finding.iteration, blank)[finding.kind]
            told["words"] += 1
            told["attention"] += float(row[finding.word])
    return {str(number): rounds[number] for number in sorted(rounds)}
