"""Fields of a row to `Example` and back: the one place that knows what they mean.

text                 the sentence
aspect (or span)     the aspect as it appears in the text
from, to             its character offsets, half-open; they decide, and must agree with `aspect` if both are given
ordinal              which occurrence of `aspect` is meant, counted from 0, if there are no offsets
label, id, sentence_id, tags
words                character offsets of each word, if the tokenisation is not ours: [[0, 3], ...] or "0-3 ..."

Tables give numbers as text, and data frames give floats with NaN for nothing and arrays for lists; all of them are accepted.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from pssa.data.example import Example, sentence_key
from pssa.data.rows import Row
from pssa.data.text_file import MAX_TEXT
from pssa.data.tokenize import Span, cut_at, tokenize
from pssa.data.validation import is_integer, shorten
from pssa.errors import InputError

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"\s*(-?\d+)(?:\.0*)?\s*", re.ASCII)
_MAX_DIGITS = 18
_SPANS = re.compile(r"(?:\d{1,9}-\d{1,9}(?: |$))+", re.ASCII)
_INSIDE_WORD = re.compile(r"(?<=\w)(?=\w)")
_MAX_SEARCH = 10**8  # comparisons of characters; some texts need all of them
_N_TEXTS = 8  # that are kept in another form, since a text often has several aspects
_MAX_NORMALISED = 1000  # characters
_SPACES = re.compile(r"\s+")


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
        occurrence is taken and `warn` is called.
    :param row: the row of the fields, for errors that quote the file.
    :raises InputError: naming the field that cannot be used.
    """
    row = Row(0, fields) if row is None else row
    text, aspect, words = aspect_from_fields(fields, ordinal_required=ordinal_required, warn=warn, row=row)
    example = Example.from_spans(
        text,
        tokenize(text, aspect) if words is None else cut_at(words, aspect),
        aspect,
        label=_string(fields, "label"),
        id=_string(fields, "id") or default_id,
        sentence_id=_string(fields, "sentence_id") or sentence_key(text),
    )
    tags = _tags(fields)
    return replace(example, tags=tags) if tags else example


def aspect_from_fields(
    fields: Mapping[str, Any], *, ordinal_required: bool, warn: Callable[[str], None] | None, row: Row
) -> tuple[str, Span, tuple[Span, ...] | None]:
    """Return the text that fields describe, the character offsets of its aspect, and those of its words if they are given.

    The parameters are those of `example_from_fields`.

    :raises InputError: naming the field that cannot be used.
    """
    text = _string(fields, "text")
    if text is None and "text" in fields:
        raise InputError("`text` is empty; expected the sentence")
    if text is None:
        raise InputError(row.describe_missing("text", "expected the sentence"))
    if len(text) > MAX_TEXT:
        raise InputError(f"`text` has {len(text)} characters; expected a sentence of at most {MAX_TEXT}")
    aspect, n_places = _locate_aspect(fields, text, row)
    if not (there := text[slice(*aspect)]).strip():
        raise InputError(f"aspect offsets {aspect[0]}-{aspect[1]} contain no word: {shorten(there)}")
    if n_places > 1:
        doubt = f"aspect {shorten(_given_aspect(fields))} occurs {n_places} times"
        if ordinal_required:
            raise AmbiguousAspect(doubt, n_places)
        if warn:
            warn(f"{doubt}; the first is taken")
    return text, aspect, _spans(fields, "words", len(text))


def has_aspect(fields: Mapping[str, Any]) -> bool:
    """Return whether the fields name or locate an aspect, right or wrong."""
    return not all(_is_absent(fields.get(name)) for name in ("aspect", "span", "from", "to", "ordinal"))


def find_aspect_doubt(fields: Mapping[str, Any], text: str, aspect: Span) -> str | None:
    """Return a warning if the aspect was found inside a longer word only and no offsets were given, else None."""
    if _integer(fields, "from") is not None or _spans(fields, "words", len(text)) is not None:
        return None
    cut = next((edge for edge in aspect if _INSIDE_WORD.match(text, edge)), None)
    if cut is None:
        return None
    words = re.finditer(r"\w+", text)
    word = next(word.group() for word in words if word.start() < cut < word.end())
    found = f"aspect {shorten(text[slice(*aspect)])} is found inside the word {shorten(word)} only"
    return f"{found}; check that it is meant"


