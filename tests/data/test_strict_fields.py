"""Strict reading of objects that people edit."""

from __future__ import annotations

import pytest

from pssa.data.strict_fields import integer, list_of, number, object_of, optional, parse_object, record, span, text
from pssa.errors import InputError


def test_an_object_is_read_in_the_order_of_its_table() -> None:
    fields = record(parse_object('{"b": [1, 2], "a": null}'), "", {"a": optional(number), "b": list_of(number)})
    assert list(fields.items()) == [("a", None), ("b", (1.0, 2.0))]


@pytest.mark.parametrize("line", ["", "3", "[]", '"text"', "null", "{", "[" * 100_000, "1" * 5000])
def test_a_line_that_is_no_object_is_refused(line: str) -> None:
    with pytest.raises(InputError, match="expected one"):
        parse_object(line)


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_only_whole_numbers_are_integers(value: object) -> None:
    with pytest.raises(InputError, match=r"`n` is .*; expected a whole number"):
        integer(value, "n")


@pytest.mark.parametrize("value", [False, "1", None, float("inf"), float("nan"), 10**400])
def test_only_finite_numbers_are_numbers(value: object) -> None:
    with pytest.raises(InputError, match=r"`n` is .*; expected a (finite )?number"):
        number(value, "n")


@pytest.mark.parametrize("value", [[1], [1, 2, 3], [2, 2], [3, 2], [-1, 2], [0, 1.5], "ab", {"0": 1}])
def test_a_span_is_two_offsets_in_order(value: object) -> None:
    with pytest.raises(InputError, match=r"`s` is "):
        span(value, "s")


def test_the_place_of_a_fault_inside_is_named() -> None:
    table = {"rows": list_of(object_of({"name": text}))}
    with pytest.raises(InputError, match=r"`rows\[1\].name` is 3; expected text"):
        record({"rows": [{"name": "a"}, {"name": 3}]}, "", table)
    with pytest.raises(InputError, match=r"`rows\[0\]` has the unknown key 'size'; expected name"):
        record({"rows": [{"name": "a", "size": 1}]}, "", table)
    with pytest.raises(InputError, match=r"`rows\[0\]` is 1; expected an object"):
        record({"rows": [1]}, "", table)


def test_long_values_are_shortened_in_messages() -> None:
    with pytest.raises(InputError) as caught:
        integer("x" * 10_000, "n")
    assert len(str(caught.value)) < 100
