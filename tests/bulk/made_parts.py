"""Outputs in the making, and windows for them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pssa.bulk.destination import Destination
from pssa.bulk.journal import Journal
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.part import opened_part
from pssa.bulk.window import Position
from pssa.bulk.work import Result, Tally

ASKED = {"the run": "ab", "the saliency": None}
CSV = OutputFormat("csv")


def result(number: int, rejected: bytes = b"") -> Result:
    content = CSV.encode([{"n": number}], ("n",))
    return Result(Position(0, number), number, ("n",), content, rejected, Tally(1, {"positive": 1}), "", "")


class Killed(BaseException):
    """The end of a process, as far as a test can have it in its own."""


def destination(folder: Path, begin: str = "new", form: OutputFormat = CSV) -> Destination:
    return Destination(folder / "out.csv", folder / "out.csv.rejected.jsonl", form, begin)


def leave(where: Destination, windows: int, rejected: bytes = b"") -> None:
    """A part with so many windows."""
    with suppress(Killed), opened_part(where, ASKED) as part:
        for number in range(1, windows + 1):
            part.append(result(number, rejected))
        raise Killed


def go_on(where: Destination, upto: int, rejected: bytes = b"") -> Journal:
    with opened_part(where, ASKED) as part:
        for number in range(part.journal.position.events + 1, upto + 1):
            part.append(result(number, rejected))
        if part.journal.position.events:
            part.finish()
        return part.journal


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
