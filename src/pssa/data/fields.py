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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NoReturn

from pssa.data.example import DEFAULT_LABELS, Example, sentence_key
from pssa.data.labels import LabelMap, label_key
from pssa.data.occurrences import find_occurrences
from pssa.data.rows import Row
from pssa.data.text_file import MAX_TEXT
from pssa.data.tokenize import Span, cut_at, tokenize
from pssa.data.validation import is_integer, shorten
from pssa.errors import InputError, setting

CONFLICT = "conflict"
MAX_LABEL = 60  # characters of a label that `check` proposes to declare

_LABEL_MAP = setting("label_map")
_CONFLICT_MODES = ("drop", "keep", "error")
_SHORT_LABELS = {"pos": "positive", "neg": "negative", "neu": "neutral"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"\s*(-?\d+)(?:\.0*)?\s*", re.ASCII)
_MAX_DIGITS = 18
_SPANS = re.compile(r"(?:\d{1,9}-\d{1,9}(?: |$))+", re.ASCII)
_INSIDE_WORD = re.compile(r"(?<=\w)(?=\w)")
_MAX_SEARCH = 10**8  # comparisons of characters; some texts need all of them


def example_from_fields(
    fields: Mapping[str, Any],
    *,
    ordinal_required: bool,
    default_id: str = "0",
    default_sentence_id: Callable[[str], str] = sentence_key,
    warn: Callable[[str], None] | None = None,
    row: Row | None = None,
) -> Example:
    """Build the example that the fields describe; `default_id` is for fields without an `id`.

    :param default_sentence_id: makes the `sentence_id` of a text whose fields have none.
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
        sentence_id=_string(fields, "sentence_id") or default_sentence_id(text),
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


class UnknownLabel(InputError):
    """A label that was not declared."""

    def __init__(self, label: str, expected: str) -> None:
        super().__init__(f"unknown label {shorten(label)}; {expected}")
        # Many may be held at once; one character too many is enough to see that it cannot be declared.
        self.label = label[: MAX_LABEL + 1]


@dataclass(frozen=True, slots=True)
class LabelRule:
    """The declared labels, and whether instances labelled `conflict` are dropped if that is not one of them."""

    labels: tuple[str, ...]
    drops_conflict: bool
    run: str = ""  # the run whose labels these are; empty if the caller declares them
    mapped: Mapping[str, str] = field(default_factory=dict)  # our label by the key of the file's; empty: drop it

    @classmethod
    def of(cls, labels: tuple[str, ...], conflict: str, run: str = "", label_map: LabelMap | None = None) -> LabelRule:
        """Build the rule; `conflict` is `drop`, `keep` (as one more label) or `error`.

        Where a map gives other labels than the default ones and none are declared, those of the map are.
        """
        if conflict not in _CONFLICT_MODES:
            modes = ", ".join(_CONFLICT_MODES)
            raise InputError(f"{setting('conflict')} is {conflict!r}; expected one of {modes}")
        if len(set(labels)) != len(labels) or len(labels) < 2 or not all(labels):
            raise InputError(f"{setting('labels')} is {', '.join(labels)!r}; expected two or more, each once")
        targets = tuple(dict.fromkeys(label for label in (label_map or {}).values() if label))
        if unknown := [label for label in targets if label not in labels]:
            if run or labels != DEFAULT_LABELS or len(targets) < 2:
                what = f"{setting('label_map')} gives {shorten(unknown[0])}, which is not one of {', '.join(labels)}"
                raise InputError(f"{what}; " + ("map to these" if run else f"declare it with {setting('labels')}"))
            labels = targets
        if conflict == "keep" and CONFLICT not in labels:
            labels = (*labels, CONFLICT)
        mapped = {label_key(name): label for name, label in (label_map or {}).items()}
        return cls(labels, conflict == "drop" and CONFLICT not in labels, run, mapped)

    def normalise(self, label: str | None) -> str:
        """Return the declared label, given in any case or in its short form; `conflict` even if it is dropped."""
        if label is None:
            raise InputError(f"no `label`; {self._expected}")
        key = label_key(label)
        if key in self.mapped:
            return self.mapped[key]
        if label in self.labels:
            return label
        for declared in (*self.labels, CONFLICT) if self.drops_conflict else self.labels:
            if declared.casefold() in (key, _SHORT_LABELS.get(key)):
                return declared
        if self.run:
            known = f"{self.run} knows {', '.join(self.labels)}"
            raise UnknownLabel(label, f"{known}: relabel the data, or say what it means with {_LABEL_MAP}")
        advice = f"map it with {_LABEL_MAP}, or declare yours with {setting('labels')}"
        raise UnknownLabel(label, f"{self._expected}; {advice}")

    def drops(self, label: str | None) -> bool:
        """Whether the label is mapped to nothing, so that its instances are left out."""
        return label is not None and self.mapped.get(label_key(label)) == ""

    def refuse_unlabelled(self, row: Row) -> NoReturn:
        """Refuse a row without a label."""
        raise InputError(row.describe_missing("label", self._expected))

    @property
    def _expected(self) -> str:
        return f"expected one of {', '.join(self.labels)}"


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
