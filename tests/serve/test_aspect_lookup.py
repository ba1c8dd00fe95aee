"""Aspects in their texts."""

from __future__ import annotations

import pytest

from pssa.serve.aspect_lookup import LocatedAspect, locate_aspects, locate_fields
from pssa.serve.schemas import Item


def placed(text: str, *aspects: object) -> list[LocatedAspect]:
    [row] = locate_aspects([Item.model_validate({"text": text, "aspects": list(aspects)})])
    return row


def test_an_aspect_is_found_by_its_words_and_by_its_offsets() -> None:
    for found in placed("The screen is huge", "screen", {"from": 4, "to": 10}, "SCREEN"):
        assert found.example is not None
        assert (found.example.aspect_chars, found.warning) == ((4, 10), "")


def test_the_first_of_two_is_taken_with_a_warning() -> None:
    [found] = placed("keys and keys", "keys")
    assert found.example is not None
    assert found.example.aspect_chars == (0, 4)
    assert found.warning == "aspect 'keys' occurs 2 times; the first is taken"


def test_an_aspect_inside_a_word_is_taken_with_a_warning() -> None:
    searched, given = placed("a smart phone", "art", {"from": 4, "to": 7})
    assert searched.example == given.example
    assert searched.warning == "aspect 'art' is found inside the word 'smart' only; check that it is meant"
    assert given.warning == ""


def test_offsets_count_code_points() -> None:
    # Two UTF-16 units, one code point.
    [found] = placed("😀 screen", {"from": 2, "to": 8})
    assert found.example is not None
    assert found.example.aspect_text == "screen"


@pytest.mark.parametrize(
    ("text", "aspect", "error"),
    [
        ("huge", "screen", "aspect 'screen' is not in the text 'huge'; give it as it stands there, or `from` and `to`"),
        ("huge", {"from": 2, "to": 9}, "aspect offsets 2-9 are not inside the text of 4 characters"),
        ("huge", {"from": 3, "to": 3}, "aspect offsets 3-3 are not inside the text of 4 characters"),
        ("a  b", {"from": 1, "to": 3}, "aspect offsets 1-3 hold no word: '  '"),
        ("huge", " ", "the aspect is blank; expected words of the text, or `from` and `to`"),
        (" ", "screen", "the text is blank; expected a sentence"),
    ],
)
def test_what_cannot_be_placed_says_why(text: str, aspect: object, error: str) -> None:
    assert placed(text, aspect) == [LocatedAspect(None, error=error)]


def test_the_fields_of_a_row_mean_what_they_mean_in_a_file() -> None:
    found = locate_fields({"text": "keys and keys", "aspect": "keys", "ordinal": "1", "id": "7"})
    assert found.example is not None
    assert found.example.aspect_chars == (9, 13)
