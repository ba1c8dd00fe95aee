"""Proposals: texts to label, with what a run says of them, and the files in which people label them.

Label Studio's JSON has a task for each text with its aspects and labels as predictions to correct. CSV and JSON Lines have a row
for each aspect with an empty `label` to fill in; once it is filled in, the file is one to train on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pssa.bulk.output_format import OutputFormat, choose_output_format
from pssa.data.example import Example, sentence_key
from pssa.data.files import write_atomically
from pssa.data.formats import format_named
from pssa.data.formats.label_studio import encode_tasks, predicted_task
from pssa.data.validation import brief_repr
from pssa.errors import InputError
from pssa.runs import Answer

_LABEL_STUDIO = "label_studio"
_ROW_FIELDS = ("text", "aspect", "from", "to", "label", "predicted", "confidence", "reason")
_DIGITS = 4


@dataclass(frozen=True)
class Proposal:
    """A text to label, with what the run says of its aspects."""

    text: str
    answers: tuple[Answer, ...]  # one for each aspect, in the order of the text; offsets are those of the text
    doubt: float  # 0: the run is sure of every label; 1: it cannot tell
    reason: str
    line: int  # in its file
    fields: Mapping[str, Any] = field(default_factory=dict)  # the other columns of its row

    def __repr__(self) -> str:
        aspects = [answer.aspect for answer in self.answers]
        return brief_repr(self, text=self.text, aspects=aspects, reason=self.reason)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        aspects = [answer.as_dict() for answer in self.answers]
        return {
            "text": self.text,
            "line": self.line,
            "doubt": round(self.doubt, _DIGITS),
            "reason": self.reason,
            "aspects": aspects,
        }

    def task(self, model: str) -> dict[str, Any]:
        """Return a task of Label Studio."""
        name = sentence_key(self.text)[:8]
        examples = [
            Example.from_text(self.text, (answer.start, answer.end), label=answer.label, id=f"{name}-{number}")
            for number, answer in enumerate(self.answers, start=1)
        ]
        data = {"text": self.text, "reason": self.reason, **self.fields}
        return predicted_task(data, examples, model, round(1 - self.doubt, _DIGITS))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each aspect, with an empty label."""
        for answer in self.answers:
            confidence = round(max(answer.probabilities.values()), _DIGITS)
            values = (self.text, answer.aspect, answer.start, answer.end, "", answer.label, confidence, self.reason)
            yield dict(zip(_ROW_FIELDS, values, strict=True)) | dict(self.fields)


@dataclass(frozen=True)
class Proposals:
    """Texts to label, the most useful first, and counts of the pool."""

    texts: tuple[Proposal, ...]
    model: str  # the run that proposes them
    read: int = 0  # texts of the pool to choose from
    labelled: int = 0  # rows left out: they have a label, or the run was trained on their text
    empty: int = 0  # texts without an aspect
    rejected: int = 0  # rows that cannot be used

    def __repr__(self) -> str:
        return brief_repr(self, texts=len(self.texts), read=self.read)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        counts = {name: getattr(self, name) for name in ("read", "labelled", "empty", "rejected")}
        return {**counts, "texts": [proposal.as_dict() for proposal in self.texts]}

    def save(self, path: str | Path, *, format: str | None = None) -> None:
        """Write a file to label: `.json` for Label Studio, `.csv` or `.jsonl`; it replaces what is there.

        :param format: `label_studio`, `csv` or `json_lines`, if the extension is not one of theirs.
        :raises InputError: if neither names one of these.
        """
        target = Path(path)
        output = format_to_label(target, format)
        if output is None:
            write_atomically(target, encode_tasks(proposal.task(self.model) for proposal in self.texts))
            return
        rows = [row for proposal in self.texts for row in proposal.rows()]
        columns = tuple(dict.fromkeys((*_ROW_FIELDS, *(name for row in rows for name in row))))
        write_atomically(target, output.header(columns) + output.encode(rows, columns))


def format_to_label(path: Path, format: str | None) -> OutputFormat | None:
    """Return the format of the rows of a file to label; None for tasks of Label Studio.

    :raises InputError: if it is neither of Label Studio, CSV nor JSON Lines.
    """
    if is_label_studio(path, format):
        return None
    output = choose_output_format(str(path), format)
    if output.name == "parquet":
        raise InputError(f"{path}: rows to label are written as CSV, JSON Lines or Label Studio's JSON; name one")
    return output


def is_label_studio(path: Path, format: str | None) -> bool:
    """Return whether a file to label is one of Label Studio."""
    return format_named(format) == _LABEL_STUDIO if format else path.suffix.lower() == ".json"
