"""What commands print: one JSON object, or lines and tables for people."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pssa.errors import InputError, for_command_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pssa.runs import Config

# Control characters but tab and line feed, and marks that change the direction of what follows.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def for_terminal(text: str) -> str:
    """Return a text, which may be a stranger's, with a replacement character for each one that a terminal would obey."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text)


def print_json(value: Mapping[str, Any], stream: TextIO | None = None) -> None:
    """Print the command's one JSON object, on standard output unless another stream is given."""
    print(json.dumps(value, ensure_ascii=False), file=stream)


def counted(count: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless there is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def say(text: str) -> None:
    """Print a line for people, without markup."""
    print_rich(for_terminal(text))


def print_rich(value: RenderableType) -> None:
    """Print what `rich` renders, such as heat maps, without markup and without breaking lines."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True).print(value, markup=False)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table for people, without markup; the first column is text, the others are numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, table = Console(highlight=False), Table()
    for number, column in enumerate(columns):
        # A narrow terminal folds names to the next line: labels and words must not be cut off.
        table.add_column(Text(for_terminal(column)), justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(for_terminal(str(cell))) for cell in row))
    if title:
        # rich would wrap the table's own title to the width of the table.
        console.print(for_terminal(title), style="italic", markup=False, soft_wrap=True)
    console.print(table)


def require_new_file(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, a file that exists or cannot be written.

    :param force: accept one that exists.
    """
    from pssa.data.files import require_writable

    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    if path.exists() and not force:
        raise InputError(f"{path} exists; choose another name, or replace it with --force")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; create it, or name another")
    require_writable(path)


def warn_no_evidence(config: Config, meaning: str) -> None:
    """Warn on standard error that mining found no word, why, and what to change.

    :param meaning: the consequence.
    """
    from pssa.runs import methods

    if config.supervision.evidence:
        reason = "the evidence has no word"
    else:
        reason = methods.find(config.method).describe_empty(config)
    print(f"pssa: warning: {meaning}: {for_command_line(reason)}", file=sys.stderr)