def fields_of(example: Example) -> dict[str, Any]:
    """Return everything about an example that a file can keep."""
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
    """Return the field `words` for formats without lists; empty if the words are those of our tokeniser."""
    if example.spans == tokenize(example.text, example.aspect_chars):
        return ""
    return spans_as_text(example.spans)


def spans_as_text(spans: Iterable[Sequence[int]]) -> str:
    """Return spans for formats without lists, such as `0-3 4-9`."""
    return " ".join(f"{start}-{end}" for start, end in spans)


def tags_as_text(tags: Sequence[str]) -> str | None:
    """Return tags for formats without lists, with `|` between them; None if a tag would be read as two."""
    return None if any("|" in tag for tag in tags) else "|".join(tags)


class AmbiguousAspect(InputError):
    """An aspect that occurs several times in its text, without anything that says which is meant."""

    def __init__(self, doubt: str, n_places: int) -> None:
        super().__init__(f"{doubt}; say which by `from` and `to`, or by `ordinal` (from 0)")
        self.n_places = n_places


def _given_aspect(fields: Mapping[str, Any]) -> str | None:
    return _string(fields, "aspect") or _string(fields, "span")


def _locate_aspect(fields: Mapping[str, Any], text: str, row: Row) -> tuple[Span, int]:
    """Return the aspect's character offsets, and how many places could be meant; of several the offsets are the first's."""
    aspect = _given_aspect(fields)
    start, end = _integer(fields, "from"), _integer(fields, "to")
    if start is not None and end is not None:
        if not 0 <= start < end <= len(text):
            raise InputError(f"aspect offsets {start}-{end} are not inside the text of {len(text)} characters")
        there = text[start:end]
        # Case and white space may differ: XML attributes have spaces for line breaks, and tables are often lower-cased.
        if aspect not in (None, there) and _fold(there) not in (_fold(aspect), _fold(aspect.strip())):
            found = f"where the text has {shorten(there)}"
            raise InputError(f"aspect {shorten(aspect)} is not at its offsets {start}-{end}, {found}")
        return (start, end), 1
    if start is not None or end is not None:
        raise InputError("only one of `from` and `to` is given; give both or neither")
    if aspect is None and fields.keys() & {"aspect", "span"}:
        raise InputError("`aspect` is empty; expected it, or `from` and `to`")
    if aspect is None:
        name = "span" if row.absent_column("span") else "aspect"
        advice = "" if {"from", "to"} <= fields.keys() else None
        raise InputError(row.describe_missing(name, "expected it, or `from` and `to`", advice))
    if len(text) * len(aspect) > _MAX_SEARCH:
        raise InputError("the aspect and the text are too long to search; give `from` and `to`")
    places = find_occurrences(text, aspect)
    ordinal = _integer(fields, "ordinal")
    if ordinal is not None and not 0 <= ordinal < len(places):
        occurs = f"which occurs {len(places)} times; count from 0"
        raise InputError(f"ordinal {ordinal} of aspect {shorten(aspect)}, {occurs}")
    return places[ordinal or 0], len(places) if ordinal is None else 1


def _fold(text: str) -> str:
    return re.sub(r"\s", " ", text.casefold())


