"""Rows of an output: the fields that are written, and counts of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pssa.errors import InputError
from pssa.runs.answers import Answer
from pssa.runs.input_profile import added_column

PROBABILITIES = "probabilities"
_GOLD, _LABEL, _EXPLANATION = "gold", "label", "explanation"
OUTPUT_FIELDS = (_GOLD, _LABEL, PROBABILITIES, _EXPLANATION)  # fields with a meaning in every output


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

    def __add__(self, other: Summary) -> Summary:
        labels = Counter(self.labels) + Counter(other.labels)
        ambiguous, rejected = self.ambiguous + other.ambiguous, self.rejected + other.rejected
        texts, empty = self.texts + other.texts, self.empty + other.empty
        notes = dict(Counter(self.notes) + Counter(other.notes))
        return Summary(self.rows + other.rows, dict(labels), ambiguous, rejected, texts, empty, notes)

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


def output_fields(
    fields: Mapping[str, Any],
    answer: Answer | None,
    text: str = "",
    saliency: str | None = None,
    *,
    noted: bool = False,
    notes: str = "",
) -> dict[str, Any]:
    """Return the fields of an output row: the input's, its label as `gold`, and what is said of an aspect.

    :param answer: None if there is no aspect of which anything could be said.
    :param text: that the row is about.
    :param saliency: of the word scores; None: they are not written.
    :param noted: whether the row has notes, if only empty ones.
    :param notes: about a row without an answer.
    """
    row = dict(_kept(fields))
    row |= {_LABEL: answer and answer.label, PROBABILITIES: answer and answer.probabilities}
    if answer is not None and saliency is not None:
        words = [
            {"word": text[word.start : word.end], "from": word.start, "to": word.end, "share": word.share}
            for word in answer.words
        ]
        row[_EXPLANATION] = {"saliency": saliency, "words": words}
    if noted:
        row.pop(column := added_column(fields), None)  # of an earlier scoring
        row[column] = (notes or None) if answer is None else "; ".join(answer.notes)
    return row


def output_columns(fields: Iterable[str], explained: bool, noted: bool = False) -> tuple[str, ...]:
    """Return the names of `output_fields` before anything is scored."""
    given = dict.fromkeys(fields)
    names = dict(_kept(given)) | {_LABEL: None, PROBABILITIES: None} | ({_EXPLANATION: None} if explained else {})
    if noted:
        names.pop(column := added_column(given), None)
        names[column] = None
    return tuple(names)


def _kept(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        if key != _LABEL:
            yield key, value
        elif _GOLD not in fields:  # otherwise the label is another model's
            yield _GOLD, value
