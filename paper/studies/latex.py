"""Tables as LaTeX: escaping, and a layout in which every table fits its page, in smaller type or turned if it must."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paper.studies.exhibit import Table
from paper.studies.tables import TextTable, convert_text

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
