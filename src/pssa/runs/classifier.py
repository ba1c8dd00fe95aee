"""`Classifier`: a trained run that classifies raw text. `pssa.load(run)` returns one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pssa.data.batch import IndexedCorpus
from pssa.data.example import Example
from pssa.data.fields import example_from_fields
from pssa.data.validation import shorten
from pssa.errors import InputError
from pssa.evaluation import predict_logits
from pssa.runs.featurizer import Featurizer
from pssa.training.ensembles import combine


@dataclass(frozen=True)
class Answer:
    """The sentiment of one aspect of one text."""

    label: str
    probabilities: dict[str, float]  # by label, sums to one
    aspect: str
    start: int  # character offsets of the aspect in the text
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain values under the names that files and the service use."""
        return {
            "aspect": self.aspect,
            "from": self.start,
            "to": self.end,
            "label": self.label,
            "probabilities": self.probabilities,
        }


@dataclass(frozen=True)
class Classifier:
    """One model, or several that vote, with their featurizer and their labels."""

    name: str  # of the model
    labels: tuple[str, ...]
    featurizer: Featurizer
    members: tuple[nn.Module, ...]
    vote_weights: tuple[float, ...]

    @property
    def model(self) -> nn.Module:
        """The first member, whose attention explains answers; the only one outside ensembles."""
        return self.members[0]

    def index(self, examples: Sequence[Example]) -> IndexedCorpus:
        """Return the examples as tensors for the members; their words are those of `featurizer.cut`."""
        for example in examples:
            if not isinstance(example, Example):
                expected = "expected Examples, which Example.from_text makes; predict takes a text and its aspect"
                raise InputError(f"one of the examples is {shorten(example)}; {expected}")
        return self.featurizer.index(self.featurizer.cut(examples), self.labels)

    def probabilities(self, examples: Sequence[Example], batch_size: int = 256) -> Tensor:
        """Return the (n, C) probability of each label."""
        corpus = self.index(examples)
        return self.vote([predict_logits(member, corpus, batch_size).softmax(dim=1) for member in self.members])

    def vote(self, each: Sequence[Tensor]) -> Tensor:
        """Combine the probabilities (n, C) of the members: (n, C)."""
        return each[0] if len(self.members) == 1 else combine(torch.stack(list(each)), torch.tensor(self.vote_weights))

    def answer(self, examples: Sequence[Example], batch_size: int = 256) -> list[Answer]:
        """Return the answers in the order of the examples."""
        return self.answers(examples, self.probabilities(examples, batch_size)) if examples else []

    def answers(self, examples: Sequence[Example], probabilities: Tensor) -> list[Answer]:
        """Return the answers that follow from `probabilities` (n, C)."""
        answers = []
        for example, row in zip(examples, probabilities.tolist(), strict=True):
            label = self.labels[row.index(max(row))]
            by_label = dict(zip(self.labels, row, strict=True))
            answers.append(Answer(label, by_label, example.aspect_text, *example.aspect_chars))
        return answers

    def predict(self, text: str, aspect: str | tuple[int, int], *, ordinal: int | None = None) -> Answer:
        """Classify the aspect, given as it stands in the text or by character offsets.

        :param ordinal: which occurrence of the aspect is meant, counted from 0. Without it the first of several is taken, with
            a `UserWarning`.
        :raises InputError: if the aspect is not in the text.
        """
        if isinstance(aspect, tuple):
            return self.answer([Example.from_text(text, aspect)])[0]
        fields = {"text": text, "aspect": aspect, "ordinal": ordinal}
        doubts: list[str] = []
        example = example_from_fields(fields, ordinal_required=False, warn=doubts.append)
        for doubt in doubts:
            warnings.warn(f"{doubt}; choose one with `ordinal` or by offsets", stacklevel=2)
        return self.answer([example])[0]

    def predicted_labels(self, examples: Sequence[Example]) -> list[str]:
        """Return the label of each example."""
        return [self.labels[number] for number in self.probabilities(examples).argmax(dim=1).tolist()]


def probability_column(label: str) -> str:
    """Return the name of the column that holds the probability of a label."""
    return f"probability_{label}"
