"""Singular and plural of English nouns."""

from __future__ import annotations

import pytest

from pssa.data.plurals import looks_plural, number_forms, singular


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
