from __future__ import annotations

import json
from typing import Any

import pytest
from tests.insights.made_mentions import mention

from pssa.insights.mentions import EmptyReview, FieldNames, Mention, read_mentions


@pytest.mark.parametrize(
    ("text", "shares", "expected"),
    [
        ("The food was really bad.", {"bad": 0.5, "was": 0.3, ".": 0.2}, ["bad"]),
        ("The food was not fresh.", {"fresh": 0.5}, ["not fresh"]),
        ("The food was not fresh.", {"not": 0.5}, ["not fresh"]),
        ("The food was not fresh.", {"not": 0.3, "fresh": 0.2}, ["not fresh"]),
        ("The food isn't very fresh.", {"isn": 0.4, "fresh": 0.2}, ["not fresh"]),
        ("Not bad, but the food was cold.", {"cold": 0.4, "bad": 0.1}, ["cold", "not bad"]),
        ("The food was utterly disappointing.", {"utterly": 0.5, "disappointing": 0.2}, ["disappointing"]),
        ("No, the food was cold.", {"No": 0.3, "cold": 0.2}, ["cold"]),
        ("food food 42 x 😡", {"food": 0.3, "42": 0.3, "x": 0.3, "😡": 0.1}, ["😡"]),
    ],
)
def test_drivers_are_content_words_with_negations(text: str, shares: dict[str, float], expected: list[str]) -> None:
    found = mention(text, "food", shares=shares)
    assert [word for word, _ in found.drivers] == expected
    assert found.driver == expected[0]


def test_shares_of_a_driver_add_up_and_notes_are_those_of_the_model() -> None:
    assert mention("The food was not fresh.", "food", shares={"not": 0.25, "fresh": 0.5}).drivers == [
        ("not fresh", 0.75)
    ]

    def notes(**fields: Any) -> list[str]:
        return mention("The food.", "food", **fields).notes

    assert notes(notes="script unseen in training (Greek); aspect unseen in training; call back") == [
        "script unseen in training",
        "aspect unseen in training",
    ]
    assert notes(notes="please call back", pssa_notes="mostly unknown words (4 of 5)") == ["mostly unknown words"]
    assert notes(notes="please call back") == notes() == []


def test_a_mention_is_explained_in_its_sentence() -> None:
    whole = mention("We came early. The food was cold.", "food", shares={"cold": 0.5})
    later = [word for word in whole.words if word[1] >= 15]
    one = type(whole)(1, True, whole.text, "food", "negative", 0.9, tuple(later), whole.span, {"text": whole.text})
    for found in (one, one.alone()):
        explained = found.explain()
        assert explained.text == found.sentence == "The food was cold."
        assert explained.words[explained.aspect[0]] == "food"
        assert dict(zip(explained.words, explained.shares, strict=True))["cold"] == 0.5
    assert one.alone().fields == {}


def test_reviews_are_counted_from_rows() -> None:
    def row(text: str, start: int | None) -> dict[str, Any]:
        given = {"review": text, "aspect": None if start is None else text[start : start + 4], "from": start}
        words = [{"word": "food", "from": 0, "to": 4, "share": 0.0}]
        end = None if start is None else start + 4
        scored = {"label": "positive", "probabilities": {"positive": 0.8}, "explanation": {"words": words}}
        return {**given, "to": end, **(scored if start is not None else {"label": None})}

    rows = [
        row("food, wine", 0),
        row("food, wine", 6),
        row("food, wine", 0),
        row("nothing", None),
        row("nothing", None),
    ]
    found = list(read_mentions((json.dumps(one).encode() for one in rows), FieldNames(text="review")))
    assert [(one.review, one.is_first, one.aspect) for one in found if isinstance(one, Mention)] == [
        (1, True, "food"),
        (1, False, "wine"),
        (2, True, "food"),
    ]
    assert found[3:] == [EmptyReview([], text="nothing")] * 2


def test_an_answer_about_the_whole_belongs_to_its_review_before_or_after_the_aspects() -> None:
    def row(text: str, aspect: str) -> dict[str, Any]:
        words = {"words": [{"word": text, "from": 0, "to": len(text), "share": 0.0}]}
        start = text.index(aspect) if aspect else None
        end = start + len(aspect) if start is not None else None
        given = {"text": text, "aspect": aspect, "from": start, "to": end}
        return {**given, "label": "positive", "probabilities": {"positive": 0.8}, "explanation": words}

    for first, last in (("", "food"), ("food", "")):
        rows = [row("food", first), row("food", last), row("food", first), row("tea", ""), row("tea", "")]
        lines = (json.dumps(one).encode() for one in rows)
        found = [one for one in read_mentions(lines, tells_mentions=True) if isinstance(one, Mention)]
        assert all(one.is_opinion for one in found)
        assert [one.review for one in found] == [1, 1, 2, 3, 4]
        assert [one.is_overall for one in found] == [not first, not last, not first, True, True]


@pytest.mark.parametrize(
    ("text", "aspect", "label", "is_opinion", "is_plain"),
    [
        ("The food was cold.", "food", "negative", True, None),
        ("The food was awful.", "food", "negative", True, True),
        ("The food was not good.", "food", "negative", True, True),
        ("The food was good.", "food", "negative", True, False),
        ("I liked the food, but the wine was awful.", "food", "negative", True, False),
        ("The food arrived at noon.", "food", "neutral", False, None),
        ("The food was okay.", "food", "neutral", True, None),
        ("The service was awful. The food came on plates.", "food", "neutral", False, None),
    ],
)
def test_words_near_an_aspect_tell_opinions_from_mentions_and_quotations_that_fit(
    text: str, aspect: str, label: str, is_opinion: bool, is_plain: bool | None
) -> None:
    found = mention(text, aspect, label, is_mention=None)
    assert (found.is_opinion, found.is_plain) == (is_opinion, is_plain)
    assert not mention(text, aspect, label, is_mention=True).is_opinion
    assert mention(text, aspect, label, is_mention=False).is_opinion
