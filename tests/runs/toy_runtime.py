"""A runtime without a model: it finds `soup` and `waiter`, and reads the word before them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pssa.runs.answers import Answer, Question, Word, examples_of

_NOUN = re.compile("soup|waiter")
_SHARES = {"good": (0.8, 0.2), "bad": (0.1, 0.9)}


class ToyRuntime:
    """Answers `positive` after `good`, and `negative` after `bad` or anything else."""

    name = "toy"
    labels = ("positive", "negative")
    finds = True
    has_encoder = False
    saliency = "attention"
    saliencies = ("attention",)
    in_torch = None

    def start(
        self, questions: Sequence[Question], *, batch_size: int | None = None, reasons: bool = False
    ) -> Callable[[], list[list[Answer]]]:
        return lambda: [self._answers(question) for question in questions]

    def _answers(self, question: Question) -> list[Answer]:
        spans = question.aspects
        if spans is None:
            spans = tuple(found.span() for found in _NOUN.finditer(question.text))
        return [
            self._answer(example.words[: example.aspect[0]], example.aspect_text, (start, end), offset, is_found)
            for (example, offset), (start, end) in zip(examples_of(Question(question.text, spans)), spans, strict=True)
            for is_found in (question.aspects is None,)
        ]

    def _answer(self, before: Sequence[str], aspect: str, span: tuple[int, int], offset: int, is_found: bool) -> Answer:
        shares = _SHARES.get(before[-1] if before else "", (0.4, 0.6))
        label = self.labels[shares.index(max(shares))]
        words = (Word(offset, span[1], 1.0),)  # from where its sentence begins
        score = 0.75 if is_found else None
        return Answer(label, dict(zip(self.labels, shares, strict=True)), aspect, *span, score=score, words=words)
