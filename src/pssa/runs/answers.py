"""What is asked and what is answered: `Question`, `Answer`, and `Runtime`, which turns the one into the other.

An aspect, named or found, is judged in its sentence (`examples_of`). Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pssa.aspects.find import Finder, find_in_texts, sentences_of
from pssa.aspects.spans import check_text
from pssa.data.english import is_content_word
from pssa.data.example import Example
from pssa.data.tokenize import Span, cut_at, tokenize
from pssa.data.validation import brief_repr, shorten
from pssa.display import to_html
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.runs.torch_runtime import TorchRuntime

OVERALL = "overall"  # for people, in place of the aspect of an answer about the text as a whole
UNCERTAIN = "uncertain"  # in place of a label where the classifier abstains
_MAX_ASPECTS = 1000  # of one text


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and the aspects in it to judge."""

    text: str  # as the user gave it
    aspects: tuple[Span, ...] | None = None  # character offsets to judge; None: find aspects
    words: tuple[Span, ...] | None = None  # character offsets of the words, where their tokenisation is not ours


@dataclass(frozen=True, slots=True)
class Word:
    """A reason for an answer: a word of the text and its share."""

    start: int  # character offsets in the text
    end: int
    share: float


@dataclass(frozen=True)
class Answer:
    """The label of one aspect of one text, the probability of every label, and where the aspect is in the text.

    An answer about the text as a whole ("overall", an opinion whose aspect is not named) has no aspect, and start = end = 0.
    """

    label: str
    probabilities: dict[str, float]  # by label, sums to one
    aspect: str
    start: int  # character offsets of the aspect in the text
    end: int
    notes: tuple[str, ...] = ()  # what about the text is unlike the training data
    score: float | None = None  # of a found aspect: how sure the finder is; None: named, or a finder without scores
    words: tuple[Word, ...] = ()  # of the sentence, where reasons were asked for or cost nothing
    is_mention: bool = False  # named without an opinion

    def __repr__(self) -> str:
        probabilities = {label: round(value, 4) for label, value in self.probabilities.items()}
        notes = {"notes": list(self.notes)} if self.notes else {}
        return brief_repr(self, label=self.label, aspect=self.aspect, probabilities=probabilities, **notes)

    @property
    def about(self) -> str:
        """What the answer is about, for people: the aspect, or `overall`."""
        return self.aspect or OVERALL

    def as_dict(self) -> dict[str, Any]:
        """Return plain values under the names that files and the service use."""
        return {
            "aspect": self.aspect,
            "from": self.start,
            "to": self.end,
            "label": self.label,
            "probabilities": self.probabilities,
            **({"score": self.score} if self.score is not None else {}),
            **({"is_mention": True} if self.is_mention else {}),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def moved(self, offset: int) -> Answer:
        """Return the answer with its offsets that much further."""
        if not offset:
            return self
        words = tuple(Word(word.start + offset, word.end + offset, word.share) for word in self.words)
        return replace(self, start=self.start + offset, end=self.end + offset, words=words)


class Runtime(Protocol):
    """A loaded model that answers questions; it may be used by several threads."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it chooses among."""

    @property
    def finds(self) -> bool:
        """Whether it can find aspects."""

    @property
    def has_encoder(self) -> bool:
        """Whether it reads texts with an encoder, so that an answer takes long."""

    @property
    def saliency(self) -> str:
        """How the reasons of its answers are measured."""

    @property
    def saliencies(self) -> tuple[str, ...]:
        """The saliencies that apply to the model, the usual one first."""

    @property
    def in_torch(self) -> TorchRuntime | None:
        """Itself, if its model is in torch and judges examples as they are."""

    def start(
        self, questions: Sequence[Question], *, batch_size: int | None = None, reasons: bool = False
    ) -> Callable[[], list[list[Answer]]]:
        """Begin to answer; return a function that waits for the answers to each question, in order.

        :param batch_size: sentences in one step; None: what suits the model and the device.
        :param reasons: whether answers have words even where that costs time.
        """


@dataclass(frozen=True)
class Explanation:
    """One answer, and in `shares` how much each of `words` counted for it; a heat map in a notebook."""

    text: str
    spans: tuple[Span, ...]  # character offsets of the words
    aspect: Span  # word offsets, half-open
    # A share for each word; they sum to one, or are all zero where no word counts. The aspect has none.
    shares: tuple[float, ...]
    saliency: str
    answer: Answer

    def __repr__(self) -> str:
        shares = (pair for pair in zip(self.words, self.shares, strict=True) if is_content_word(pair[0]))
        ranked = sorted(shares, key=lambda pair: -pair[1])
        top = {word: round(share, 3) for word, share in ranked[:4]}
        return brief_repr(self, text=self.text, aspect=self.answer.aspect, label=self.answer.label, words=top)

    def _repr_html_(self) -> str:
        return to_html(self)

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they appear in the text."""
        return tuple(self.text[start:end] for start, end in self.spans)

    @property
    def grounds(self) -> str:
        """What the label rests on, in words."""
        return "no opinion found" if self.answer.is_mention else f"by {self.saliency}"

    @classmethod
    def of(cls, text: str, answer: Answer, saliency: str) -> Explanation:
        """Return an answer with reasons as the explanation of its sentence."""
        begin, end = (answer.words[0].start, answer.words[-1].end) if answer.words else (0, len(text))
        if answer.aspect:
            begin, end = min(begin, answer.start), max(end, answer.end)
        own = answer.moved(-begin)
        if not answer.aspect:
            own = replace(own, start=0, end=0)
        spans = tuple((word.start, word.end) for word in own.words)
        inside = [place for place, span in enumerate(spans) if own.start < span[1] and span[0] < own.end]
        aspect = (inside[0], inside[-1] + 1) if inside else (0, 0)
        shares = tuple(word.share for word in own.words)
        return cls(text[begin:end], spans, aspect, shares, saliency, replace(own, words=()))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values under the names that files and the service use."""
        words = [
            {"word": self.text[start:end], "from": start, "to": end, "share": share}
            for (start, end), share in zip(self.spans, self.shares, strict=True)
        ]
        return {"text": self.text, **self.answer.as_dict(), "saliency": self.saliency, "words": words}


def sentence_of(text: str, aspect: Span) -> Span:
    """Return where the sentence of an aspect begins and ends; the whole text if the aspect lies in several."""
    inside = (span for span in sentences_of(text) if span[0] <= aspect[0] and aspect[1] <= span[1])
    return next(inside, (0, len(text)))


def require_examples(given: Sequence[Example]) -> None:
    """Refuse what is no example, such as a text.

    :raises InputError: for the first that is none.
    """
    for each in given:
        if not isinstance(each, Example):
            expected = "expected Examples, which Example.from_text makes; predict takes a text and its aspect"
            raise InputError(f"one of the examples is {shorten(each)}; {expected}")


def examples_of(question: Question) -> list[tuple[Example, int]]:
    """Return the instance to judge of each aspect of a question, and where its sentence begins in the text.

    :raises InputError: if an aspect is outside the text or has no word.
    """
    text, found = question.text, []
    for start, end in question.aspects or ():
        if not 0 <= start < end <= len(text):
            raise InputError(f"aspect offsets {start}-{end} are not inside the text of {len(text)} characters")
        if not text[start:end].strip():
            raise InputError(f"aspect offsets {start}-{end} contain no word: {shorten(text[start:end])}")
        begin, close = sentence_of(text, (start, end))
        sentence, aspect = text[begin:close], (start - begin, end - begin)
        if question.words is None:
            words = tokenize(sentence)
        else:
            words = tuple(
                (a - begin, b - begin) for a, b in cut_at(question.words, (begin, close)) if begin <= a < close
            )
        # A text is as good an id of itself as its digest, which takes longer than finding its words.
        example = Example.from_spans(sentence, cut_at(words, aspect), aspect, label=None, id="0", sentence_id=sentence)
        found.append((example, begin))
    return found


def with_found(finder: Finder, questions: Sequence[Question]) -> list[Question]:
    """Return the questions with the aspects that are found in those that name none.

    :raises InputError: if a text is too long, or not made of whole characters.
    """
    raw = [row for row, question in enumerate(questions) if question.aspects is None]
    found = find_in_texts(finder, [check_text(questions[row].text) for row in raw])
    asked = list(questions)
    for row, inside in zip(raw, found, strict=True):
        if len(inside) > _MAX_ASPECTS:
            advice = f"expected at most {_MAX_ASPECTS}: split it into reviews"
            raise InputError(f"the text has {len(inside)} aspects; {advice}")
        asked[row] = Question(questions[row].text, tuple((each.start, each.end) for each in inside))
    return asked
