"""Plain text: one text a line, without aspects and labels; for commands that find aspects themselves."""

from __future__ import annotations

from collections.abc import Iterator

from pssa.data.formats import Format, scan_lines
from pssa.data.rows import SAME_NAMES, Columns, Event, Row
from pssa.data.text_file import InputFile


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each line that is not blank."""
    return scan_lines(file, lambda line, content: Row(line, {"text": content.strip()}))


FORMAT = Format(
    scan=scan,
    text_only=True,
    short_names=("text", "txt"),
    likelihood=lambda lines: 0.01,  # any text may be this; every other format is likelier
)
