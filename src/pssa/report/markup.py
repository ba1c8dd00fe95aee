"""Pieces of HTML that cannot be got wrong: text is escaped unless it says that it is markup already."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from pssa.report.heat_map import clean

__all__ = ["Cell", "Markup", "escape", "join", "page", "table"]

# A page may not fetch or run anything, whatever got into it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML, made here."""

    source: str


Cell = str | int | Markup


def escape(value: Cell) -> str:
    """HTML for the value: itself if it is markup, else its text, fit for an element or a quoted attribute."""
    if isinstance(value, Markup):
        return value.source
    return html.escape(clean(str(value)), quote=True)


def join(parts: Sequence[Markup], between: str = "\n") -> Markup:
    """One after the other."""
    return Markup(between.join(part.source for part in parts))


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], kind: str = "numbers") -> Markup:
    """A table with a caption; the first cell of a row is its head.

    :param kind: `numbers`, which are set to the right, or `text`.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "\n".join(_row(row) for row in rows)
    return Markup(
        f'<div class="wide"><table class="{kind}"><caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def page(title: str, style: str, body: Markup) -> str:
    """A whole document that needs nothing beside itself."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body.source}\n</body>\n</html>\n"
    )


def _row(row: Sequence[Cell]) -> str:
    first, *rest = row
    cells = "".join(f"<td>{escape(cell)}</td>" for cell in rest)
    return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'
