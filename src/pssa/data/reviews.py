"""`Review`: a text with all its opinions, those without a named aspect included.

An instance (`Example`) is one aspect with one label. A review keeps more: opinions whose aspect the text implies, and the words
that express each opinion. `read_reviews` reads them, `pssa.evaluation.score_reviews` compares a model with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

from pssa.data.fields import example_from_fields
from pssa.data.formats import find_format, scan
from pssa.data.io import INVALID, ReadOptions, ReadSettings, format_of
from pssa.data.labels import CONFLICT
from pssa.data.rows import Dropped, Event, Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.tokenize import Span
from pssa.errors import InputError

NO_OPINION = "none"  # the overall label of a review without an implied opinion


@dataclass(frozen=True, slots=True)
class Opinion:
    """One opinion of a review. Offsets count characters of its text."""

    label: str
    aspect: Span | None = None  # None: implied, the text does not name it
    words: tuple[Span, ...] = ()  # places of the words that express it, if the file marks them


@dataclass(frozen=True, slots=True)
class Review:
    """A text with all its opinions."""

    text: str
    opinions: tuple[Opinion, ...] = ()
    line: int = field(default=0, compare=False)  # of the file
    tag: str = ""  # what else the file says about the text, such as its domain
    words: tuple[Span, ...] = ()  # places of its words, if the file counts words

    @property
    def aspects(self) -> dict[Span, str | None]:
        """The label of each named aspect, in the order of the text; None for an aspect with two labels."""
        labels: dict[Span, set[str]] = {}
        for opinion in self.opinions:
            if opinion.aspect is not None:
                labels.setdefault(opinion.aspect, set()).add(opinion.label)
        return {span: _only(found) for span, found in sorted(labels.items())}

    @property
    def overall(self) -> str | None:
        """The label of the implied opinions, `none` if there are none, None if their labels differ."""
        labels = {opinion.label for opinion in self.opinions if opinion.aspect is None}
        return _only(labels) if labels else NO_OPINION

    def opinion_words(self, aspect: Span) -> tuple[Span, ...]:
        """Return the places of all words that express an opinion about this aspect, each once, in order."""
        return tuple(sorted({place for each in self.opinions if each.aspect == aspect for place in each.words}))


def _only(labels: set[str]) -> str | None:
    """Return the label if there is one; `conflict` stands for two."""
    return next(iter(labels)) if len(labels) == 1 and CONFLICT not in labels else None


def read_reviews(path: str | Path, **options: Unpack[ReadSettings]) -> tuple[tuple[Review, ...], dict[str, int]]:
    """Read texts with all their opinions, and count by reason what had to be left out.

    Triplets and quadruples have implied opinions and opinion words; XML and other formats that list all aspects of a text have
    its aspects with their labels.

    :param options: as for `pssa.read`; `conflict` and `columns` do not matter.
    :raises InputError: if the format lists no opinions of whole texts, or a line cannot be read and `errors` is not `skip`.
    """
    chosen = ReadOptions.of(**options)
    file, rule = InputFile.of(path, chosen.encoding), chosen.rule()
    name = format_of(file, chosen.format)
    format = find_format(name)
    if not format.lists_all_aspects:
        what = f"the format {name} does not list all opinions of a text"
        raise InputError.at(path, None, f"{what}; expected triplets, quadruples or SemEval XML")
    found: list[Review] = []
    dropped: Counter[str] = Counter()
    events = format.scan_reviews(file) if format.scan_reviews else _reviews_of(scan(file, name))
    for event in events:
        if isinstance(event, Review):
            try:
                kept = [each for each in event.opinions if not rule.drops(each.label)]
                kept = [replace(each, label=rule.normalise(each.label)) for each in kept]
                found.append(replace(event, opinions=tuple(kept)))
                continue
            except InputError as error:
                event = Problem(event.line, error.message)
        if isinstance(event, Problem) and (event.last or chosen.errors != "skip"):
            raise InputError.at(path, event.line, event.message)
        dropped[event.reason if isinstance(event, Dropped) else INVALID] += 1
    if not found:
        raise InputError.at(path, None, "has no text; expected at least one")
    return tuple(found), dict(dropped)


def _reviews_of(events: Iterable[Event]) -> Iterator[Review | Dropped | Problem]:
    """Yield each text with the aspects of its rows, after all that could not be read."""
    texts: dict[tuple[int, str], list[Opinion]] = {}
    for event in events:
        if isinstance(event, Row):
            try:
                fields = {**event.fields, "label": None}
                example = example_from_fields(fields, ordinal_required=True, row=event)
            except InputError as error:
                yield Problem(event.line, error.message)
                continue
            opinion = Opinion(str(event.fields.get("label") or ""), example.aspect_chars)
            texts.setdefault((event.line, example.text), []).append(opinion)
        elif isinstance(event, Dropped) and event.text:
            texts.setdefault((event.line, event.text), [])
        else:
            yield event
    yield from (Review(text, tuple(opinions), line) for (line, text), opinions in texts.items())
