"""Mentions without a model: a sentence, its aspect, and the shares of some words."""

from __future__ import annotations

from typing import Any

from pssa.data.tokenize import tokenize
from pssa.evaluation.shares import ShareEstimator
from pssa.insights.aggregate import Survey, Tally
from pssa.insights.dates import DateColumn
from pssa.insights.findings import Findings, find
from pssa.insights.grouping import group
from pssa.insights.mentions import EmptyReview, Mention

LABELS = ("positive", "negative", "neutral")


def mention(text: str, aspect: str, label: str = "negative", review: int = 1, **more: Any) -> Mention:
    """`shares` by word, and any other fields of the row; `is_mention` is None for a model that does not know mentions."""
    shares: dict[str, float] = more.pop("shares", {})
    start = text.index(aspect)
    more = {"is_mention": False} | more
    words = tuple((text[a:b], a, b, shares.get(text[a:b], 0.0)) for a, b in tokenize(text))
    return Mention(review, True, text, aspect, label, 0.9, words, (start, start + len(aspect)), more)


def findings(mentions: list[Mention | EmptyReview], by: str | None = None, date: str | None = None) -> Findings:
    """Both passes, and what they say."""
    survey = Survey(by, DateColumn(date) if date else None)
    for one in mentions:
        survey.add(one)
    tally = Tally(survey, LABELS, group(survey.spellings))
    for one in mentions:
        tally.add(one)
    return find(tally, ShareEstimator())
