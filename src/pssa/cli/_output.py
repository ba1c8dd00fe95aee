"""What commands print: one JSON object, or tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["counted", "print_json", "print_table", "say", "score_rows"]


def print_json(value: Mapping[str, Any]) -> None:
    """The command's one object on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")


def counted(count: int, noun: str) -> str:
    """The number with its noun, which takes an s unless there is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def say(text: str) -> None:
    """A line for people, without markup."""
    Console(highlight=False, soft_wrap=True).print(text, markup=False)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people; the first column is text, the others are numbers."""
    console, table = Console(highlight=False), Table()
    for number, column in enumerate(columns):
        # In a narrow terminal names go on in a second line: of a label or a word, nothing may be cut off.
        table.add_column(column, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    if title:
        # Above the table and not of it, where it would be broken to the table's width.
        console.print(title, style="italic", markup=False, soft_wrap=True)
    console.print(table)


def score_rows(per_class: Mapping[str, Any]) -> list[list[str]]:
    """Precision, recall, F1 and support of each class, as text."""
    return [
        [label, *(f"{100 * getattr(scores, name):.2f}" for name in ("precision", "recall", "f1")), str(scores.support)]
        for label, scores in per_class.items()
    ]
