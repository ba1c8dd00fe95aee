"""What a file holds, as part of a message."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.data.shown import is_fault, shown, told

ANYTHING = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner), max_leaves=20
)


@pytest.mark.slow
@settings(deadline=None)
@given(value=ANYTHING)
def test_whatever_is_shown_is_printable_and_no_line_is_broken(value: object) -> None:
    assert shown(value).isprintable()
    assert told(value).isprintable()
    assert len(told(value)) <= 200


def test_short_values_are_shown_as_they_are() -> None:
    assert (shown("soup"), shown(4), shown(["a"])) == ("'soup'", "4", "['a']")


def test_long_values_lose_their_middle() -> None:
    found = shown("a" * 500 + "z" * 500)
    assert len(found) <= 60
    assert found.startswith("'aaa")
    assert found.endswith("zzz'")
    assert "..." in found


def test_what_a_terminal_would_obey_is_spelt_out() -> None:
    assert told("red \x1b[31m\nnext line \u202e") == r"red \x1b[31m next line \u202e"


def test_an_error_without_words_says_its_kind() -> None:
    assert told(KeyError()) == "KeyError"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(0), GeneratorExit()])
def test_a_wish_to_stop_is_no_fault(error: BaseException) -> None:
    assert not is_fault(error)


def test_errors_and_panics_are_faults() -> None:
    panic = type("PanicException", (BaseException,), {})
    assert is_fault(ValueError())
    assert is_fault(panic())
