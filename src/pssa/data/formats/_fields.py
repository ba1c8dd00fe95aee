"""Fields to `Example` and back: the one place that knows what the names mean.

text                 the sentence
aspect (or span)     the aspect as it stands in the text
from, to             its character offsets, half-open; they decide, and must agree with `aspect` where both are given
ordinal              which occurrence of `aspect` is meant, from 0, where there are no offsets
label, id, sentence_id, tags
words                character offsets of each word, where the tokenisation is not ours: [[0, 3], ...] or "0-3 ..."
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pssa.data.example import Example, sentence_key
from pssa.data.formats._place import check_offsets, cut_word, occurrences
from pssa.data.formats._rows import Row
from pssa.data.formats._text import LONGEST_TEXT
from pssa.data.formats._values import integer, spans, spans_as_text, string, tags
from pssa.data.tokenize import Span, cut_at, tokenize
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["KNOWN", "doubt_of_place", "example_from_fields", "fields_of", "words_as_text"]

# Every other field is the user's own.
KNOWN = ("text", "aspect", "span", "from", "to", "ordinal", "label", "id", "sentence_id", "tags", "words")

_MOST_WORK = 10**8  # comparisons of characters; texts can be made that take all of them


def example_from_fields(
    fields: Mapping[str, Any],
    *,
    ordinal_required: bool,
    default_id: str = "0",
    warn: Callable[[str], None] | None = None,
    row: Row | None = None,
) -> Example:
    """Build the example that the fields describe; `default_id` is for fields without an `id`.

    :param ordinal_required: whether an aspect that occurs twice must come with offsets or an ordinal. If not, the first
        occurrence is taken and `warn` is told.
    :param row: that the fields are of, for errors to say what the file has.
    :raises InputError: naming the field that cannot be used.
    """
    text = string(fields, "text")
    if text is None and "text" in fields:
        raise InputError("`text` is empty; expected the sentence")
    row = Row(0, fields) if row is None else row
    if text is None:
        raise InputError(row.without("text", "expected the sentence"))
    if len(text) > LONGEST_TEXT:
        raise InputError(f"`text` has {len(text)} characters; expected a sentence, of at most {LONGEST_TEXT}")
    aspect, doubt = _place(fields, text, row)
    if doubt and ordinal_required:
        raise InputError(f"{doubt}; say which by `from` and `to`, or by `ordinal` (from 0)")
    if doubt and warn:
        warn(f"{doubt}; the first is taken")
    example = Example.from_spans(
        text,
        _words(fields, text, aspect),
        aspect,
        label=string(fields, "label"),
        id=string(fields, "id") or default_id,
        sentence_id=string(fields, "sentence_id") or sentence_key(text),
    )
    given = tags(fields)
    return replace(example, tags=given) if given else example


def doubt_of_place(fields: Mapping[str, Any], example: Example) -> str | None:
    """Why the example's aspect may not be what was meant: nobody gave its offsets, and it was found inside a word only."""
    if integer(fields, "from") is not None or spans(fields, "words", len(example.text)) is not None:
        return None
    word = cut_word(example.text, example.aspect_chars)
    return (
        word
        and f"aspect {shorten(example.aspect_text)} is found inside the word {shorten(word)} only; check that it is meant"
    )


def fields_of(example: Example) -> dict[str, Any]:
    """Everything about an example that a file can keep."""
    start, end = example.aspect_chars
    return {
        "id": example.id,
        "sentence_id": example.sentence_id,
        "text": example.text,
        "aspect": example.aspect_text,
        "from": start,
        "to": end,
        "label": example.label,
        "words": [list(span) for span in example.spans],
        "tags": list(example.tags),
    }


def words_as_text(example: Example) -> str:
    """The field `words` for formats without lists; empty where the words are those that our tokeniser finds."""
    if example.spans == tokenize(example.text, example.aspect_chars):
        return ""
    return spans_as_text(example.spans)


def _place(fields: Mapping[str, Any], text: str, row: Row) -> tuple[Span, str | None]:
    """The aspect's character offsets and, where these are a guess, why."""
    aspect = string(fields, "aspect") or string(fields, "span")
    start, end = integer(fields, "from"), integer(fields, "to")
    if start is not None and end is not None:
        return check_offsets(text, (start, end), aspect), None
    if start is not None or end is not None:
        raise InputError("only one of `from` and `to` is given; give both or neither")
    if aspect is None and fields.keys() & {"aspect", "span"}:
        raise InputError("`aspect` is empty; expected it, or `from` and `to`")
    if aspect is None:
        name = "span" if "span" in row.absent else "aspect"
        advice = "" if {"from", "to"} <= fields.keys() else None
        raise InputError(row.without(name, "expected it, or `from` and `to`", advice))
    if len(text) * len(aspect) > _MOST_WORK:
        raise InputError("the aspect and the text are too long to look for one in the other; give `from` and `to`")
    found = occurrences(text, aspect)
    ordinal = integer(fields, "ordinal")
    if ordinal is not None and not 0 <= ordinal < len(found):
        raise InputError(
            f"ordinal {ordinal} of aspect {shorten(aspect)}, which occurs {len(found)} times; count from 0"
        )
    doubt = f"aspect {shorten(aspect)} occurs {len(found)} times" if len(found) > 1 and ordinal is None else None
    return found[ordinal or 0], doubt


def _words(fields: Mapping[str, Any], text: str, aspect: Span) -> tuple[Span, ...]:
    given = spans(fields, "words", len(text))
    return tokenize(text, aspect) if given is None else cut_at(given, aspect)
