"""Rows of an output: the fields that are written, and counts of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pssa.data.rows import Problem, Row
from pssa.errors import InputError
from pssa.predict.finding import FindingOptions
from pssa.runs.answers import Answer, Question
from pssa.runs.asked_rows import AskedRow, parse_row
from pssa.runs.input_profile import added_column

PROBABILITIES = "probabilities"
_GOLD, _LABEL, _EXPLANATION = "gold", "label", "explanation"
OUTPUT_FIELDS = (_GOLD, _LABEL, PROBABILITIES, _EXPLANATION)  # fields with a meaning in every output


class WrittenRow(NamedTuple):
    """A row of the output, as it is counted."""

    line: int
    label: str = ""
    is_ambiguous: bool = False  # its aspect occurs several times in the text; the first was taken
    notes: tuple[str, ...] = ()  # kinds of notes that say that it is unlike the training data


@dataclass(frozen=True)
class Summary:
    """Counts of what was scored."""

    rows: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)  # how often each was predicted
    ambiguous: int = 0  # rows whose aspect occurs several times in the text; the first was taken
    rejected: int = 0  # rows that were skipped
    texts: int = 0  # in which aspects were looked for
    empty: int = 0  # texts without an aspect
    notes: Mapping[str, int] = field(default_factory=dict)  # rows that are unlike the training data, by kind
    existed: bool = False  # the output of a job to be resumed existed, and nothing was done

    @classmethod
    def of(cls, rows: Iterable[WrittenRow]) -> Summary:
        """Count rows of the output."""
        rows = tuple(rows)
        labels = Counter(row.label for row in rows if row.label)
        notes = Counter(note for row in rows for note in row.notes)
        return cls(len(rows), dict(labels), sum(row.is_ambiguous for row in rows), notes=dict(notes))

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.rows + other.rows,
            dict(Counter(self.labels) + Counter(other.labels)),
            self.ambiguous + other.ambiguous,
            self.rejected + other.rejected,
            self.texts + other.texts,
            self.empty + other.empty,
            dict(Counter(self.notes) + Counter(other.notes)),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, for JSON."""
        values = asdict(self)
        del values["existed"]
        if not self.texts:  # nothing was looked for
            del values["texts"], values["empty"]
        if not self.notes:
            del values["notes"]
        return values


def describe_rejection(line: bytes) -> str:
    """Return a line of a file of rejected rows as an error names it."""
    rejected = json.loads(line)
    return str(InputError.at(rejected["source"], rejected["line"], rejected["reason"]))


@dataclass(frozen=True)
class OutputFields:
    """Which fields a row of the output has besides those of its input, whose label becomes `gold`."""

    finding: FindingOptions | None = None  # of the aspects of rows that have none; None: each row must have one
    is_scored: bool = True  # label and probabilities; otherwise aspects are only found
    saliency: str | None = None  # of the word scores; None: they are not written
    has_notes: bool = False  # about rows that are unlike the training data

    def columns(self, rows: Sequence[Row | Problem]) -> tuple[str, ...]:
        """Return the columns of the output by the first rows; empty if none of them can be used."""
        usable = (row.fields for row in map(parse_row, rows) if isinstance(row, AskedRow))
        given = (row.given for row in rows if isinstance(row, Row))
        first = next(given if self.finding else usable, None)
        if first is None:
            return ()
        return tuple(self.fill(first, AskedRow(0, first, Question("")), Answer("", {}, "", 0, 0)))

    def fill(
        self,
        given: Mapping[str, Any],
        row: AskedRow,
        answer: Answer | None,
        notes: Sequence[str] = (),
        columns: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Return the fields of a row: what the input has, and what is said of an aspect.

        :param given: the row's own fields, which may be cells of an Arrow table.
        :param answer: None if there is no aspect of which anything could be said.
        :param notes: about a row without an answer.
        :param columns: of the output, once they are known; a row whose notes have no place there has none.
        """
        fields = dict(given)
        if self.finding is not None:
            fields |= self.finding.place(row.fields, answer, row.question.aspects is not None)
        if not self.is_scored:
            return fields
        label = [] if _GOLD in fields else [_GOLD]  # a label beside a gold one is another model's
        filled = {name: value for key, value in fields.items() for name in (label if key == _LABEL else [key])}
        filled |= {_LABEL: answer and answer.label, PROBABILITIES: answer and answer.probabilities}
        if answer is not None and self.saliency is not None:
            text = row.question.text
            words = [
                {"word": text[word.start : word.end], "from": word.start, "to": word.end, "share": word.share}
                for word in answer.words
            ]
            filled[_EXPLANATION] = {"saliency": self.saliency, "words": words}
        column = added_column(fields)
        if self.has_notes and (columns is None or column in columns):
            filled.pop(column, None)  # of an earlier scoring
            filled[column] = "; ".join(notes) or None if answer is None else "; ".join(answer.notes)
        return filled
