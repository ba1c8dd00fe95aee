"""Tables as text: Markdown and LaTeX for people, CSV and JSON with unrounded values for programs.

Texts may hold `code` between backticks, which every format sets in its own way; everything else in them is escaped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pandas

from paper.studies.exhibit import Figure, FormattedValue, PlainValue, PlotLine, Table, Value

_NUMBER = re.compile(r"[+\-−]?\d")
_CODE = re.compile(r"`([^`\n]+)`")
_LARGE = 10_000  # whole numbers from here on are written with commas
_LONG_TEXT = 48  # characters from which a field of LaTeX is set in several lines

# An underscore inside a word emphasises nothing; an ampersand matters only where it could begin an entity.
_MARKDOWN = re.compile(r"[\\*<`]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|~(?=~)|&(?=#?\w+;)")
_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"},
    "[": "{[}",  # at the beginning of a row it would belong to the end of the last
    **{"±": r"$\pm$", "→": r"$\to$", "−": "$-$"},
}


@dataclass(frozen=True)
class TextTable:
    """The fields of a table as people read them: numbers with the decimals of their column, nothing for a missing value."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_number: tuple[bool, ...]  # by column; numbers are aligned right

    @classmethod
    def of(cls, table: Table) -> TextTable:
        """Format the fields.

        :raises ValueError: if a row has more or fewer fields than there are columns.
        """
        for number, row in enumerate(table.rows, start=1):
            if len(row) != len(table.columns):
                raise ValueError(
                    f"row {number} of table {table.name} has {len(row)} fields for {len(table.columns)} columns"
                )
        shown = [_format_column([row[index] for row in table.rows]) for index in range(len(table.columns))]
        # The first column names the row, whatever it holds; an empty column counts as numbers.
        is_number = tuple(
            index > 0 and all(_NUMBER.match(text) for text in texts if text) for index, texts in enumerate(shown)
        )
        return cls(tuple(map(one_line, table.columns)), tuple(zip(*shown, strict=True)), is_number)

    def frame(self, escape: Callable[[str], str]) -> pandas.DataFrame:
        """Return the escaped texts as a DataFrame."""
        rows = [[escape(field) for field in row] for row in self.rows]
        return pandas.DataFrame(rows, columns=[escape(name) for name in self.columns], dtype=object)


def convert_text(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Return a text on one line with its plain stretches and its code converted."""
    # Splitting by a pattern with a group puts the code at the odd places.
    pieces = enumerate(_CODE.split(one_line(text)))
    return "".join(code(piece) if index % 2 else plain(piece) for index, piece in pieces)


def one_line(text: str) -> str:
    """Return the text without line breaks, doubled spaces and lone surrogates, which cannot be encoded."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def escape_markdown(text: str) -> str:
    """Return the text as Markdown shows it."""

    def escape(plain: str) -> str:
        return _MARKDOWN.sub(lambda found: "&amp;" if found[0] == "&" else f"\\{found[0]}", plain)

    return convert_text(text, escape, "`{}`".format)


def escape_latex(text: str) -> str:
    """Return the text as LaTeX sets it."""

    def escape(plain: str) -> str:
        return "".join(_LATEX.get(sign, sign) for sign in plain)

    return convert_text(text, escape, lambda code: rf"\texttt{{{escape(code)}}}")


def markdown_table(table: Table) -> str:
    """Return the rows of a table as Markdown."""
    shown = TextTable.of(table)
    # A bar ends a field even inside code.
    frame = shown.frame(lambda text: escape_markdown(text).replace("|", "\\|"))
    sides = ["right" if number else "left" for number in shown.is_number] if shown.rows else None
    return str(frame.to_markdown(index=False, disable_numparse=True, colalign=sides))


def table_latex(table: Table) -> str:
    """Return a table with its title and notes as LaTeX, which needs the packages booktabs and longtable."""
    shown = TextTable.of(table)
    longest = [max((len(row[index]) for row in shown.rows), default=0) for index in range(len(shown.columns))]
    columns = "".join(
        "r" if number else "p{5cm}" if length > _LONG_TEXT else "l"
        for number, length in zip(shown.is_number, longest, strict=True)
    )
    text = shown.frame(escape_latex).to_latex(
        index=False, longtable=True, column_format=columns, caption=escape_latex(table.title), label=f"tab:{table.name}"
    )
    return "\n\n".join([str(text).rstrip("\n"), *map(escape_latex, table.notes)]) + "\n"


def table_csv(table: Table) -> str:
    """Return a table as CSV, a column for each part of a formatted value; missing values are empty."""
    parts = [_part_names(row[index] for row in table.rows) for index in range(len(table.columns))]
    columns = [
        f"{column} {name}" if len(names) > 1 else column
        for column, names in zip(table.columns, parts, strict=True)
        for name in names or ("",)
    ]
    rows = [
        [_finite(value) for field, names in zip(row, parts, strict=True) for value in _part_values(field, names)]
        for row in table.rows
    ]
    return str(pandas.DataFrame(rows, columns=columns, dtype=object).to_csv(index=False, lineterminator="\n"))


def table_values(table: Table) -> dict[str, Any]:
    """Return a table with its title and notes as values for JSON; numbers are numbers, and missing values are null."""
    return {
        "name": table.name,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[_json_value(field) for field in row] for row in table.rows],
        "notes": list(table.notes),
    }


