"""`Classifier`: a trained run that classifies raw text. `pssa.load(run)` returns one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor, nn

from pssa.data.example import Example
from pssa.data.fields import example_from_fields
from pssa.data.plain_tokenizer import ReadPieces
from pssa.data.rows import ColumnNames
from pssa.data.tables import Table
from pssa.data.tokenize import Span
from pssa.data.validation import brief_repr, shorten
from pssa.errors import InputError
from pssa.evaluation.calibration import scale
from pssa.evaluation.predict import Encoder, start_logits
from pssa.models import IndexedCorpus
from pssa.runs.calibration import Calibration, choose_threshold
from pssa.runs.featurizer import Featurizer
from pssa.runs.input_profile import InputProfile
from pssa.runs.table_predictions import FindInTexts, predict_table
from pssa.training.ensembles import combine

UNCERTAIN = "uncertain"  # in place of a label where the classifier abstains

if TYPE_CHECKING:
    from pssa.runs.explain import Explanation


@dataclass(frozen=True)
class Answer:
    """The label of one aspect of one text, the probability of every label, and where the aspect is in the text."""

    label: str
    probabilities: dict[str, float]  # by label, sums to one
    aspect: str
    start: int  # character offsets of the aspect in the text
    end: int
    notes: tuple[str, ...] = ()  # what about the text is unlike the training data

    def __repr__(self) -> str:
        probabilities = {label: round(value, 4) for label, value in self.probabilities.items()}
        notes = {"notes": list(self.notes)} if self.notes else {}
        return brief_repr(self, label=self.label, aspect=self.aspect, probabilities=probabilities, **notes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values under the names that files and the service use."""
        return {
            "aspect": self.aspect,
            "from": self.start,
            "to": self.end,
            "label": self.label,
            "probabilities": self.probabilities,
            **({"notes": list(self.notes)} if self.notes else {}),
        }


