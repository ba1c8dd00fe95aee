"""Scores of whole reviews: aspects found, their labels, the word that decides each, and the overall label.

The parts, each measured where the model answers it:

- spans: an aspect is right if both offsets are; a span counts once in a text. Aspects with two labels count too.
- labelled spans: an aspect is right if its label is right too. Aspects with two labels count neither as gold nor as found.
- labels: of the marked aspects. Aspects with two labels in one text are left out and counted.
- top word: of the marked aspects with one label and marked opinion words, the share whose highest word lies in these words.
- overall: the label of a text's implied opinions, `none` if it has none. Texts whose implied opinions differ are left out
  and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pssa.data.example import DEFAULT_LABELS
from pssa.data.reviews import NO_OPINION, Review
from pssa.data.tokenize import Span
from pssa.errors import InputError
from pssa.evaluation.metrics import Scores, SpanScores, score, score_spans

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """What a model says about one review, in character offsets of its text; None for a part that it does not answer."""

    found: Sequence[Span] | Mapping[Span, str] | None = None  # the aspects that it finds, or their labels too
    labels: Mapping[Span, str] | None = None  # by marked aspect
    top_words: Mapping[Span, Span] | None = None  # by marked aspect, the word with the highest weight
    overall: str | None = None  # a label, or `none`


@dataclass(frozen=True)
class ReviewScores:
    """Scores of a model on reviews; None for a part that it does not answer, or that the reviews do not have."""

    reviews: int
    spans: SpanScores | None
    labelled_spans: SpanScores | None  # right with the right label
    labels: Scores | None
    two_labels: int  # marked aspects left out of `labels` and `top_word`
    top_word: float | None
    top_word_instances: int
    overall: Scores | None
    overall_differ: int  # texts left out of `overall`

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "reviews": self.reviews,
            "spans": self.spans
            and self.spans.as_dict() | ({"labelled": self.labelled_spans.as_dict()} if self.labelled_spans else {}),
            "labels": _with_commonest(self.labels),
            "two_labels": self.two_labels,
            "top_word": self.top_word,
            "top_word_instances": self.top_word_instances,
            "overall": _with_commonest(self.overall),
            "overall_differ": self.overall_differ,
        }


def score_reviews(
    reviews: Sequence[Review], answers: Sequence[ReviewAnswer], labels: Sequence[str] = DEFAULT_LABELS
) -> ReviewScores:
    """Compare a model's answers with reviews, in the same order.

    :param labels: the labels of aspects; macro-F1 is the mean over all of them, and over these and `none` for overall labels.
    :raises InputError: if the two differ in length, if a part is answered for some reviews only, or a label is unknown.
    """
    if not reviews or len(reviews) != len(answers):
        raise InputError(f"{len(reviews)} reviews and {len(answers)} answers; expected as many of each, at least one")
    aspects = [review.aspects for review in reviews]
    found = _part(answers, "found", lambda answer: answer.found)
    judged = _part(answers, "labels", lambda answer: answer.labels)
    top_words = _part(answers, "top_words", lambda answer: answer.top_words)
    overall = _part(answers, "overall", lambda answer: answer.overall)

    marked = [(row, span, label) for row, inside in enumerate(aspects) for span, label in inside.items() if label]
    texts = [(row, label) for row, review in enumerate(reviews) if (label := review.overall)]
    hits, by_aspect, by_text, labelled = [], None, None, None
    with_labels = [each for each in found or () if isinstance(each, Mapping)]
    if found and len(with_labels) == len(found):
        gold = [[pair for pair in inside.items() if pair[1]] for inside in aspects]
        # An aspect with two labels has None in the data.
        said = [
            [pair for pair in each.items() if inside.get(pair[0], "") is not None]
            for each, inside in zip(with_labels, aspects, strict=True)
        ]
        labelled = score_spans(gold, said)
    if judged and marked:
        for row, (start, end), _ in marked:
            if (start, end) not in judged[row]:
                raise InputError(f"answer {row} has no label for the aspect at {start}-{end}; give one for each")
        given = [judged[row][span] for row, span, _ in marked]
        by_aspect = score([label for *_, label in marked], given, labels)
    if top_words:
        for row, span, _ in marked:
            if places := reviews[row].opinion_words(span):
                word = top_words[row].get(span)
                hits.append(word is not None and any(first <= word[0] and word[1] <= last for first, last in places))
    if overall and texts:
        by_text = score([label for _, label in texts], [overall[row] for row, _ in texts], (*labels, NO_OPINION))
    return ReviewScores(
        reviews=len(reviews),
        spans=score_spans(aspects, found) if found else None,
        labelled_spans=labelled,
        labels=by_aspect,
        two_labels=sum(label is None for inside in aspects for label in inside.values()),
        top_word=sum(hits) / len(hits) if hits else None,
        top_word_instances=len(hits),
        overall=by_text,
        overall_differ=len(reviews) - len(texts),
    )


def _part(answers: Sequence[ReviewAnswer], name: str, take: Callable[[ReviewAnswer], Part | None]) -> list[Part] | None:
    """Return one part of all answers; None if no answer has it."""
    values = [take(answer) for answer in answers]
    given = [value for value in values if value is not None]
    if given and len(given) < len(values):
        missing = values.index(None)
        raise InputError(f"answer {missing} has no `{name}`, others do; give it for every review or for none")
    return given or None


def _with_commonest(scores: Scores | None) -> dict[str, Any] | None:
    return None if scores is None else scores.as_dict() | {"commonest_share": scores.commonest_share}
