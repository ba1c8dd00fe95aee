"""Tables as text: Markdown and LaTeX for people, CSV and JSON with unrounded values for programs. pandas writes all but JSON.

Texts may hold `code` between backticks, which every format sets in its own way; everything else in them is escaped.
"""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from pssa.errors import InputError, MissingExtra
from pssa.experiments.ledger import Record
from pssa.studies.exhibit import Figure, FormattedValue, PlainValue, PlotLine, Table, Value

_NUMBER = re.compile(r"[+\-−]?\d")
_CODE = re.compile(r"`([^`\n]+)`")
_LARGE = 10_000  # whole numbers from here on are written with commas

# An underscore inside a word emphasises nothing; an ampersand matters only where it could begin an entity.
_MARKDOWN = re.compile(r"[\\*<`]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|~(?=~)|&(?=#?\w+;)")

_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    **{sign: f"${name}$" for sign, name in (("±", r"\pm"), ("×", r"\times"), ("−", "-"), ("→", r"\rightarrow"))},
    **{sign: f"${name}$" for sign, name in (("≤", r"\le"), ("≥", r"\ge"), ("≈", r"\approx"), ("·", r"\cdot"))},
    **{sign: f"${name}$" for sign, name in (("γ", r"\gamma"), ("ε", r"\epsilon"), ("Δ", r"\Delta"), ("∞", r"\infty"))},
    "…": r"\ldots{}",
}
_LATEX_MARKS = re.compile("[" + re.escape("".join(_LATEX)) + "]|-(?=-)")
_OPENING_QUOTE = re.compile(r'(?<![^\s(\[/])"(?=\S)')  # a quote that begins a word; all others end one
_MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")  # before a number; elsewhere it is a hyphen

# Widths on paper, in digits of LaTeX's `article` with its own margins.
_LINE = 72  # in small type; `_TRIED` has what is tried for wider tables
_GAP = 2  # between columns
# Of Computer Modern in small sizes; all others are about as wide as a digit.
_CHARACTER_WIDTHS = {**dict.fromkeys(".,:;'|!", 0.55), **dict.fromkeys(" -()[]", 0.7), **dict.fromkeys("+−±→≤≥×=", 1.6)}
_CAPITAL = 1.4
_INNER_PLUS = re.compile(r"(?<=[a-z])\+(?=[A-Z])")  # of a name such as Consensus+Contrast, which may break before it
_SLASH = re.compile(r"(?<=\S) /(?= )")  # between two numbers; it does not begin a line
_WORD_END = re.compile(r"\s+(?!/ )|(?<=\w-)(?=\w)|(?<=[a-z])(?=\+[A-Z])")  # where a line may end
_LONGEST_WORD = 24  # a longer word may stick out
_LONGEST_FIELD = 60  # a column gets no more room
_PAGE_ROWS = 30  # that a page holds besides notes

# Columns of cells.csv: the place with its defaults, and what was measured.
_PLACE = {"data": None, "model": None, "seed": None, "share": 1.0, "held_out": False, "stripped": False}
_MEASURED = ("accuracy", "macro_f1", "epochs", "gamma", "parameters", "members", "instances", "with_active", "seconds")


def require_pandas() -> Any:
    """Import pandas, which is loaded only when a table is written.

    :raises MissingExtra: if pandas or tabulate is not installed.
    """
    try:
        importlib.import_module("tabulate")  # pandas writes Markdown with it
        return importlib.import_module("pandas")
    except ImportError as error:
        raise MissingExtra("pandas", "report") from error


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

    def frame(self, escape: Callable[[str], str]) -> Any:
        """Return the escaped texts as a DataFrame."""
        rows = [[escape(field) for field in row] for row in self.rows]
        return require_pandas().DataFrame(rows, columns=[escape(name) for name in self.columns], dtype=object)


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


def markdown_table(table: Table) -> str:
    """Return the rows of a table as Markdown."""
    shown = TextTable.of(table)
    # A bar ends a field even inside code.
    frame = shown.frame(lambda text: escape_markdown(text).replace("|", "\\|"))
    sides = ["right" if number else "left" for number in shown.is_number] if shown.rows else None
    text: str = frame.to_markdown(index=False, disable_numparse=True, colalign=sides)
    return text


