"""`AspectSentence`, a sentence with all its aspects, and reading such sentences from files.

A tagger learns from what is an aspect and from what is not. So a file must list every aspect of a sentence, and should have
sentences without any. SemEval XML and Label Studio's JSON do both. Formats with named columns do, if each row has a list:

    {"text": "The screen is great", "aspects": [{"from": 4, "to": 10}]}

Triplets are of whole reviews, of which each sentence counts. A file with one aspect a line may leave some out; it is refused
unless its lines are to be grouped by sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pssa.aspects.sentences import split_review
from pssa.data.example import sentence_key
from pssa.data.fields import example_from_fields
from pssa.data.formats import find_format, scan
from pssa.data.io import check_encoding, format_of
from pssa.data.reviews import Review
from pssa.data.rows import ColumnNames, Columns, Dropped, Event, Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.tokenize import Span, tokenize
from pssa.data.validation import is_integer, shorten
from pssa.errors import InputError, setting

_LISTED = "aspects"  # the field with all aspects of a row
_MAX_CHARACTERS = 100_000  # of one sentence
_MAX_ASPECTS = 1000  # of one sentence
_PART = re.compile(r"[-/]|[^-/]+")  # of a word
_GROUP = setting("group", option="--group")
_EXPECTED = '`aspects`, a list of all aspects of the text such as [{"from": 4, "to": 10}], which may be empty'


@dataclass(frozen=True, slots=True)
class AspectSentence:
    """A sentence and the character offsets of all its aspects, in order and without overlap."""

    text: str
    aspects: tuple[Span, ...]
    id: str = "0"
    sentence_id: str = ""  # equal for copies of a sentence; splits keep them together

    @classmethod
    def build(cls, text: str, aspects: Iterable[Span], id: str = "0", sentence_id: str = "") -> AspectSentence:
        """Check the offsets and put them in order; of aspects that overlap the longest is kept.

        :raises InputError: if an aspect is empty or outside the text.
        """
        kept: list[Span] = []
        for start, end in sorted(aspects, key=lambda span: (span[0] - span[1], span)):
            if not 0 <= start < end <= len(text) or not text[start:end].strip():
                place = f"{shorten(start)}-{shorten(end)}"
                what = f"aspect offsets {place} hold no word of the text of {len(text)} characters"
                raise InputError(f"{what}; correct them")
            if all(end <= other or its_end <= start for other, its_end in kept):
                kept.append((start, end))
        return cls(text, tuple(sorted(kept)), id, sentence_id or sentence_key(text))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of a row that `read_sentences` reads."""
        aspects = [{"from": start, "to": end} for start, end in self.aspects]
        return {"id": self.id, "sentence_id": self.sentence_id, "text": self.text, _LISTED: aspects}


def cut_words(text: str) -> tuple[Span, ...]:
    """Return the words of a text; unlike elsewhere they end at hyphens and slashes, as aspects do (`size/weight`)."""
    return tuple([part.span() for start, end in tokenize(text) for part in _PART.finditer(text, start, end)])


def read_sentences(
    path: str | Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    encoding: str | None = None,
    group: bool = False,
) -> tuple[AspectSentence, ...]:
    """Read sentences with all their aspects; the label of an aspect is not looked at.

    :param group: whether to take lines of the same sentence together, for a file with one aspect a line.
    :raises InputError: naming the file and the line of the first row that cannot be used.
    """
    check_encoding(encoding)
    file = InputFile.of(path, encoding)
    name = format_of(file, format)
    has_all = find_format(name).lists_all_aspects
    named = replace(Columns.of(columns), text_only=not (group or has_all))
    if scan_reviews := find_format(name).scan_reviews:
        return tuple(_sentences_of(_usable(path, scan_reviews(file))))
    events = _usable(path, scan(file, name, named))
    found = tuple(_grouped(path, events, by_line=has_all) if group or has_all else _listed(path, events))
    if not found:
        raise InputError.at(path, None, "has no sentences; expected at least one")
    return found


def _usable(path: str | Path, events: Iterable[Event | Review]) -> Iterator[Any]:
    """Yield what is in a file, up to the first problem.

    :raises InputError: naming its line.
    """
    for event in events:
        if isinstance(event, Problem):
            raise InputError.at(path, event.line, event.message)
        yield event


def _sentences_of(reviews: Iterable[Review | Dropped]) -> Iterator[AspectSentence]:
    for found in reviews:
        if isinstance(found, Review):
            for number, each in enumerate(split_review(found)[0]):
                name, key = f"{found.line}:{number}", sentence_key(found.text)
                yield AspectSentence.build(each.text, each.aspects, name, key)


