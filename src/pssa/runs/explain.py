"""Why a label was given: how much each word counted, by a saliency of one's choice.

An explanation speaks of words also where the model reads pieces of them, and of the first member where several models vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pssa import models
from pssa import saliency as saliencies
from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.evaluation import predict_logits
from pssa.runs.classifier import Answer, Classifier
from pssa.runs.defaults import OF_STATES
from pssa.saliency import observe

__all__ = ["Explanation", "explain", "require_usable", "usable_saliencies", "usual_saliency"]

_BATCH = 64  # some saliencies hold many copies of every sentence


@dataclass(frozen=True)
class Explanation:
    """One answer and each word's share in it."""

    text: str
    spans: tuple[Span, ...]  # character offsets of the words
    aspect: Span  # word offsets, half-open
    # Of each word; they sum to one, or are all zero where nothing can be said. The aspect has none.
    shares: tuple[float, ...]
    saliency: str
    answer: Answer

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return tuple(self.text[start:end] for start, end in self.spans)

    def as_dict(self) -> dict[str, Any]:
        """Plain values under the names that files and the service use."""
        words = [
            {"word": self.text[start:end], "from": start, "to": end, "share": share}
            for (start, end), share in zip(self.spans, self.shares, strict=True)
        ]
        return {"text": self.text, **self.answer.as_dict(), "saliency": self.saliency, "words": words}


def explain(
    classifier: Classifier, examples: Sequence[Example], saliency: str = "", batch_size: int = _BATCH
) -> list[Explanation]:
    """Explanations in the order of the examples; answers and word scores are from one run of the first member.

    :param saliency: a name of `usable_saliencies`; empty: the usual one.
    :raises InputError: for a saliency that does not exist or says nothing about this model.
    """
    name = require_usable(classifier, saliency or usual_saliency(classifier))
    if not examples:
        return []
    examples = classifier.featurizer.cut(examples)
    corpus = classifier.featurizer.index(examples, classifier.labels)
    seen = observe(classifier.model, corpus, saliencies.build(name, {}), batch_size)
    others = [predict_logits(member, corpus, batch_size).softmax(dim=1) for member in classifier.members[1:]]
    answers = classifier.answers(examples, classifier.vote([seen.probabilities, *others]))
    return [
        Explanation(
            example.text, example.spans, example.aspect, tuple(scores[: len(example.spans)].tolist()), name, answer
        )
        for example, answer, scores in zip(examples, answers, seen.scores, strict=True)
    ]


def require_usable(classifier: Classifier, name: str) -> str:
    """The name of the saliency again, if it is one of `usable_saliencies`.

    :raises InputError: for a saliency that does not exist or says nothing about this model.
    """
    if name not in (usable := usable_saliencies(classifier)):
        raise InputError(f"saliency {name!r} cannot explain model {classifier.name}; it can be {', '.join(usable)}")
    return name


def usable_saliencies(classifier: Classifier) -> tuple[str, ...]:
    """The saliencies that say something about this classifier's model, the usual one first."""
    usual = usual_saliency(classifier)
    reads_states = models.reads(classifier.name) == "words" or models.attends(classifier.name)
    refined = _refined(classifier)
    unusable = {usual}
    if not (refined or models.attends(classifier.name)):
        unusable.add("attention")
    if not refined:
        unusable.add("self_attention")
    if not (reads_states or refined):
        unusable.update(OF_STATES)
    return usual, *(name for name in saliencies.names() if name not in unusable)


def usual_saliency(classifier: Classifier) -> str:
    """Attention where the model has it, else what explains it at the least cost."""
    if models.attends(classifier.name) or _refined(classifier):
        return "attention"
    return "gradient" if models.reads(classifier.name) == "words" else "leave_one_out"


def _refined(classifier: Classifier) -> bool:
    encoder = getattr(classifier.model, "encoder", None)
    return isinstance(getattr(encoder, "refinement", None), torch.nn.Module)
