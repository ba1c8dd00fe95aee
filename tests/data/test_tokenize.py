"""Words: how they are cut, counted, found again, and which of them say nothing."""

from __future__ import annotations

import re
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pssa.data.english import is_content_word, looks_plural, number_forms, singular
from pssa.data.fields import find_occurrences, fold_case
from pssa.data.tokenize import Span, cut_at, split_on_space, tokenize
from pssa.errors import InputError

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


def test_no_word_crosses_a_cut() -> None:
    assert tokenize("touchscreens", (5, 11)) == ((0, 5), (5, 11), (11, 12))
    assert cut_at(((0, 9),), (6, 3)) == cut_at(((0, 9),), (3, 6)) == ((0, 3), (3, 6), (6, 9))
    assert split_on_space("do n't  3.5mm", (3,)) == ((0, 2), (3, 6), (8, 13))


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_words_come_in_order_and_hold_every_character_that_is_not_space(text: str, first: int, second: int) -> None:
    spans = tokenize(text, (first, second))
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert not any(start < cut < end for start, end in spans for cut in (first, second))


@pytest.mark.parametrize("word", ["great", "Not", "n't", "never", "too", "4", "😀", "素晴らしい", "café"])
def test_words_that_carry_an_opinion_are_shown(word: str) -> None:
    assert is_content_word(word)


@pytest.mark.parametrize("word", ["the", "The", "was", "it's", "It’s", "but", ".", "...", "$", "(", "—", ""])
def test_stop_words_and_punctuation_are_not(word: str) -> None:
    assert not is_content_word(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    {
        "batteries": "battery",
        "dishes": "dish",
        "glasses": "glass",
        "menus": "menu",
        "prices": "price",
        "tables": "table",
        "service": "service",
        "bus": "bus",
        "us": "us",
        "pasta": "pasta",
    }.items(),
)
def test_singular(word: str, expected: str) -> None:
    assert singular(word) == expected


def test_one_set_of_rules_knows_odd_plurals_and_words_that_are_none() -> None:
    for one, many in {"tooth": "teeth", "knife": "knives", "menu": "menus"}.items():
        assert singular(many) == one
        assert {one, many} <= set(number_forms(one))
        assert {one, many} <= set(number_forms(many))
    for word in ("lens", "news"):
        assert (singular(word), list(number_forms(word))) == (word, [word])
    assert [word for word in ("prices", "glass", "menu") if looks_plural(word)] == ["prices"]


CHARACTERS = st.text(st.sampled_from("aAbß_-. \t\u00a0iİıIſsSςσΣµμé"), max_size=14)


def by_patterns(text: str, aspect: str) -> tuple[Span, ...]:
    """The definition; some texts take quadratic time."""
    for literal in (re.escape(aspect.strip()), r"\s+".join(map(re.escape, aspect.split()))):
        for pattern in (rf"(?<!\w){literal}(?!\w)", literal):
            for flags in (re.NOFLAG, re.IGNORECASE):
                if found := tuple(match.span() for match in re.finditer(pattern, text, flags)):
                    return found
    return ()


@given(text=CHARACTERS, aspect=CHARACTERS)
@example(text="aa aa", aspect="a")
@example(text="a-a-a", aspect="a-a")
@example(text="İı", aspect="i")
def test_places_are_those_of_the_patterns(text: str, aspect: str) -> None:
    if not aspect.strip():
        return
    expected = by_patterns(text, aspect)
    if expected:
        assert find_occurrences(text, aspect) == expected
    else:
        with pytest.raises(InputError, match="is not in the text"):
            find_occurrences(text, aspect)


def test_folding_keeps_every_length() -> None:
    assert all(len(fold_case(chr(code) + "é")) == 2 for code in range(0x3000))


def search(text: str, aspect: str) -> bool:
    try:
        return bool(find_occurrences(text, aspect))
    except InputError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("a-" * 50_000, "-a" * 25_000 + "-"),
        ("a" * 100_000, "a" * 50_000 + "b"),
        ("é" * 100_000, "É" * 50_000 + "x"),
        ("a " * 50_000, "a  " * 25_000 + "b"),
        ("a" + "\u0315\u0300" * 50_000, "x\u0301"),
    ],
)
def test_no_text_takes_long(text: str, aspect: str) -> None:
    # By patterns these take minutes; in a process of its own, since no thread can be interrupted.
    with ProcessPoolExecutor(1) as pool:
        pool.submit(search, text, aspect).result(60)
