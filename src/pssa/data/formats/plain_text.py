"""Plain text: one text a line, without aspects and labels; for commands that find aspects themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pssa.data.formats import Format
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row
from pssa.data.text_file import InputFile, describe_damage, read_text_leniently


def likelihood(lines: Sequence[str]) -> float:
    """Any text may be this; every other format is more likely."""
    return 0.01


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each line that is not blank."""
    for number, line in read_text_leniently(file):
        damage = describe_damage(line)
        if damage:
            yield Problem(number, damage, given=line)
        elif line.strip():
            yield Row(number, {"text": line.strip()})


FORMAT = Format(
    scan=scan,
    text_only=True,
    short_names=("text", "txt"),
    likelihood=likelihood,
)