def lists_all_aspects(path: str | Path, format: str | None = None) -> bool:
    """Return whether a file of labelled instances is sure to have all aspects of a sentence."""
    return find_format(format_of(path, format)).lists_all_aspects


def _listed(path: str | Path, events: Iterable[Row | Dropped]) -> Iterator[AspectSentence]:
    """Yield the sentence of each row that has a list of aspects."""
    for event in events:
        if isinstance(event, Dropped):
            continue
        if _LISTED not in event.fields:
            advice = f"add them, or join lines of the same sentence with {_GROUP} if the file has all aspects"
            raise InputError.at(path, event.line, f"has no {_EXPECTED}; {advice}")
        given, key = event.fields.get("id"), event.fields.get("sentence_id")
        name = str(given) if isinstance(given, str | int) and str(given) else str(event.line)
        try:
            text = require_text(event)
            values = _aspect_list(event.fields[_LISTED])
            if len(values) > _MAX_ASPECTS:
                raise InputError(f"`{_LISTED}` has {len(values)} aspects; expected at most {_MAX_ASPECTS}")
            aspects = [_offsets(value, text) for value in values]
            yield AspectSentence.build(text, aspects, name, str(key) if key else "")
        except InputError as error:
            raise InputError.at(path, event.line, error.message) from error


def require_text(row: Row) -> str:
    """Return the text of a row.

    :raises InputError: if it has none, or one that is too long or not made of whole characters.
    """
    if "text" not in row.fields:
        raise InputError(row.describe_missing("text", "expected a text"))
    text = row.fields["text"]
    if text is None or text != text:  # NaN stands for nothing in a data frame
        return ""
    if not isinstance(text, str):
        raise InputError(f"`text` is {shorten(text)}; expected text")
    return check_text(text)


def check_text(text: str) -> str:
    """Return the text.

    :raises InputError: if it is too long or not made of whole characters.
    """
    if len(text) > _MAX_CHARACTERS:
        raise InputError(f"`text` has {len(text)} characters; expected at most {_MAX_CHARACTERS}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("`text` holds half of a surrogate pair; write the whole pair") from None
    return text


def _aspect_list(value: Any) -> list[Any]:
    if isinstance(value, str):  # a table without lists
        try:
            value = json.loads(value or "[]")
        except (ValueError, RecursionError):
            value = None
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise InputError(f"`{_LISTED}` is {shorten(value)}; expected {_EXPECTED}")
    return list(value)


def _offsets(value: Any, text: str) -> Span:
    if not isinstance(value, Mapping) or not all(is_integer(value.get(key)) for key in ("from", "to")):
        raise InputError(f'an aspect is {shorten(value)}; expected an object such as {{"from": 4, "to": 10}}')
    start, end = int(value["from"]), int(value["to"])
    named = value.get("aspect")
    if isinstance(named, str) and text[max(start, 0) : max(end, 0)].casefold() != named.casefold():
        raise InputError(f"aspect {shorten(named)} is not at its offsets {start}-{end}; correct them")
    return start, end


def _grouped(path: str | Path, events: Iterable[Row | Dropped], by_line: bool) -> Iterator[AspectSentence]:
    """Yield each sentence once, with the aspects of all its rows, in the order of their first rows.

    :param by_line: whether rows of one line are a sentence, as in XML; otherwise those with the same text and sentence id.
    """
    texts: dict[tuple[int, str, str], tuple[int, str, str]] = {}
    aspects: dict[tuple[int, str, str], list[Span]] = {}
    for event in events:
        if isinstance(event, Dropped):
            text, name = event.text, event.sentence_id or ""
            spans: list[Span] = []
            if not text.strip():
                continue
        else:
            text, name, spans = _row_aspect(path, event)
        key = (event.line if by_line else 0, name, text)
        texts.setdefault(key, (event.line, text, name))
        aspects.setdefault(key, []).extend(spans)
    for key, (line, text, name) in texts.items():
        try:
            yield AspectSentence.build(text, aspects[key], name or str(line), name)
        except InputError as error:
            raise InputError.at(path, line, error.message) from error


def _row_aspect(path: str | Path, row: Row) -> tuple[str, str, list[Span]]:
    fields = {key: value for key, value in row.fields.items() if key != "label"}
    try:
        example = example_from_fields(fields, ordinal_required=True, default_id=str(row.line), row=row)
    except InputError as error:
        raise InputError.at(path, row.line, error.message) from error
    given = row.fields.get("sentence_id")
    # Offsets as the file has them: the example's are those of whole words.
    start, end = row.fields.get("from"), row.fields.get("to")
    exact = (int(start), int(end)) if start not in (None, "") and end not in (None, "") else example.aspect_chars
    return example.text, str(given) if given is not None else "", [exact]
