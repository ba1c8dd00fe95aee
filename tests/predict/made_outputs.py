"""Outputs in the making, and windows for them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pssa.predict.output_format import OutputFormat
from pssa.predict.partial_output import PartialOutput
from pssa.predict.rows import Summary
from pssa.predict.window import Window

FINGERPRINT = {"the run": "ab", "saliency": None}
CSV = OutputFormat("csv")


def result(number: int, rejected: bytes = b"") -> Window:
    content = CSV.encode([{"n": number}], ("n",))
    summary = Summary(1, {"positive": 1}, rejected=len(rejected.splitlines()))
    return Window("in", (0, number), number, (), ("n",), "", content, rejected, summary)


class Killed(BaseException):
    """The end of a process, as far as a test can have it in its own."""


def output(folder: Path, begin: str = "new", form: OutputFormat = CSV) -> PartialOutput:
    return PartialOutput(folder / "out.csv", folder / "out.csv.rejected.jsonl", form, begin)


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


def windows_of(made: PartialOutput) -> list[Path]:
    return sorted(made.folder.glob("window-*"))
