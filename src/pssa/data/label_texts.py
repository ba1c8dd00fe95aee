"""Label texts: for each label a sentence about an aspect that has it, such as `the {aspect} is great`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pssa.data.example import Example
from pssa.data.validation import shorten
from pssa.errors import InputError

PLACE = "{aspect}"  # where the aspect stands in a text
ENGLISH = {
    "positive": f"the {PLACE} is great",
    "negative": f"the {PLACE} is terrible",
    "neutral": f"there is a {PLACE}",
}
_MAX_CHARACTERS = 200


def read_label_texts(given: Any) -> dict[str, str]:
    """Return the texts by label that a dict, or `positive=the {aspect} is great,negative=...`, gives; none for an empty one.

    :raises InputError: if a text does not have the aspect's place once.
    """
    expected = f"expected a sentence with {PLACE} for each label, such as positive={ENGLISH['positive']}"
    if isinstance(given, str):
        parts = (part.partition("=") for part in given.split(",") if part.strip())
        given = {label: text for label, _, text in parts}
    if not isinstance(given, Mapping):
        raise InputError(f"label_texts is {shorten(given)}; {expected}")
    for label, text in given.items():
        is_text = isinstance(text, str) and text.count(PLACE) == 1 and len(text) <= _MAX_CHARACTERS
        if not is_text or not isinstance(label, str):
            raise InputError(f"label_texts has {shorten(text)} for {shorten(label)}; {expected}")
    return {label.strip(): text.strip() for label, text in given.items()}


def label_sentences(texts: Mapping[str, str], labels: Sequence[str], aspects: Iterable[str]) -> list[Example]:
    """Return the sentence of each label about each aspect."""
    sentences = []
    for aspect in aspects:
        for label in labels:
            text, start = texts[label], texts[label].index(PLACE)
            span = start, start + len(aspect)
            sentences.append(Example.from_text(text.replace(PLACE, aspect), span, label=label))
    return sentences
