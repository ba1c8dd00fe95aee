"""`Classifier`: a trained run that answers raw text. `pssa.load(run)` returns one.

It works over a `Runtime`, in torch or in ONNX Runtime. What needs torch, such as `explain`, says so where there is none.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from pssa.aspects.find import Finder
from pssa.data.example import Example
from pssa.data.fields import example_from_fields
from pssa.data.rows import ColumnNames
from pssa.data.tables import Table, texts_of_series
from pssa.data.tokenize import Span, tokenize
from pssa.data.validation import brief_repr, shorten
from pssa.errors import InputError
from pssa.runs.answers import (
    UNCERTAIN,
    Answer,
    Explanation,
    Question,
    Runtime,
    examples_of,
    require_examples,
    sentence_of,
    with_found,
)
from pssa.runs.asked_rows import predict_table
from pssa.runs.calibration import Calibration, choose_threshold
from pssa.runs.directory import TemporaryFolder
from pssa.runs.input_profile import InputProfile
from pssa.runs.run_names import lend_starter, whole_run

if TYPE_CHECKING:
    from pssa.runs.evaluate import Evaluation
    from pssa.runs.torch_runtime import TorchRuntime


@dataclass(frozen=True)
class Classifier:
    """A trained classifier that finds aspects and labels them. `pssa.load` returns one.

    classifier = pssa.load("starter")
    classifier.predict("The soup was cold.")  # an `Answer` for each aspect found; also lists, Series, data frames
    classifier.predict("The soup was cold.", "soup").label
    classifier.explain("The soup was cold.", "soup")  # how much each word counted
    """

    runtime: Runtime
    calibration: Calibration | None = None
    abstain_below: float = 0.0  # confidence; answers that have less are withheld
    profile: InputProfile | None = None  # of the training texts; runs of earlier versions have none
    finder: Finder | None = None  # of aspects, in place of the runtime's own
    notes_languages: bool = (
        True  # whether answers about texts in another language say so; the detector takes a while to load
    )
    folder: Path | None = None  # of the run
    scratch: TemporaryFolder | None = None  # that the run is in, if it is to go with the classifier

    def __repr__(self) -> str:
        return brief_repr(self, model=self.name, labels=list(self.labels), runtime=type(self.runtime).__name__)

    @property
    def name(self) -> str:
        """The model."""
        return self.runtime.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it chooses among."""
        return self.runtime.labels

    @property
    def finds(self) -> bool:
        """Whether it has a way to find aspects, so that it needs not ask the starter."""
        return self.finder is not None or self.runtime.finds

    @property
    def saliencies(self) -> tuple[str, ...]:
        """The saliencies that apply to the model, the usual one first."""
        return self.runtime.saliencies

    @property
    def torch(self) -> TorchRuntime:
        """The model in torch.

        :raises InputError: if the run was exported: it runs without torch.
        """
        if self.runtime.in_torch is None:
            raise InputError(
                "the run was exported to ONNX and has no model in torch; load the run that it was exported from, which"
                " needs pssa[train]"
            )
        return self.runtime.in_torch

    @cached_property
    def held_out(self) -> Evaluation | None:
        """Scores on data that it has not learned from, kept from its training; None if nothing was held out."""
        from pssa.runs.evaluate import Evaluation
        from pssa.runs.run_metrics import held_out_confusion

        confusion = held_out_confusion(whole_run(self._saved), self.labels)[0] if self.folder else None
        return Evaluation.of_confusion(confusion, self.labels) if confusion else None

    @property
    def _saved(self) -> Path:
        if self.folder is None:
            raise InputError("the classifier has no run directory; load one with pssa.load")
        return self.folder

    def evaluate(self, data: Any, **reading: Any) -> Evaluation:
        """Score it on labelled data; see `pssa.runs.evaluate.evaluate`."""
        from pssa.runs.evaluate import evaluate

        return evaluate(self, data, **reading)

    def save(self, folder: str | Path) -> Path:
        """Copy its run to a new folder, which `pssa.load` and every command can read."""
        if Path(folder).exists():
            raise InputError(f"{folder} exists already; choose another folder")
        return Path(shutil.copytree(self._saved, folder))

    def export_onnx(self, path: str | Path, *, force: bool = False) -> Path:
        """Write it as ONNX; see `pssa.runs.onnx_export.export_onnx`."""
        from pssa.runs.onnx_export import export_onnx

        return export_onnx(self._saved, path, force=force)

    def push_to_hub(self, repo_id: str, **how: Any) -> str:
        """Upload its run to a model hub; see `pssa.runs.copies.push_to_hub`."""
        from pssa.runs.copies import push_to_hub

        return push_to_hub(self._saved, repo_id, **how)

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

    def explaining(self, saliency: str) -> Classifier:
        """Return a copy that measures the reasons of its answers in another way.

        :raises InputError: if this does not apply to the model.
        """
        if saliency == self.runtime.saliency:
            return self
        if saliency not in self.saliencies:
            known = ", ".join(self.saliencies)
            raise InputError(f"saliency {saliency!r} cannot explain model {self.name}; it can be {known}")
        return replace(self, runtime=replace(self.torch, chosen_saliency=saliency))

    def start(
        self, questions: Sequence[Question], *, batch_size: int | None = None, reasons: bool = False
    ) -> Callable[[], list[list[Answer]]]:
        """Begin to answer; return a function that waits for the answers to each question. A GPU computes meanwhile.

        :param batch_size: sentences in one step; None: what suits the model and the device.
        :param reasons: whether answers have words even where that costs time.
        """
        finder = self.finder
        if not self.finds and any(each.aspects is None for each in questions):
            finder = self._starter
        if finder is not None:
            questions = with_found(finder, questions)
        started = self.runtime.start(questions, batch_size=batch_size, reasons=reasons)

        def wait() -> list[list[Answer]]:
            about = [self._language_notes(question.text) for question in questions]
            return [
                [self._finished(answer, notes, question.text) for answer in inside]
                for question, notes, inside in zip(questions, about, started(), strict=True)
            ]

        return wait

    def answer(self, examples: Sequence[Example], batch_size: int | None = None, reasons: bool = False) -> list[Answer]:
        """Return the answers in the order of the examples, which a model in torch judges as they are; see `start`."""
        require_examples(examples)
        if (runtime := self.runtime.in_torch) is None:
            asked = [Question(example.text, (example.aspect_chars,), example.spans) for example in examples]
            return [answer for (answer,) in self.start(asked, batch_size=batch_size, reasons=reasons)()]
        answers = runtime.judge(examples, batch_size, reasons)()
        return [
            self._finished(answer, self._language_notes(example.text, example.spans), example.text, example.spans)
            for example, answer in zip(examples, answers, strict=True)
        ]

    @cached_property
    def _starter(self) -> Finder:
        """The starter, which finds aspects where nothing else does; it warns."""
        from pssa.runs.loading import open_finder

        return open_finder(lend_starter())

    def _language_notes(self, text: str, spans: Sequence[Span] | None = None) -> tuple[str, ...]:
        return self.profile.language_notes(text, spans) if self.profile and self.notes_languages else ()

    def _finished(
        self, answer: Answer, about_text: tuple[str, ...], text: str, words: Sequence[Span] | None = None
    ) -> Answer:
        """Return an answer of the runtime with notes, and without its label if the confidence is too low.

        :param about_text: notes about the whole text.
        :param words: character offsets of the words of the text, where it is judged as a whole; None: the aspect's sentence is.
        """
        notes: tuple[str, ...] = ()
        if self.profile is not None and answer.end:
            if words is None:
                begin, end = sentence_of(text, (answer.start, answer.end))
                text = text[begin:end]
                words = tokenize(text)
            notes = self.profile.notes(text, words, answer.aspect)
        if about_text or notes:
            answer = replace(answer, notes=(*answer.notes, *about_text, *notes))
        if answer.probabilities and max(answer.probabilities.values()) < self.abstain_below:
            answer = replace(answer, label=UNCERTAIN)
        return answer

    def probabilities(self, examples: Sequence[Example], batch_size: int = 256) -> npt.NDArray[np.float32]:
        """Return the (n, C) probability of each label of examples, which a model in torch judges as they are."""
        if self.runtime.in_torch is not None:
            found: npt.NDArray[np.float32] = self.runtime.in_torch.probabilities(examples, batch_size).numpy()
            return found
        require_examples(examples)
        answers = self.runtime.start([Question(each.text, (each.aspect_chars,), each.spans) for each in examples])()
        rows = [[answer.probabilities[label] for label in self.labels] for (answer,) in answers]
        return np.array(rows, np.float32).reshape(-1, len(self.labels))

    def predicted_labels(self, examples: Sequence[Example]) -> list[str]:
        """Return the likeliest label of each example."""
        return [self.labels[number] for number in self.probabilities(examples).argmax(1).tolist()] if examples else []

    @overload
    def predict(self, text: str, aspect: None = None, *, batch_size: int | None = None) -> list[Answer]: ...

    @overload
    def predict(  # type: ignore[overload-overlap]  # a text is a sequence of texts too
        self, text: str, aspect: str | Span, *, ordinal: int | None = None
    ) -> Answer: ...

    @overload
    def predict(self, text: tuple[str, str | Span], aspect: None = None, *, ordinal: int | None = None) -> Answer: ...

    @overload
    def predict(self, text: list[str], aspect: None = None, *, batch_size: int | None = None) -> list[list[Answer]]: ...

    @overload
    def predict(
        self, text: Sequence[str], aspect: Sequence[str | Span], *, batch_size: int | None = None
    ) -> list[Answer]: ...

    @overload
    def predict(
        self, text: Sequence[tuple[str, str | Span]], aspect: None = None, *, batch_size: int | None = None
    ) -> list[Answer]: ...

    @overload
    def predict(
        self,
        text: Table,
        aspect: None = None,
        *,
        columns: ColumnNames | None = None,
        errors: str = "fail",
        batch_size: int | None = None,
    ) -> Any: ...

    def predict(
        self,
        text: Any,
        aspect: Any = None,
        *,
        ordinal: int | None = None,
        columns: ColumnNames | None = None,
        errors: str = "fail",
        batch_size: int | None = None,
    ) -> Any:
        """Answer a text, several texts, or every row of a table; the answer has the shape of the question.

        :param text: a text, or a (text, aspect) pair; a list or Series of texts, or a list of pairs; or a table with the column
            text and, if aspects are named, aspect: a pandas or polars frame, a Hugging Face dataset or a list of dicts. A text
            has a list of answers, one for each aspect found in it. A table comes back with the columns `label` and
            `probability_LABEL`; its own label becomes `gold`. A row without an aspect becomes one row for each aspect found in
            its text, with the columns aspect, from and to, or one row without a label if there is none.
        :param aspect: the aspect as it appears in the text, or its character offsets: the answer is one `Answer`; or a list of
            them for a list of texts.
        :param ordinal: number of the occurrence of the aspect, counted from 0. Without it the first of several is used, with
            a `UserWarning`.
        :param columns: columns of a table by field, where their names differ, such as `{"text": "review"}`.
        :param errors: what to do with a row of a table that cannot be scored: `fail`, or `skip` it, without a label.
        :param batch_size: sentences in one step; by default what suits the model and the device.
        :raises InputError: if the aspect is not in the text, or a text cannot be read.
        """
        if aspect is None and isinstance(text, tuple) and len(text) == 2 and isinstance(text[0], str):
            text, aspect = text
        elif aspect is None and isinstance(text, list) and text and isinstance(text[0], tuple):
            text, aspect = _split_pairs(text)
        if aspect is not None:
            answers = [inside[0] for inside in self.start(_named(text, aspect, ordinal), batch_size=batch_size)()]
            return answers[0] if isinstance(text, str) else answers
        texts = [text] if isinstance(text, str) else _texts(text)
        if texts is None:
            return predict_table(self, text, columns, errors, batch_size)
        found = self.start([Question(each) for each in texts], batch_size=batch_size)()
        return found[0] if isinstance(text, str) else found

    def predict_proba(self, text: Any, aspect: Any = None, *, batch_size: int | None = None) -> Any:
        """Return the probabilities of what `predict` answers, in the order of `labels`.

        :return: (C,) for one answer and (n, C) for n answers; a list of such arrays for texts whose aspects are found.
        """
        found = self.predict(text, aspect, batch_size=batch_size)
        if isinstance(found, Answer):
            return self._matrix([found])[0]
        if not isinstance(found, list) or any(isinstance(each, dict) for each in found):
            raise InputError("the probabilities of a table are columns of what predict returns; use predict")
        if any(isinstance(each, list) for each in found):
            return [self._matrix(inside) for inside in found]
        return self._matrix(found)

    def _matrix(self, answers: Sequence[Answer]) -> npt.NDArray[np.float64]:
        rows = [[answer.probabilities[label] for label in self.labels] for answer in answers]
        return np.array(rows).reshape(-1, len(self.labels))

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

        placed = [pair for question in _named(text, aspect, ordinal) for pair in examples_of(question)]
        explanations = explain(self, [example for example, _ in placed], saliency)
        return explanations[0] if isinstance(text, str) else explanations


