"""`RowFinder`: finds the aspects of rows that have none, and makes a row to be scored of each.

A row that has an aspect keeps it. Any other row becomes a row of the output for each aspect that is found in its text, with its
own columns and `aspect`, `from` and `to`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pssa.aspects.find import FIND_ADVICE, Finder, FoundAspect, examples_of, find_in_texts, has_tagger
from pssa.aspects.names import NameFinder
from pssa.aspects.run import open_tagger
from pssa.aspects.spans import require_text
from pssa.aspects.tagger_finder import load_finder
from pssa.bulk.rows import EmptyRow, ParsedRow, ParsedRows, RejectedRow, ScorableRow, parse_row, reject_deep
from pssa.data.fields import has_aspect
from pssa.data.rows import Columns, Problem, Row
from pssa.errors import InputError, setting
from pssa.runs.input_profile import InputProfile, note_kind

_MAX_ASPECTS = 1000  # of one text; each repeats the columns of its row
_ASPECTS_FROM, _ASPECTS = setting("aspects_from"), setting("aspects")


@dataclass(frozen=True)
class FindingOptions:
    """How aspects of rows without any are found: by the tagger of the run, unless another tagger or names are given."""

    tagger: Path | None = None  # directory of a tagger, or of a run that has one
    names: tuple[str, ...] = ()
    keep_empty: bool = False  # write a row without aspect and label for a text in which nothing is found
    columns: Columns = field(default_factory=Columns)  # of the inputs; the output has the same names

    def __post_init__(self) -> None:
        if self.tagger is not None and self.names:
            raise InputError(
                f"a tagger finds aspects, or names are looked for; give {_ASPECTS_FROM} or {_ASPECTS}, not both"
            )
        if self.names:
            NameFinder(self.names)

    def resolve(self, run: Path, columns: Columns) -> FindingOptions | None:
        """Return the same with the run's own tagger where nothing else is given; None if the run has none.

        :raises InputError: if the tagger cannot be used, or nothing can be found that could be empty.
        """
        if self.tagger is None and not self.names and not has_tagger(run):
            if self.keep_empty:
                raise InputError(f"{setting('keep_empty')} is about texts in which nothing is found; {FIND_ADVICE}")
            return None
        if self.names:
            return replace(self, columns=columns)
        return replace(self, tagger=open_tagger(self.tagger or run).root, columns=columns)

    def open(self, device: str, run: Path | None = None) -> RowFinder:
        """Load the tagger, if there is one, and what `run` knows of its training texts."""
        profile = InputProfile.load(run) if run else None
        if self.names:
            return RowFinder(NameFinder(self.names), self, profile)
        assert self.tagger is not None
        return RowFinder(load_finder(self.tagger, device), self, profile)


@dataclass(frozen=True)
class RowFinder:
    """Turns rows with and without aspects into rows to be scored; it can be called by several threads."""

    finder: Finder
    finding: FindingOptions
    profile: InputProfile | None = None  # of the training texts, for notes about texts in which nothing is found
    ignores_given: bool = False  # look for aspects in every row, whatever it has

    def __call__(self, events: Sequence[Row | Problem]) -> ParsedRows:
        """Return the rows that follow from each event, in order."""
        parsed = [self._parse(event) for event in events]
        found = iter(find_in_texts(self.finder, [each for each in parsed if isinstance(each, str)]))
        rows: list[ParsedRow] = []
        n_texts = n_empty = 0
        unwritten: Counter[str] = Counter()
        for event, each in zip(events, parsed, strict=True):
            if not isinstance(each, str):
                rows.append(each)
                continue
            assert isinstance(event, Row)
            aspects = next(found)
            n_texts, n_empty = n_texts + 1, n_empty + (not aspects)
            notes = self.profile.text_notes(each) if self.profile and not aspects else ()
            rows.extend(self._found_rows(event, aspects, "; ".join(notes)))
            unwritten.update(() if self.finding.keep_empty else map(note_kind, notes))
        return ParsedRows(rows, n_texts, n_empty, dict(unwritten))

    def _parse(self, event: Row | Problem) -> ScorableRow | RejectedRow | str:
        """Return a row that has an aspect, or the text in which one is to be found."""
        if isinstance(event, Problem) or (not self.ignores_given and has_aspect(event.fields)):
            parsed = parse_row(event)
            return replace(parsed, found=self._given(parsed)) if isinstance(parsed, ScorableRow) else parsed
        if (deep := reject_deep(event)) is not None:
            return deep
        try:
            return require_text(event)
        except InputError as error:
            return RejectedRow(event.line, error.message, event.given)

    def _given(self, row: ScorableRow) -> dict[str, Any]:
        """Return the fields of an aspect that the row has: as it names it, with its offsets."""
        aspect, start, end = self.finding.columns.aspect_columns
        named = row.fields.get(aspect)
        offsets = tuple(place + row.offset for place in row.example.aspect_chars)
        is_named = isinstance(named, str) and named.strip()
        return {aspect: named if is_named else row.example.aspect_text, start: offsets[0], end: offsets[1]}

    def _found_rows(self, row: Row, aspects: Sequence[FoundAspect], notes: str) -> list[ParsedRow]:
        names = self.finding.columns.aspect_columns
        if not aspects:
            empty = EmptyRow(row.line, row.given, row.arrow, dict.fromkeys(names), notes)
            return [empty] if self.finding.keep_empty else []
        if len(aspects) > _MAX_ASPECTS:
            reason = f"the text has {len(aspects)} aspects; expected at most {_MAX_ASPECTS}: split it into reviews"
            return [RejectedRow(row.line, reason, row.given)]
        return [
            ScorableRow(
                row.line,
                row.given,
                example,
                arrow=row.arrow,
                found=dict(zip(names, (each.aspect, each.start, each.end), strict=True)),
                offset=each.sentence_start,
            )
            for each, example in zip(aspects, examples_of(aspects), strict=True)
        ]


def parse_given(events: Sequence[Row | Problem]) -> ParsedRows:
    """Return rows that must have aspects; the reason why one is rejected says how aspects can be found."""
    rows: list[ParsedRow] = []
    for event in events:
        parsed = parse_row(event)
        if isinstance(parsed, RejectedRow) and isinstance(event, Row) and _lacks_only_aspect(event):
            parsed = replace(parsed, reason=f"{parsed.reason}; {FIND_ADVICE}")
        rows.append(parsed)
    return ParsedRows(rows)


def _lacks_only_aspect(row: Row) -> bool:
    return bool(row.fields.get("text")) and not has_aspect(row.fields)
