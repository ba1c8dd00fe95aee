"""Outputs in the making, and windows for them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pssa.predict.output import PartialOutput
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import Summary, WrittenRow
from pssa.predict.window import Window

FINGERPRINT = {"the run": "ab", "saliency": None}
CSV = OutputFormat("csv")


def result(number: int, rejected: bytes = b"", rows: int = 1) -> Window:
    """A window that ends after so many events, and has a row with this number or none."""
    content = CSV.encode([{"n": number}] * rows, ("n",))
    others = Summary(rejected=len(rejected.splitlines()))
    written = (WrittenRow(number, "positive"),) * rows
    return Window(
        "in", (0, number), number, columns=("n",), content=content, written=written, rejected=rejected, others=others
    )


class Killed(BaseException):
    """The end of a process, as far as a test can have it in its own."""


def output(folder: Path, begin: str = "new", form: OutputFormat = CSV, rejected: Path | None = None) -> PartialOutput:
    side = rejected or folder / "out.csv.rejected.jsonl"
    return PartialOutput(format=form, output=folder / "out.csv", rejected=side, begin=begin)


def leave(made: PartialOutput, windows: int, rejected: bytes = b"") -> None:
    """An unfinished job of so many windows."""
    with suppress(Killed), made.opened(FINGERPRINT):
        for number in range(1, windows + 1):
            made.append(result(number, rejected))
        raise Killed


def finish(made: PartialOutput, upto: int, rejected: bytes = b"") -> Summary:
    """Begin or resume a job of so many windows, and publish it."""
    with made.opened(FINGERPRINT):
        for number in range(made.position[1] + 1, upto + 1):
            made.append(result(number, rejected))
        if made.position[1]:
            made.publish()
        return made.summary


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