def _texts(given: Any) -> list[str] | None:
    """Return the texts of a list or of a Series; None if it is a table."""
    if isinstance(given, (list, tuple)):
        if not given or not any(isinstance(each, str) for each in given):
            return None if given else []
        for each in given:
            if not isinstance(each, str):
                raise InputError(f"one of the texts is {shorten(each)}; expected text")
        return list(given)
    return texts_of_series(given)


def _split_pairs(pairs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the texts and the aspects of (text, aspect) pairs."""
    for place, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"item {place} is {shorten(pair)}; expected a pair of a text and its aspect")
    return [text for text, _ in pairs], [aspect for _, aspect in pairs]


def _named(text: Any, aspect: Any, ordinal: int | None) -> list[Question]:
    """Return the question about a text and its aspect, or those about several."""
    if isinstance(text, str):
        return [_question(text, aspect, ordinal)]
    texts, aspects = list(text), list(aspect)
    if isinstance(aspect, str) or len(texts) != len(aspects):
        raise InputError(
            f"there are {len(texts)} texts; expected a list with the aspect of each, got {shorten(aspect)}"
        )
    return [_question(*each, ordinal) for each in zip(texts, aspects, strict=True)]


def _question(text: Any, aspect: Any, ordinal: int | None) -> Question:
    if isinstance(aspect, tuple):
        return Question(text, (aspect,))
    doubts: list[str] = []
    fields = {"text": text, "aspect": aspect, "ordinal": ordinal}
    example = example_from_fields(fields, ordinal_required=False, warn=doubts.append)
    for doubt in doubts:
        warnings.warn(f"{doubt}; choose one with `ordinal` or by offsets", stacklevel=4)
    return Question(text, (example.aspect_chars,))