def _string(fields: Mapping[str, Any], name: str) -> str | None:
    """Return the text of a field, or of a whole number; None if it is absent or blank."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        if isinstance(value, int) and is_integer(value):
            return str(value)
        if _is_absent(value):
            return None
        raise InputError(f"`{name}` is {shorten(value)}; expected text")
    if not value.isascii() and _LONE_SURROGATE.search(value):
        raise InputError(f"`{name}` contains half of a surrogate pair, which is not a character; write the whole pair")
    return value if value.strip() else None


def _integer(fields: Mapping[str, Any], name: str) -> int | None:
    """Return the whole number in a field; None if it is absent or blank."""
    value = fields.get(name)
    if value is None or type(value) is int:
        return value
    if _is_absent(value):
        return None
    if isinstance(value, int) and is_integer(value):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = _INTEGER.fullmatch(value) if isinstance(value, str) and len(value) <= _MAX_DIGITS else None
    if found is None:
        raise InputError(f"`{name}` is {shorten(value)}; expected a whole number")
    return int(found.group(1))


def _spans(fields: Mapping[str, Any], name: str, length: int) -> tuple[Span, ...] | None:
    """Return ordered spans inside a text of this length; None if the field is absent."""
    if fields.get(name) is None:
        return None
    value: Any = _as_list(fields.get(name))
    if _is_absent(value):
        return None
    if isinstance(value, str) and _SPANS.fullmatch(value):
        value = [tuple(map(int, pair.split("-"))) for pair in value.split()]
    try:
        found = tuple((start, end) for start, end in value)
        edges = [0, *(edge for span in found for edge in span), length]
        # Equal edges are fine between two words, never inside one.
        ordered = all(left <= right for left, right in pairwise(edges))
        valid = ordered and all(start < end for start, end in found) and all(type(edge) is int for edge in edges)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        expected = f"expected a list of [from, to] offsets, in order and inside the text of {length} characters"
        raise InputError(f"`{name}` is {shorten(value)}; {expected}")
    return found


def _tags(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags, given as a list or as text with `|` between them."""
    if fields.get("tags") is None:
        return ()
    value = _as_list(fields["tags"])
    if _is_absent(value):
        return ()
    if isinstance(value, str):
        value = value.split("|")
    if not isinstance(value, list | tuple) or not all(isinstance(tag, str) for tag in value):
        raise InputError(f"`tags` is {shorten(value)}; expected a list of texts, or one text with | between them")
    return tuple(tag.strip() for tag in value if tag.strip())


def _as_list(value: Any) -> Any:
    """Return the value with lists in place of arrays; arrays of a data frame may hold others."""
    if hasattr(value, "tolist"):
        return [_as_list(item) for item in found] if isinstance(found := value.tolist(), list) else found
    return value


def _is_absent(value: object) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and not value.strip()


def find_occurrences(text: str, aspect: str) -> tuple[Span, ...]:
    """Return every place of the aspect in the text, in order; at least one.

    Whole words come before parts of words, the same case before any case, and other white space last: only the best kind of
    match is returned.
    """
    if found := _find_best(text, aspect.strip()):
        return found
    joined, starts = _collapse_spaces(text)
    if found := _find_best(joined, " ".join(aspect.split())):
        # An aspect neither starts nor ends with a space.
        return tuple((starts[start], starts[end - 1] + 1) for start, end in found)
    # Texts that look the same can differ in their characters; normalising many accents takes quadratic time.
    alike = len(text) <= _MAX_NORMALISED and unicodedata.normalize("NFC", aspect.strip()) in unicodedata.normalize(
        "NFC", text
    )
    advice = "give it as it appears there, or its character offsets"
    if alike:
        advice = "its accents are stored differently there: normalise both to NFC"
    quoted = text if len(text) <= 60 else text[:57] + "..."
    raise InputError(f"aspect {shorten(aspect)} is not in the text {quoted!r}; {advice}")


def _find_best(text: str, aspect: str) -> tuple[Span, ...]:
    if not aspect:
        return ()
    for is_whole in (True, False):
        found = _find(text, aspect, is_whole) or _find(_fold_text(text), fold_case(aspect), is_whole)
        if found:
            return found
    return ()


def _find(text: str, aspect: str, is_whole: bool) -> tuple[Span, ...]:
    """Return places that do not overlap; `is_whole`: with no letter or digit before or after them."""
    found, start = [], text.find(aspect)
    while start >= 0:
        end = start + len(aspect)
        is_free = not is_whole or not (_is_of_word(text[start - 1 : start]) or _is_of_word(text[end : end + 1]))
        if is_free:
            found.append((start, end))
        start = text.find(aspect, end if is_free else start + 1)
    return tuple(found)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@lru_cache(_N_TEXTS)
def _fold_text(text: str) -> str:
    return fold_case(text)


def fold_case(text: str) -> str:
    """Return the text in one case, of the same length: two characters are alike if `re.IGNORECASE` takes them so."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


@lru_cache(4096)
def _fold_character(character: str) -> str:
    # Long s and final sigma share only their upper case with others; some characters are several in another case.
    lower = character.lower()[0]
    folded = lower.upper().lower()
    return folded if len(folded) == 1 else lower


@lru_cache(_N_TEXTS)
def _collapse_spaces(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the text with one space for each run of white space, and where each of its characters starts."""
    pieces, starts, end = [], list[int](), 0
    for match in _SPACES.finditer(text):
        pieces += [text[end : match.start()], " "]
        starts += range(end, match.start() + 1)
        end = match.end()
    return "".join((*pieces, text[end:])), (*starts, *range(end, len(text)))
