"""Single sentences: what a model answers, and how its attention is shared among their words.

BERTABSA has no attention on top. Its own is that of the encoder's top layer, from the aspect's positions, mean over the heads:
the same parameters are read by a model whose self-attention can be looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from pssa import models
from pssa.data import Corpus
from pssa.experiments.analyses import Subject
from pssa.runs.classifier import Classifier
from pssa.runs.explain import explain, usual_saliency

__all__ = ["look"]


def look(subject: Subject, test: Sequence[int] = (), train: Sequence[int] = ()) -> list[dict[str, Any]]:
    """One description for each of these instances, which are counted from 1; those that are not there are left out."""
    classifier = _open_to_view(subject.classifier)
    found = []
    for part, corpus, lines in (("test", subject.test, test), ("train", subject.train, train)):
        found += _describe(classifier, part, corpus, [line for line in lines if line <= len(corpus)])
    return found


def _describe(classifier: Classifier, part: str, corpus: Corpus, lines: Sequence[int]) -> list[dict[str, Any]]:
    explanations = explain(classifier, [corpus[line - 1] for line in lines])
    return [
        {
            "part": part,
            "line": line,
            "text": given.text,
            "spans": [list(span) for span in given.spans],
            "aspect": list(given.aspect),
            "shares": [round(share, 4) for share in given.shares],
            "gold": corpus[line - 1].label,
            "probabilities": given.answer.probabilities,
            "saliency": given.saliency,
        }
        for line, given in zip(lines, explanations, strict=True)
    ]


def _open_to_view(classifier: Classifier) -> Classifier:
    """The classifier itself where it attends or can refine no self-attention, else one of the same parameters that refines."""
    can_refine = "refine" in models.option_defaults(classifier.name)
    if usual_saliency(classifier) == "attention" or not can_refine:
        return classifier
    return replace(classifier, members=(_refining(classifier),), vote_weights=(1.0,))


def _refining(classifier: Classifier) -> nn.Module:
    model = classifier.model
    options = {"refine": "average"} | ({"head": "dense"} if getattr(model, "dense", None) is not None else {})
    made = models.build(classifier.name, classifier.featurizer.table, len(classifier.labels), options, seed=0)
    made.load_state_dict(model.state_dict())
    return made.to(next(model.parameters()).device).eval()
