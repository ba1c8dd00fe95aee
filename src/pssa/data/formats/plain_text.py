"""Plain text: one text a line, without aspects and labels; for commands that find aspects themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pssa.data.rows import Event, Problem, Row
from pssa.data.text_file import describe_damage, read_text_leniently

SHORT_NAMES = ("text", "txt")
TEXT_ONLY = True


def likelihood(lines: Sequence[str]) -> float:
    """Any text may be this; every other format is more likely."""
    return 0.01


def scan(path: Path) -> Iterator[Event]:
    """Yield a row for each line that is not blank."""
    for number, line in read_text_leniently(path):
        damage = describe_damage(line)
        if damage:
            yield Problem(number, damage, given=line)
        elif line.strip():
            yield Row(number, {"text": line.strip()})
