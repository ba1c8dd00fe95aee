"""Markdown as GitHub and most others read it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from pssa.studies.exhibit import Exhibit, Figure, Part, Picture, Prose, Table
from pssa.studies.render.fields import Shown, as_grid, show_table, spans

__all__ = ["exhibit_document", "part_document", "table_text"]

# An underline inside a word emphasises nothing; an ampersand matters only where it could begin an entity.
_MARKS = re.compile(r"[\\*<`]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|~(?=~)|&(?=#?\w+;)")
_OPENING = re.compile(r"^(\d{0,9})([#>]|[-+.)=](?=\s))")  # of a line that would be a heading or a list


def exhibit_document(exhibit: Exhibit, parts: Sequence[Part], drawn: Container[str] = ()) -> str:
    """The whole exhibit; pictures are looked for in a folder of its name.

    :param drawn: names of its figures that there are pictures of.
    """
    blocks = [f"# {_escape(exhibit.title)}"]
    for part in parts:
        blocks += _blocks(part, exhibit.name, drawn)
    return "\n\n".join(blocks) + "\n"


def part_document(table: Table) -> str:
    """A table alone."""
    return "\n\n".join(_blocks(table, "", ())) + "\n"


def table_text(table: Table) -> str:
    """The rows of a table."""
    return _rows(show_table(table))


def _blocks(part: Part, folder: str, drawn: Container[str]) -> Iterator[str]:
    if isinstance(part, Prose):
        yield _paragraph(part.text)
        return
    yield f"## {_escape(part.title)}"
    if isinstance(part, Picture) or part.name in drawn:
        yield f"![{_escape(part.title)}]({folder}/{part.name}.svg)"
    if not isinstance(part, Picture):
        yield table_text(as_grid(part) if isinstance(part, Figure) else part)
        yield from (_paragraph(note) for note in part.notes)


def _rows(shown: Shown) -> str:
    rule = ["---:" if number else "---" for number in shown.is_number]
    lines = [map(_field, shown.columns), rule, *(map(_field, row) for row in shown.rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _paragraph(text: str) -> str:
    return _OPENING.sub(r"\1\\\2", _escape(text))


def _field(text: str) -> str:
    # A bar ends a field even inside code.
    return _escape(text).replace("|", "\\|")


def _escape(text: str) -> str:
    return "".join(f"`{span.text}`" if span.is_code else _MARKS.sub(_mark, span.text) for span in spans(text))


def _mark(found: re.Match[str]) -> str:
    return "&amp;" if found[0] == "&" else f"\\{found[0]}"
