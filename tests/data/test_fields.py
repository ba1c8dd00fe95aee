"""Fields to examples: placing the aspect, and values that cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pssa.data.fields import example_from_fields, find_aspect_doubt
from pssa.errors import InputError

_TWICE = "The app, an apple and an app"  # "app" at 4-7, 12-15 (inside a word) and 25-28


def _offsets(**fields: Any) -> tuple[int, int]:
    return example_from_fields(fields, ordinal_required=True).aspect_chars


def test_whole_words_come_before_parts_and_the_same_case_before_any() -> None:
    assert _offsets(text=_TWICE, aspect="app", ordinal=1) == (25, 28)
    assert _offsets(text="an apple", aspect="app") == (3, 6)
    assert _offsets(text="Menu and menu", aspect="menu") == (9, 13)
    assert _offsets(text="the MENU", aspect="menu") == (4, 8)


def test_an_aspect_whose_accents_are_stored_otherwise_is_said_to_be_so() -> None:
    with pytest.raises(InputError, match=r"accents .*NFC$"):
        _offsets(text="Das Gera\u0308t ist gut.", aspect="Ger\u00e4t")


def test_white_space_may_differ_where_the_aspect_stands_nowhere_as_it_is() -> None:
    assert _offsets(text="The  battery \u00a0 life is bad", aspect=" battery life") == (5, 19)
    assert _offsets(text="The Battery\nlife", aspect="battery  life") == (4, 16)
    assert _offsets(text="a menu  card, a menu card", aspect="menu card") == (16, 25)
    with pytest.raises(InputError, match="'batterylife' is not in the text"):
        _offsets(text="The battery life", aspect="batterylife")


@pytest.mark.parametrize(
    ("text", "aspect", "word"),
    [
        ("The smart phone is good", "art", "smart"),
        ("two screens", "screen", "screens"),
        ("an artful smart art", "art", None),
        ("a.net app", ".net", None),
        ("built-in mic", "built", None),
        ("the MENU", "menu", None),
    ],
)
def test_an_aspect_that_is_found_inside_a_word_only_is_doubtful(text: str, aspect: str, word: str | None) -> None:
    fields: dict[str, Any] = {"text": text, "aspect": aspect}
    example = example_from_fields(fields, ordinal_required=True)
    said = f"aspect {aspect!r} is found inside the word {word!r} only; check that it is meant"
    start, end = example.aspect_chars
    assert find_aspect_doubt(fields, text, (start, end)) == (said if word else None)
    assert find_aspect_doubt(fields | {"from": start, "to": end}, text, (start, end)) is None
    assert find_aspect_doubt(fields | {"words": [[0, len(text)]]}, text, (start, end)) is None


def test_offsets_decide_and_the_name_span_is_as_good_as_aspect() -> None:
    assert _offsets(text=_TWICE, span="APP", **{"from": 25, "to": "28"}) == (25, 28)


def test_an_ambiguous_aspect_is_an_error_in_training_and_a_warning_in_prediction() -> None:
    fields = {"text": _TWICE, "aspect": "app"}
    with pytest.raises(InputError, match="'app' occurs 2 times; say which"):
        example_from_fields(fields, ordinal_required=True)
    heard: list[str] = []
    assert example_from_fields(fields, ordinal_required=False, warn=heard.append).aspect_chars == (4, 7)
    assert heard == ["aspect 'app' occurs 2 times; the first is taken"]
    assert example_from_fields(fields, ordinal_required=False).aspect_chars == (4, 7)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"aspect": "x"}, "no `text`"),
        ({"text": "  ", "aspect": "x"}, "`text` is empty; expected the sentence"),
        ({"text": None, "aspect": "x"}, "`text` is empty"),
        ({"text": ["a"], "aspect": "a"}, "`text` is .*; expected text"),
        ({"text": "a menu"}, "no `aspect`"),
        ({"text": "a menu", "aspect": " "}, "`aspect` is empty; expected it, or `from` and `to`"),
        ({"text": "a menu", "aspect": "bar"}, "'bar' is not in the text"),
        ({"text": "a menu", "aspect": "menu", "ordinal": 1}, "ordinal 1 .* occurs 1 times"),
        ({"text": "a menu", "from": 2}, "only one of"),
        ({"text": "a menu", "from": 2, "to": 7}, "2-7 are not inside the text of 6"),
        ({"text": "a menu", "from": -4, "to": 6}, "not inside"),
        ({"text": "a menu", "from": 6, "to": 2}, "not inside"),
        ({"text": "a menu", "from": 1, "to": 2}, "contain no word"),
        ({"text": "a menu", "from": "x", "to": 6}, "`from` is 'x'; expected a whole number"),
        ({"text": "a menu", "from": True, "to": 6}, "expected a whole number"),
        ({"text": "a menu", "from": 0.5, "to": 6}, "expected a whole number"),
        ({"text": "a menu", "from": "9" * 5000, "to": 6}, "expected a whole number"),
        ({"text": "a menu", "from": 0, "to": 4, "aspect": "menu"}, "not at its offsets 0-4, where the text has 'a me'"),
        ({"text": "a menu \ud83d", "aspect": "menu"}, "surrogate"),
        ({"text": "a menu", "aspect": "menu", "words": [[0, 1], [2, 9]]}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "words": [[0, 3], [2, 6]]}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "words": [[0, 0], [2, 6]]}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "words": [[True, 6]]}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "words": ["a", "menu"]}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "words": "12"}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "words": "0-1 2-9"}, "`words` is "),
        ({"text": "a menu", "aspect": "menu", "tags": 3}, "`tags` is 3"),
    ],
)
def test_values_that_cannot_be_used_are_named(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        example_from_fields(fields, ordinal_required=True)


def test_given_words_are_cut_at_the_aspect() -> None:
    fields = {"text": "a menu-like", "from": 2, "to": 6, "words": [[0, 1], [2, 11]]}
    example = example_from_fields(fields, ordinal_required=True)
    assert example.words == ("a", "menu", "-like")
    assert example.aspect == (1, 2)


def test_numbers_are_welcome_as_ids_and_nan_is_nothing() -> None:
    fields = {"id": 12, "text": "a menu", "aspect": "menu", "from": float("nan"), "to": float("nan"), "label": None}
    example = example_from_fields(fields, ordinal_required=True)
    assert (example.id, example.label, example.aspect_chars) == ("12", None, (2, 6))


def test_arrays_of_a_data_frame_are_lists() -> None:
    words = np.array([np.array([0, 1]), np.array([2, 6]), np.array([6, 7])], dtype=object)
    fields = {"text": "a menu.", "aspect": "menu", "words": words, "tags": np.array(["hard", "new"], dtype=object)}
    example = example_from_fields(fields, ordinal_required=True)
    assert (example.spans, example.tags) == (((0, 1), (2, 6), (6, 7)), ("hard", "new"))
    with pytest.raises(InputError, match="`tags` is 5; expected a list"):
        example_from_fields({**fields, "tags": np.int64(5)}, ordinal_required=True)