def latex_document(table: Table, within: str = "") -> str:
    """Return a table as LaTeX, to be included in a document; the first line names the packages it needs.

    :param within: title of the exhibit, so that the caption stands alone.
    """
    shown = TextTable.of(table)
    layout = _Layout.of(shown)
    is_long = len(shown.rows) > _PAGE_ROWS or bool(layout.widths)
    frame = shown.frame(escape_latex)
    if shown.rows:
        frame.isetitem(0, [_protect(text) for text in frame.iloc[:, 0]])
    text: str = frame.to_latex(
        index=False,
        longtable=is_long,
        column_format=_column_format(shown, layout.widths),
        caption=escape_latex(f"{within}: {table.title}" if within else table.title),
        label=f"tab:{table.name}",
    )
    notes = "".join(
        rf"\par\smallskip{{\footnotesize\sloppy\noindent {escape_latex(note)}\par}}" + "\n" for note in table.notes
    )
    if is_long:
        gap = 3 if layout.size == _TINY.size else 4
        head = rf"\begingroup{layout.size}\setlength{{\tabcolsep}}{{{gap}pt}}\setlength{{\LTcapwidth}}{{\linewidth}}"
        text = f"{head}\n{text}{notes}\\par\\endgroup\n"
    else:
        text = text.replace(r"\begin{table}", "\\begin{table}\n\\centering\\small", 1)
        text = text.replace(r"\end{table}", rf"{notes}\end{{table}}")
    if layout.is_landscape:
        text = f"\\begin{{landscape}}\n{text}\\end{{landscape}}\n"
    used = {"booktabs": True, "array": bool(layout.widths), "longtable": is_long, "pdflscape": layout.is_landscape}
    packages = [name for name, is_used in used.items() if is_used]
    beware = "; a longtable needs a document in one column" if is_long else ""
    return rf"% needs \usepackage{{{','.join(sorted(packages))}}}{beware}" + "\n" + text


def escape_latex(text: str) -> str:
    """Return the text as LaTeX prints it."""
    return convert_text(text, lambda plain: _latex(_OPENING_QUOTE.sub("``", plain)), _latex_code)


def _latex_code(text: str) -> str:
    # A straight quote, which every typewriter font has at 34.
    inside = r"\char34{}".join(_latex(part) for part in text.split('"'))
    return rf"\texttt{{{inside}}}"


def _latex(text: str) -> str:
    # Two hyphens would become a dash.
    marked = _LATEX_MARKS.sub(lambda found: _LATEX.get(found[0], "-{}"), _MINUS.sub("−", text))
    return _SLASH.sub("~/", _INNER_PLUS.sub(r"\\allowbreak{}+", marked))


def _protect(first: str) -> str:
    """Return the first field of a row; a bracket or star there would be an option of the row end before it."""
    return f"{{{first[0]}}}{first[1:]}" if first[:1] in ("[", "*") else first


def _column_format(shown: TextTable, widths: Sequence[float]) -> str:
    if not widths:
        return "".join("r" if number else "l" for number in shown.is_number)
    # Fields that break are set ragged: lines of a few words cannot be justified.
    sides = (r"\raggedleft" if number else r"\raggedright" for number in shown.is_number)
    return "".join(
        rf">{{{side}\arraybackslash}}p{{\dimexpr {width:.3f}\linewidth-2\tabcolsep\relax}}"
        for side, width in zip(sides, widths, strict=True)
    )


class _Page(NamedTuple):
    size: str
    line: int  # its width
    is_landscape: bool


_UPRIGHT, _TURNED, _TINY = (
    _Page(r"\scriptsize", 86, False),
    _Page(r"\scriptsize", 135, True),
    _Page(r"\tiny", 158, True),
)
# The longest number that stays on one line, and the page, in the order in which they are tried: at first two scores with their
# stars stay together, then a score and its deviation.
_TRIED = ((20, _UPRIGHT), (20, _TURNED), (15, _TURNED), (15, _TINY), (0, _TURNED))


@dataclass(frozen=True)
class _Layout:
    """How a table lies on the page."""

    widths: tuple[float, ...] = ()  # share of the line of each column; none if the fields fit as they are
    size: str = r"\small"
    is_landscape: bool = False

    @classmethod
    def of(cls, shown: TextTable) -> _Layout:
        """Choose the largest type in which no word sticks out, with numbers on one line if a page can hold them so."""
        columns = list(zip(shown.columns, *shown.rows, strict=True))
        longest = [max(map(_length, texts)) for texts in columns]
        gaps = _GAP * len(longest)
        if sum(longest) + gaps <= _LINE:
            return cls()
        tried = ((page, _least_widths(columns, shown.is_number, longest)) for longest, page in _TRIED)
        fitting = ((page, least) for page, least in tried if sum(least) + gaps <= page.line)
        page, least = next(fitting, (_TINY, _least_widths(columns, shown.is_number, 0)))
        extra = [max(0, min(long, _LONGEST_FIELD) - own) for own, long in zip(least, longest, strict=True)]
        left = max(0, page.line - gaps - sum(least)) / max(1, sum(extra))
        widths = [own + left * more + _GAP for own, more in zip(least, extra, strict=True)]
        # Rounded down, so that all of them are never more than the line.
        return cls(tuple(int(1000 * width / sum(widths)) / 1000 for width in widths), page.size, page.is_landscape)


