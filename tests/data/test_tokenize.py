"""The tokeniser: which characters make a word, and that nothing of the text is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.data.tokenize import cut_at, split_on_space, tokenize

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PILOT = "\U0001f469\U0001f3fb\u200d\u2708\ufe0f"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The screen is great.", ["The", "screen", "is", "great", "."]),
        ("I don't", ["I", "don", "'", "t"]),
        ("a built-in 1/2 and-or", ["a", "built-in", "1/2", "and-or"]),
        ("-in in- /", ["-", "in", "in", "-", "/"]),
        ("$20 or $20.50, not $ 5", ["$20", "or", "$20.50", ",", "not", "$", "5"]),
        ("3.5 at 10:30, 1,000.5!", ["3.5", "at", "10:30", ",", "1,000.5", "!"]),
        ("3.5mm", ["3.5", "mm"]),
        ("snake_case", ["snake", "_", "case"]),
        ("café — 日本語", ["café", "—", "日本語"]),
        ("हिन्दी अच्छी है", ["हिन्दी", "अच्छी", "है"]),
        ("ha\u0308lt/ha\u0308lt", ["ha\u0308lt/ha\u0308lt"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("\u2764\ufe0fgreat", ["\u2764\ufe0f", "great"]),
        ("so\U0001f44d\U0001f3fd\U0001f44d\U0001f3fd!", ["so", "\U0001f44d\U0001f3fd", "\U0001f44d\U0001f3fd", "!"]),
        (f"{FAMILY}{FAMILY} {PILOT}", [FAMILY, FAMILY, PILOT]),
        (
            "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7\U0001f1e9 a",
            ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "\U0001f1e9", "a"],
        ),
        (f"{ENGLAND}, #\ufe0f\u20e3 1\ufe0f\u20e3", [ENGLAND, ",", "#\ufe0f\u20e3", "1\ufe0f\u20e3"]),
        ("\U0001f600\U0001f600 \U0001f3fd\U0001f3fd", ["\U0001f600", "\U0001f600", "\U0001f3fd", "\U0001f3fd"]),
        ("\u200d\u200d. \ufe0f", ["\u200d", "\u200d", ".", "\ufe0f"]),
        (" \t\n", []),
        ("", []),
    ],
)
def test_words_are_cut_as_stated(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_no_word_crosses_a_break() -> None:
    assert tokenize("touchscreens", (5, 11)) == ((0, 5), (5, 11), (11, 12))


def test_one_span_may_be_cut_twice_in_any_order() -> None:
    assert cut_at(((0, 9),), (6, 3)) == cut_at(((0, 9),), (3, 6)) == ((0, 3), (3, 6), (6, 9))


def test_tokenised_text_is_cut_at_white_space_only() -> None:
    assert split_on_space("do n't  3.5mm", (3,)) == ((0, 2), (3, 6), (8, 13))


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_words_come_in_order_and_hold_every_character_that_is_not_space(text: str, first: int, second: int) -> None:
    spans = tokenize(text, (first, second))
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert not any(start < cut < end for start, end in spans for cut in (first, second))