def table_of(values: Mapping[str, Any]) -> Table:
    """Return the table whose values `table_values` returned."""
    rows = tuple(tuple(map(_table_value, row)) for row in values["rows"])
    return Table(values["name"], values["title"], tuple(values["columns"]), rows, tuple(values["notes"]))


def points_table(figure: Figure) -> Table:
    """Return a row for every point of a figure."""
    rows = [
        (title, line.name, figure.tick_label(x) if figure.places else x, y, spread)
        for title, lines in figure.panels
        for line in lines
        for x, y, spread in _points(line)
    ]
    columns = ("plot", "line", figure.x_label, figure.y_label, "spread")
    return Table(figure.name, figure.title, columns, tuple(rows), figure.notes)


def grid_table(figure: Figure) -> Table:
    """Return a row for every curve of a figure and a column for every x, with the same decimals throughout."""
    lines = [(title, line) for title, lines in figure.panels for line in lines]
    places = sorted({x for _, line in lines for x in line.x})
    decimals = _n_decimals([y for _, line in lines for y in line.y if math.isfinite(y)])
    rows = []
    for title, line in lines:
        found = {x: _with_spread(y, spread, decimals) for x, y, spread in _points(line)}
        rows.append((title, line.name, *(found.get(x) for x in places)))
    columns = ("plot", f"{figure.y_label} by {figure.x_label}", *map(figure.tick_label, places))
    return Table(figure.name, figure.title, columns, tuple(rows), figure.notes)


def _points(line: PlotLine) -> list[tuple[float, float, float | None]]:
    spread: Sequence[float | None] = line.spread or [None] * len(line.x)
    return list(zip(line.x, line.y, spread, strict=True))


def _with_spread(y: float, spread: float | None, decimals: int) -> str | None:
    if not math.isfinite(y):
        return None
    return f"{y:.{decimals}f}" if spread is None else f"{y:.{decimals}f} ± {spread:.{decimals}f}"


def _format_column(values: Sequence[Value]) -> list[str]:
    decimals = _n_decimals([value for value in values if isinstance(value, float) and math.isfinite(value)])
    return [_format(value, decimals) for value in values]


def _format(value: Value, decimals: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= _LARGE else str(value)
    if isinstance(value, float):
        return f"{value:.{decimals}f}" if math.isfinite(value) else ""
    return "" if value is None else one_line(str(value))


def _n_decimals(values: Sequence[float]) -> int:
    """Return the decimals of a column: two for percentages, three for shares, more for smaller numbers."""
    largest = max(map(abs, values), default=0.0)
    if largest > 1:  # a share may be 1
        return 0 if largest >= _LARGE else 1 if largest >= 1000 else 2
    # Three digits of the largest, so that seconds of a step can be told apart.
    return 3 if largest >= 0.1 or largest == 0 else min(9, 2 - math.floor(math.log10(largest)))


def _part_names(fields: Iterable[Value]) -> list[str]:
    """Return the names of the parts that the formatted values of a column have."""
    return list(dict.fromkeys(name for field in fields if isinstance(field, FormattedValue) for name in field.parts))


def _part_values(field: Value, names: Sequence[str]) -> list[PlainValue]:
    if isinstance(field, FormattedValue):
        return [field.parts.get(name) for name in names]
    return [field, *[None] * (len(names) - 1)]


def _json_value(field: Value) -> PlainValue | dict[str, PlainValue]:
    if not isinstance(field, FormattedValue):
        return _finite(field)
    return {"shown": field.text, **{name: _finite(part) for name, part in field.parts.items()}} if field.text else None


def _table_value(field: Any) -> Value:
    if not isinstance(field, dict):
        return cast(Value, field)
    return FormattedValue(field["shown"], {name: part for name, part in field.items() if name != "shown"})


def _finite(value: PlainValue) -> PlainValue:
    """Return None for a number that is not finite, which JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
