"""Places of an aspect: the same as by regular expressions, in linear time."""

from __future__ import annotations

import re
from concurrent.futures import ProcessPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pssa.data.occurrences import find_occurrences, fold_case
from pssa.data.tokenize import Span
from pssa.errors import InputError

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
