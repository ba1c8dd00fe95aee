"""Pieces, levels, numbers and changes: what every drawing is made from."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.documents import explanation, explanations

from pssa.display import percent
from pssa.errors import InputError
from pssa.report.heat_map import (
    FULL,
    LEVELS,
    Segment,
    alt_text,
    by_sentence,
    changes,
    clean,
    format_share,
    level,
    pairs,
    segments,
    top_words,
)
from pssa.runs.answers import Explanation

SCREEN = explanation("The big screen is huge.", "big screen", {"huge": 0.5, "is": 0.25, "The": 0.04})


def test_pieces_are_words_with_shares_the_aspect_and_what_stands_between() -> None:
    assert segments(SCREEN) == [
        Segment("The", 0.04),
        Segment(" "),
        Segment("big screen", None, is_aspect=True),
        Segment(" "),
        Segment("is", 0.25),
        Segment(" "),
        Segment("huge", 0.5),
        Segment(".", 0.0),
    ]


@given(explanations())
def test_pieces_are_the_whole_text_and_every_word_once(given: Explanation) -> None:
    found = segments(given)
    assert "".join(piece.text for piece in found) == clean(given.text)
    first, last = given.aspect
    assert sum(piece.is_aspect for piece in found) == 1
    assert [piece.share for piece in found if piece.share is not None] == [*given.shares[:first], *given.shares[last:]]


@given(st.text(st.characters()))
def test_a_cleaned_text_is_as_long_and_fit_for_xml(text: str) -> None:
    found = clean(text)
    assert len(found) == len(text)
    # The characters that XML 1.0 allows, less the controls that HTML refuses.
    assert re.fullmatch("[\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*", found)
    assert all(new in (old, "\ufffd", " ") for old, new in zip(text, found, strict=True))


def test_cleaning_changes_nothing_that_can_be_shown() -> None:
    text = "naïve 屏幕 שלום 👩\u200d👧 e\u0301 \u200f\u202e\t\n<&'\""
    assert clean(text) == text
    assert clean("a\x1b[31m\r\x00\ud800\uffff") == "a\ufffd[31m \ufffd\ufffd\ufffd"


def test_heat_grows_with_the_share_and_is_full_from_one_share_on() -> None:
    assert [level(share) for share in (0.0, 0.019, 0.021, 0.1, 0.2, 0.39, FULL, 1.0)] == [0, 0, 1, 2, 5, 10, 10, 10]
    assert level(FULL) == LEVELS


@pytest.mark.parametrize(
    ("share", "short", "long"),
    [
        (0.0, ".00", "0.0 %"),
        (0.42, ".42", "42.0 %"),
        (0.994, ".99", "99.4 %"),
        (0.9951, "1.0", "99.5 %"),
        (1, "1.0", "100.0 %"),
    ],
)
def test_numbers_are_short_on_words_and_exact_in_titles(share: float, short: str, long: str) -> None:
    assert (format_share(share), percent(share)) == (short, long)


def test_the_hottest_words_are_named_and_a_heat_map_can_be_said_in_words() -> None:
    assert [piece.text for piece in top_words(SCREEN)] == ["huge", "is"]
    assert [piece.text for piece in top_words(SCREEN, 0.3)] == ["huge"]
    assert alt_text(SCREEN) == "The [big screen] is huge. Shares by attention: huge 50.0 %, is 25.0 %."
    assert alt_text(explanation("so so", "so", {})).endswith("no word has 5 % or more.")


def test_the_largest_changes_come_first_and_small_ones_are_left_out() -> None:
    before = explanation("The big screen is huge.", "big screen", {"huge": 0.1, "is": 0.27, ".": 0.6, "The": 0.045})
    assert changes(SCREEN, before) == [
        (".", 0.6, 0.0),
        ("huge", 0.1, 0.5),
        ("is", 0.27, 0.25),
    ]
    assert changes(SCREEN, SCREEN) == []


def test_explanations_pair_only_with_those_of_the_same_aspect() -> None:
    other = explanation("The big screen is huge.", "screen", {})
    assert [pair.before for pair in pairs([SCREEN], None)] == [None]
    assert [(pair.now, pair.before) for pair in pairs([SCREEN], [SCREEN])] == [(SCREEN, SCREEN)]
    for wrong in ([other], [], [SCREEN, SCREEN]):
        with pytest.raises(InputError, match="different aspects"):
            pairs([SCREEN], wrong)


def test_aspects_of_one_sentence_stay_together() -> None:
    other = explanation("The big screen is huge.", "is", {})
    groups = by_sentence(pairs([SCREEN, other, explanation("So what", "what", {}), SCREEN], None))
    assert [[pair.now.answer.aspect for pair in group] for group in groups] == [
        ["big screen", "is"],
        ["what"],
        ["big screen"],
    ]