@dataclass(frozen=True)
class Classifier:
    """A trained classifier: one model, or several that vote. `pssa.load` returns one.

    classifier = pssa.load("starter")
    classifier.predict("The soup was cold.", "soup").label  # also lists of texts and aspects, or a data frame
    classifier.explain("The soup was cold.", "soup")  # how much each word counted
    """

    name: str  # of the model
    labels: tuple[str, ...]
    featurizer: Featurizer
    members: tuple[nn.Module, ...]
    vote_weights: tuple[float, ...]
    calibration: Calibration | None = None
    abstain_below: float = 0.0  # confidence; answers that have less are withheld
    profile: InputProfile | None = None  # of the training texts; runs of earlier versions have none
    finder: FindInTexts | None = None  # of aspects in texts; `pssa.load` gives it to runs that have a tagger

    def __repr__(self) -> str:
        return brief_repr(self, model=self.name, labels=list(self.labels), members=len(self.members))

    @property
    def model(self) -> nn.Module:
        """The first member, whose attention explains answers; the only one outside ensembles."""
        return self.members[0]

    def index(self, examples: Sequence[Example], read: ReadPieces | None = None) -> IndexedCorpus:
        """Return the examples as tensors for the members; their words are those of `featurizer.cut`.

        :param read: what `featurizer.read` returned for the examples, if it was called before.
        """
        for example in examples:
            if not isinstance(example, Example):
                expected = "expected Examples, which Example.from_text makes; predict takes a text and its aspect"
                raise InputError(f"one of the examples is {shorten(example)}; {expected}")
        return self.featurizer.index(self.featurizer.cut(examples), self.labels, read)

    def probabilities(self, examples: Sequence[Example], batch_size: int = 256) -> Tensor:
        """Return the (n, C) probability of each label."""
        return self._start(self.index(examples), batch_size)()

    def _start(self, corpus: IndexedCorpus, batch_size: int, encoders: Sequence[Encoder] = ()) -> Callable[[], Tensor]:
        """Begin to compute the probabilities; return a function that waits for them."""
        started = [
            start_logits(member, corpus, batch_size, encoder) for member, encoder in zip_longest(self.members, encoders)
        ]
        return lambda: self.vote([logits().softmax(dim=1) for logits in started])

    def vote(self, each: Sequence[Tensor]) -> Tensor:
        """Combine the probabilities (n, C) of the members and calibrate them: (n, C)."""
        own = each[0] if len(self.members) == 1 else combine(torch.stack(list(each)), torch.tensor(self.vote_weights))
        return own if self.temperature == 1 else scale(own, self.temperature)

    @property
    def temperature(self) -> float:
        """Temperature that calibrates the probabilities; 1: they are not changed."""
        return self.calibration.temperature if self.calibration else 1.0

    def abstaining(self, *, threshold: float | None = None, risk: float | None = None) -> Classifier:
        """Return a copy that answers `uncertain` if its confidence is too low.

        :param threshold: lowest probability of the predicted label to answer.
        :param risk: share of texts that may get a wrong answer; the threshold follows from held-out predictions of the run, by
            conformal risk control. The share holds in expectation for texts like those, if the run was trained with
            `calibrate="held_out"` or with development data of its own; otherwise it is an estimate, since the final model has
            learned from them.
        :raises InputError: if the run has no held-out predictions to derive a threshold from.
        """
        if UNCERTAIN in self.labels:
            raise InputError(f"the run has a label {UNCERTAIN!r} of its own, so that it cannot mean no answer")
        return replace(self, abstain_below=choose_threshold(self.calibration, threshold, risk))

    def answer(self, examples: Sequence[Example], batch_size: int = 256) -> list[Answer]:
        """Return the answers in the order of the examples."""
        return self.start_answers(examples, batch_size)()

    def start_answers(
        self,
        examples: Sequence[Example],
        batch_size: int = 256,
        encoders: Sequence[Encoder] = (),
        read: ReadPieces | None = None,
    ) -> Callable[[], list[Answer]]:
        """Begin to answer; return a function that waits for the answers. A GPU computes meanwhile.

        :param encoders: of the members, in place of their own.
        :param read: what `featurizer.read` returned for the examples, if it was called before.
        """
        if not examples:
            return list
        probabilities = self._start(self.index(examples, read), batch_size, encoders)
        return lambda: self.answers(examples, probabilities())

    def answers(self, examples: Sequence[Example], probabilities: Tensor) -> list[Answer]:
        """Return the answers that follow from `probabilities` (n, C)."""
        answers = []
        for example, row in zip(examples, probabilities.tolist(), strict=True):
            confidence = max(row)
            label = self.labels[row.index(confidence)] if confidence >= self.abstain_below else UNCERTAIN
            by_label = dict(zip(self.labels, row, strict=True))
            notes = self.profile.notes(example) if self.profile else ()
            answers.append(Answer(label, by_label, example.aspect_text, *example.aspect_chars, notes))
        return answers

    @overload
    def predict(  # type: ignore[overload-overlap]  # a text is a sequence of texts too
        self, text: str, aspect: str | Span, *, ordinal: int | None = None
    ) -> Answer: ...

    @overload
    def predict(self, text: Sequence[str], aspect: Sequence[str | Span]) -> list[Answer]: ...

    @overload
    def predict(self, text: Sequence[tuple[str, str | Span]]) -> list[Answer]: ...

    @overload
    def predict(self, text: Table, *, columns: ColumnNames | None = None, errors: str = "fail") -> Table: ...

    def predict(
        self,
        text: Any,
        aspect: Any = None,
        *,
        ordinal: int | None = None,
        columns: ColumnNames | None = None,
        errors: str = "fail",
    ) -> Any:
        """Classify an aspect of a text, the aspects of several texts, or every row of a table.

        :param text: a text; a list of texts, or of (text, aspect) pairs; or a table with the columns text and aspect: a pandas
            or polars frame, a Hugging Face dataset or a list of dicts. A table comes back with the columns `label` and
            `probability_LABEL`; its own label becomes `gold`. If the run has a tagger, a row without an aspect becomes one row
            for each aspect found in its text, with the columns aspect, from and to, or one row without a label if there is none.
        :param aspect: the aspect as it appears in the text, or its character offsets; a list of them for a list of texts.
        :param ordinal: number of the occurrence of the aspect, counted from 0. Without it the first of several is used, with
            a `UserWarning`.
        :param columns: columns of a table by field, where their names differ, such as `{"text": "review"}`.
        :param errors: what to do with a row of a table that cannot be scored: `fail`, or `skip` it, without a label.
        :raises InputError: if the aspect is not in the text.
        """
        if aspect is None and isinstance(text, list) and text and isinstance(text[0], tuple):
            text, aspect = _split_pairs(text)
        is_text = isinstance(text, str) or (isinstance(text, list) and bool(text) and isinstance(text[0], str))
        if aspect is None and is_text:
            advice = "name it, as in predict(text, 'screen'), or find aspects with pssa.pipeline(run)(text)"
            raise InputError(f"no aspect is given; {advice}")
        if aspect is None:
            return predict_table(self, text, columns, errors)
        answers = self.answer(_examples(text, aspect, ordinal))
        return answers[0] if isinstance(text, str) else answers

    @overload
    def explain(  # type: ignore[overload-overlap]
        self, text: str, aspect: str | Span, *, ordinal: int | None = None, saliency: str = ""
    ) -> Explanation: ...

    @overload
    def explain(
        self, text: Sequence[str], aspect: Sequence[str | Span], *, saliency: str = ""
    ) -> list[Explanation]: ...

    def explain(self, text: Any, aspect: Any, *, ordinal: int | None = None, saliency: str = "") -> Any:
        """Classify like `predict` and return each word's share in the answer; a notebook shows it as a heat map.

        :param saliency: how shares are measured; by default attention where the model has it.
        """
        from pssa.runs.explain import explain

        explanations = explain(self, _examples(text, aspect, ordinal), saliency)
        return explanations[0] if isinstance(text, str) else explanations

    def predicted_labels(self, examples: Sequence[Example]) -> list[str]:
        """Return the label of each example."""
        return [self.labels[number] for number in self.probabilities(examples).argmax(dim=1).tolist()]


def _split_pairs(pairs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the texts and the aspects of (text, aspect) pairs."""
    for place, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"item {place} is {shorten(pair)}; expected a pair of a text and its aspect")
    return [text for text, _ in pairs], [aspect for _, aspect in pairs]


def _examples(text: Any, aspect: Any, ordinal: int | None) -> list[Example]:
    """Return the example of a text and its aspect, or those of several."""
    if isinstance(text, str):
        return [_example(text, aspect, ordinal)]
    texts, aspects = list(text), list(aspect)
    if isinstance(aspect, str) or len(texts) != len(aspects):
        raise InputError(
            f"there are {len(texts)} texts; expected a list with the aspect of each, got {shorten(aspect)}"
        )
    return [_example(*each, ordinal) for each in zip(texts, aspects, strict=True)]


def _example(text: Any, aspect: Any, ordinal: int | None) -> Example:
    if isinstance(aspect, tuple):
        return Example.from_text(text, aspect)
    doubts: list[str] = []
    fields = {"text": text, "aspect": aspect, "ordinal": ordinal}
    example = example_from_fields(fields, ordinal_required=False, warn=doubts.append)
    for doubt in doubts:
        warnings.warn(f"{doubt}; choose one with `ordinal` or by offsets", stacklevel=4)
    return example