def _least_widths(columns: Sequence[Sequence[str]], is_number: Sequence[bool], longest_number: float) -> list[float]:
    return [
        _least_width(texts, longest_number if number else 0) for texts, number in zip(columns, is_number, strict=True)
    ]


def _least_width(texts: Sequence[str], longest_number: float) -> float:
    """Return what a column needs so that no word sticks out, and no number up to this length is torn."""
    whole = [length for text in texts[1:] if (length := _length(text)) <= longest_number]
    words = [_length(word) for text in texts for word in _WORD_END.split(text)]
    return min(_LONGEST_WORD, max([*whole, *words], default=1))


def _length(text: str) -> float:
    """Return about how long a text is on paper, in digits."""
    letters = text.replace("`", "")
    return sum(_CAPITAL if letter.isupper() else _CHARACTER_WIDTHS.get(letter, 1.0) for letter in letters)


def table_csv(table: Table) -> str:
    """Return a table as CSV, a column for each part of a formatted value; missing values are empty."""
    parts = [_part_names(row[index] for row in table.rows) for index in range(len(table.columns))]
    columns = [
        f"{column} {name}" if len(names) > 1 else column
        for column, names in zip(table.columns, parts, strict=True)
        for name in names or ("",)
    ]
    rows = [
        [value for field, names in zip(row, parts, strict=True) for value in _part_values(field, names)]
        for row in table.rows
    ]
    return _csv(columns, rows)


def table_json(table: Table) -> str:
    """Return a table with its title and notes as JSON; numbers are numbers, and missing values are null."""
    value = {
        "name": table.name,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[_json_value(field) for field in row] for row in table.rows],
        "notes": list(table.notes),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def read_table(path: Path) -> Table:
    """Return a table from the JSON file that `table_json` made.

    :raises InputError: if the file is something else.
    """
    try:
        stored = json.loads(path.read_text("utf-8"))
        rows = tuple(tuple(map(_table_value, row)) for row in stored["rows"])
        return Table(stored["name"], stored["title"], tuple(stored["columns"]), rows, tuple(stored["notes"]))
    except (ValueError, TypeError, LookupError) as error:
        raise InputError(f"{path} is not a table of an exhibit; remove it and show its exhibit again") from error


def _table_value(field: Any) -> Value:
    if not isinstance(field, dict):
        return cast(Value, field)
    return FormattedValue(field["shown"], {name: part for name, part in field.items() if name != "shown"})


def cells_csv(records: Iterable[Record]) -> str:
    """Return a line for each record, with what a spreadsheet can hold of it; the ledger has the rest.

    `evidence` and `settings` are those of the training; for an analysis, of the training that is analysed.
    """
    columns = ("key", "kind", *_PLACE, "what", "method", "evidence", "rounds", "above", "settings", *_MEASURED)
    return _csv(columns, [_cell_row(record) for record in records])


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


def _cell_row(record: Record) -> list[Any]:
    cell = record["cell"]
    about = cell.get("training", cell)
    place = about["place"]
    method = about.get("method", None if cell["kind"] == "timing" else "base")
    evidence = " + ".join(_mining_text(mining) for mining in about.get("evidence", ()))
    settings = _settings_text({**place.get("settings", {}), **about.get("settings", {})})
    return [
        *(record["key"], cell["kind"], *(place.get(name, default) for name, default in _PLACE.items())),
        *(cell.get("what"), method, evidence or None, about.get("rounds"), about.get("above"), settings or None),
        *(record.get(name) for name in _MEASURED),
    ]


def _mining_text(mining: Record) -> str:
    settings = _settings_text({**mining["place"].get("settings", {}), **mining.get("settings", {})})
    return f"{mining['method']} [{settings}]" if settings else str(mining["method"])


def _settings_text(chosen: Record) -> str:
    return " ".join(f"{name}={value}" for name, value in chosen.items())


def _csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    plain = [[_finite(field) for field in row] for row in rows]
    frame = require_pandas().DataFrame(plain, columns=list(columns), dtype=object)
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


def _finite(value: PlainValue) -> PlainValue:
    """Return None for a number that is not finite, which JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
