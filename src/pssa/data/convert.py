"""One file to another: what was read, the lines that were left out, and the fields that have no place in an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pssa.data.example import DEFAULT_LABELS, Corpus
from pssa.data.formats import scan
from pssa.data.formats._labels import LabelRule
from pssa.data.formats._rows import Event, Problem, Row
from pssa.data.read import ColumnNames, Columns, corpus_of, format_of
from pssa.errors import InputError

__all__ = ["Readout", "read_out"]

_ERRORS = ("fail", "skip")


@dataclass(frozen=True)
class Readout:
    """What a file gave."""

    corpus: Corpus
    skipped: tuple[Problem, ...]
    not_kept: tuple[str, ...]  # names of the user's own fields


def read_out(
    path: str | Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
    errors: str = "fail",
) -> Readout:
    """Read labelled instances as `read` does.

    :param errors: at a line that cannot be used: fail, or skip it.
    :raises InputError: where `read` does, less the lines that are skipped.
    """
    if errors not in _ERRORS:
        raise InputError(f"errors is {errors!r}; it can be {' or '.join(_ERRORS)}")
    skipped: list[Problem] = []
    own: dict[str, None] = {}

    def skip(problem: Problem) -> None:
        if errors == "fail":
            more = "; `pssa data check` lists all such lines, --errors skip leaves them out"
            raise InputError.at(path, problem.line, problem.what + more)
        skipped.append(problem)

    named, name = Columns.of(columns), format_of(path, format)

    def columns_of(row: Row) -> Columns:
        return named.spelled_by(path, row.given) if name == "csv" else named

    events = _noting(scan(Path(path), name, named), columns_of, own)
    corpus = corpus_of(path, events, LabelRule.of(labels, conflict), skip)
    return Readout(corpus, tuple(skipped), tuple(own))


def _noting(events: Iterable[Event], columns_of: Callable[[Row], Columns], own: dict[str, None]) -> Iterator[Event]:
    """The same events; names of fields that an instance does not have are put into `own`, in their order."""
    for event in events:
        if isinstance(event, Row):
            own.update(dict.fromkeys(map(str, columns_of(event).unread(event.given))))
        yield event
