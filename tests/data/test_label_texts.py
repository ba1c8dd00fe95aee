"""Sentences that show labels: how they are given, and what they become."""

from __future__ import annotations

from typing import Any

import pytest

from pssa.data.label_texts import label_sentences, read_label_texts
from pssa.errors import InputError

TEXTS = {"good": "I like the {aspect}", "bad": "{aspect} is bad"}


def test_texts_are_given_as_a_dict_or_in_one_line() -> None:
    assert read_label_texts(TEXTS) == TEXTS
    assert read_label_texts("good=I like the {aspect}, bad={aspect} is bad") == TEXTS
    assert read_label_texts({}) == {}


@pytest.mark.parametrize("given", [3, "good", {"good": "I like it"}, {"good": "{aspect} {aspect}"}, {"good": 1}])
def test_a_text_says_where_the_aspect_stands(given: Any) -> None:
    with pytest.raises(InputError, match=r"label_texts.*\{aspect\}"):
        read_label_texts(given)


def test_every_label_is_shown_for_every_aspect() -> None:
    found = label_sentences(TEXTS, ("bad", "good"), ["hard disk", "screen"])
    assert [(one.text, one.aspect_text, one.label) for one in found[:2]] == [
        ("hard disk is bad", "hard disk", "bad"),
        ("I like the hard disk", "hard disk", "good"),
    ]
    assert [one.aspect_text for one in found] == ["hard disk", "hard disk", "screen", "screen"]
