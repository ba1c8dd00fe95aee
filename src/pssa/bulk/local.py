"""Scoring a file on this machine: a window of rows at a time, answers in the order of the rows.

Rows of a window are scored in batches of like length. The output appears under its name only when it is complete.
"""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pssa.data.example import Example
from pssa.data.read import Row, example_from_fields, stream
from pssa.errors import InputError
from pssa.runs import Classifier

__all__ = ["Summary", "predict_file"]

_WINDOW = 4096
_Writer = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Summary:
    """What was scored."""

    rows: int
    labels: dict[str, int]  # how often each was predicted
    ambiguous: int  # rows whose aspect occurs several times in the text; the first was taken

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def predict_file(
    classifier: Classifier, source: Path, target: Path, *, format: str | None = None, batch_size: int = 256
) -> Summary:
    """Score every row of `source` into `target`; each output row has the input's fields, a label and probabilities.

    A label that the input has already is kept as `gold`.

    :raises InputError: naming the line of the first row that cannot be used; `target` is then not written.
    """
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; it must be at least 1")
    counts: Counter[str] = Counter()
    ambiguous: list[str] = []
    with _writer(target) as write:
        rows = stream(source, format=format)
        while window := list(islice(rows, _WINDOW)):
            examples = [_example(source, row, ambiguous.append) for row in window]
            for row, answer in zip(window, classifier.answer(examples, batch_size), strict=True):
                fields = {("gold" if key == "label" else key): value for key, value in row.fields.items()}
                write(fields | {"label": answer.label, "probabilities": answer.probabilities})
                counts[answer.label] += 1
    predicted = {label: counts[label] for label in classifier.labels}
    return Summary(counts.total(), predicted, len(ambiguous))


def _example(path: Path, row: Row, warn: Callable[[str], None]) -> Example:
    try:
        fields = {key: value for key, value in row.fields.items() if key != "label"}
        return example_from_fields(fields, ordinal_required=False, warn=warn)
    except InputError as error:
        raise InputError.at(path, row.line, str(error)) from error


@contextmanager
def _writer(path: Path) -> Iterator[_Writer]:
    """A function that writes rows as `path`'s ending asks; the file is in place once the block ends well."""
    if path.suffix not in (".jsonl", ".ndjson", ".json", ".csv"):
        raise InputError(f"output {path} is neither JSON Lines nor CSV; let its name end in .jsonl or .csv")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as handle:
            yield _csv_writer(handle) if path.suffix == ".csv" else _json_writer(handle)
        part.replace(path)
    except FileNotFoundError as error:
        raise InputError(f"output {path} cannot be written: {path.parent} does not exist") from error
    finally:
        part.unlink(missing_ok=True)


def _json_writer(handle: IO[str]) -> _Writer:
    def write(fields: dict[str, Any]) -> None:
        handle.write(json.dumps(fields, ensure_ascii=False) + "\n")

    return write


def _csv_writer(handle: IO[str]) -> _Writer:
    writer: csv.DictWriter[str] | None = None

    def write(fields: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:
            writer = csv.DictWriter(handle, list(fields), restval="")
            writer.writeheader()
        # JSON Lines may give a later row fields that the first has not.
        if new := sorted(set(fields) - set(writer.fieldnames)):
            raise InputError(
                f"a row has the field {new[0]!r}, which the first has not; write JSON Lines instead of CSV"
            )
        writer.writerow({key: _cell(value) for key, value in fields.items()})

    return write


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value
