"""Checks of values from outside, how messages quote them, and how numbers are shown."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.data import formats
from pssa.data.rows import Problem
from pssa.data.text_file import InputFile
from pssa.data.validation import (
    format_error,
    integer,
    is_fault,
    is_finite_number,
    list_of,
    number,
    object_of,
    optional,
    parse_fields,
    parse_object,
    shorten,
    span,
    text,
)
from pssa.display import p_value, percent, points
from pssa.errors import InputError


def test_an_object_is_read_in_the_order_of_its_table() -> None:
    fields = parse_fields(parse_object('{"b": [1, 2], "a": null}'), "", {"a": optional(number), "b": list_of(number)})
    assert list(fields.items()) == [("a", None), ("b", (1.0, 2.0))]


@pytest.mark.parametrize("line", ["", "3", "[]", '"text"', "null", "{", "[" * 100_000, "1" * 5000])
def test_a_line_that_is_no_object_is_refused(line: str) -> None:
    with pytest.raises(InputError, match="expected one"):
        parse_object(line)


@pytest.mark.parametrize(
    ("parse", "expected", "values"),
    [
        (integer, "a whole number", (True, 1.0, "1", None)),
        (number, "a (finite )?number", (False, "1", None, float("inf"), float("nan"), 10**400)),
        (span, "", ([1], [1, 2, 3], [2, 2], [3, 2], [-1, 2], [0, 1.5], "ab", {"0": 1})),
    ],
)
def test_other_values_are_refused(
    parse: Callable[[object, str], object], expected: str, values: tuple[object, ...]
) -> None:
    for value in values:
        with pytest.raises(InputError, match=f"`n` is .*; expected {expected}"):
            parse(value, "n")


def test_the_place_of_a_fault_inside_is_named() -> None:
    table = {"rows": list_of(object_of({"name": text}))}
    with pytest.raises(InputError, match=r"`rows\[1\].name` is 3; expected text"):
        parse_fields({"rows": [{"name": "a"}, {"name": 3}]}, "", table)
    with pytest.raises(InputError, match=r"`rows\[0\]` has the unknown key 'size'"):
        parse_fields({"rows": [{"name": "a", "size": 1}]}, "", table)
    with pytest.raises(InputError, match=r"`rows\[0\]` is 1; expected an object"):
        parse_fields({"rows": [1]}, "", table)


ANYTHING = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner), max_leaves=20
)


@pytest.mark.slow
@settings(deadline=None)
@given(value=ANYTHING)
def test_whatever_is_shown_is_printable_and_no_line_is_broken(value: object) -> None:
    assert shorten(value).isprintable()
    assert format_error(value).isprintable()
    assert len(format_error(value)) <= 200


def test_long_values_lose_their_middle() -> None:
    found = shorten("a" * 500 + "z" * 500)
    assert len(found) <= 60
    assert found.startswith("'aaa")
    assert found.endswith("zzz'")
    assert "..." in found


def test_what_a_terminal_would_obey_is_spelt_out() -> None:
    assert format_error("red \x1b[31m\nnext line \u202e") == r"red \x1b[31m next line \u202e"


def test_errors_and_panics_are_faults_and_a_wish_to_stop_is_none() -> None:
    panic = type("PanicException", (BaseException,), {})
    assert is_fault(ValueError())
    assert is_fault(panic())
    assert not any(map(is_fault, (KeyboardInterrupt(), SystemExit(0), GeneratorExit())))


@pytest.mark.parametrize("value", [True, math.nan, -math.inf, "1", None, 10**400, 1j])
def test_finite_numbers(value: object) -> None:
    assert is_finite_number(1)
    assert is_finite_number(0.5)
    assert not is_finite_number(value)


def test_shares_are_percentages_with_one_decimal_and_differences_have_a_sign() -> None:
    assert percent(0.68757) == "68.8 %"
    assert percent(0.2, 0) == "20 %"
    assert points(0.0123) == "+1.2 points"
    assert points(-0.5) == "-50.0 points"


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "p < 0.001"), (0.0009, "p < 0.001"), (0.0124, "p = 0.012"), (1.0, "p = 1.000")]
)
def test_no_p_is_zero(p: float, text: str) -> None:
    assert p_value(p) == text


OBJECTS = [{}, {"a": {"b": '}{"\\'}, "c": '"[,]\\"'}, {"text": "\\\\", "list": [{}, {"x": "\u2028😀"}]}, {}]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_objects_are_found_wherever_a_part_ends(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_OBJECTS_CHUNK", size)
    text = "\ufeff[" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in OBJECTS) + "]"
    (tmp_path / "list.json").write_text(text, "utf-8")
    assert list(formats.read_objects(InputFile(tmp_path / "list.json"))) == OBJECTS


@pytest.mark.parametrize(
    ("rest", "said"), [('{"a": ', "cut short"), ('{"a" 1}, {}', "not valid JSON"), ("7", "begins with")]
)
def test_what_is_no_object_ends_the_file(rest: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_bytes(b'[{"a": 1}, {"b": "\xe9"}, ' + rest.encode())
    first, bad, last = formats.read_objects(InputFile(tmp_path / "list.json"))
    assert first == {"a": 1}
    assert isinstance(bad, Problem)
    assert "UTF-8" in bad.message
    assert isinstance(last, Problem)
    assert (last.line, last.last) == (3, True)
    assert said in last.message
