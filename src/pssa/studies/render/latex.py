"""Tables as LaTeX, with the rules of `booktabs`; files are parts for a document to take in, and name the packages they need."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pssa.studies.exhibit import Table
from pssa.studies.render.fields import Shown, show_table, spans
from pssa.studies.render.layout import Layout, lay_out

__all__ = ["escape", "table_document"]

_SPECIAL = {
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
_MARKS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]|-(?=-)")
_STRAIGHT = r"\char34{}"  # a quote in code, neither of those that texts have; every typewriter font has it there
_OPENING = re.compile(r'(?<![^\s(\[/])"(?=\S)')  # a quote that begins a word; all others end one
_MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")  # before a number; elsewhere it is a hyphen


def table_document(table: Table, within: str = "") -> str:
    """The table with its caption, a label and its notes.

    :param within: the title of what it is part of, so that the caption stands alone.
    """
    shown = show_table(table)
    layout = lay_out(shown)
    caption = rf"\caption{{{escape(f'{within}: {table.title}' if within else table.title)}}}\label{{tab:{table.name}}}"
    notes = [rf"\par\smallskip{{\footnotesize {escape(note)}}}" for note in table.notes]
    lines = _long(shown, layout, caption, notes) if layout.is_long else _float(shown, caption, notes)
    packages = ["booktabs"] + ["array"] * bool(layout.shares) + ["longtable"] * layout.is_long
    packages += ["pdflscape"] * layout.is_sideways
    return "\n".join([rf"% needs \usepackage{{{','.join(sorted(packages))}}}{_beware(layout)}", *lines]) + "\n"


def _beware(layout: Layout) -> str:
    return "; a longtable is set in one column" if layout.is_long else ""


def _float(shown: Shown, caption: str, notes: Sequence[str]) -> list[str]:
    """A table on one page."""
    return [
        *(r"\begin{table}", r"\centering\small", caption),
        rf"\begin{{tabular}}{{{_columns(shown, ())}}}",
        *(*_head(shown), *map(_row, shown.rows), r"\bottomrule"),
        *(r"\end{tabular}", *notes, r"\end{table}"),
    ]


def _long(shown: Shown, layout: Layout, caption: str, notes: Sequence[str]) -> list[str]:
    """A table that goes on over pages, whose head stands on each."""
    size = r"\scriptsize" if layout.shares else r"\small"
    sideways = "landscape" if layout.is_sideways else ""
    return [
        *([rf"\begin{{{sideways}}}"] if sideways else []),
        rf"\begingroup{size}\setlength{{\tabcolsep}}{{4pt}}\setlength{{\LTcapwidth}}{{\linewidth}}",
        rf"\begin{{longtable}}{{{_columns(shown, layout.shares)}}}",
        *(caption + r" \\", *_head(shown), r"\endfirsthead"),
        *(*_head(shown), r"\endhead", r"\bottomrule", r"\endfoot"),
        *map(_row, shown.rows),
        *(r"\end{longtable}", *notes, r"\par\endgroup"),
        *([rf"\end{{{sideways}}}"] if sideways else []),
    ]


def _head(shown: Shown) -> list[str]:
    return [r"\toprule", _row(shown.columns), r"\midrule"]


def _columns(shown: Shown, shares: Sequence[float]) -> str:
    """Where fields may break they are set ragged: lines of a few words cannot be even."""
    if not shares:
        return "".join("r" if number else "l" for number in shown.is_number)
    sides = (r"\raggedleft" if number else r"\raggedright" for number in shown.is_number)
    return "".join(
        rf">{{{side}\arraybackslash}}p{{\dimexpr {share:.3f}\linewidth-2\tabcolsep\relax}}"
        for side, share in zip(sides, shares, strict=True)
    )


def escape(text: str) -> str:
    """The text as LaTeX prints it."""
    return "".join(_code(span.text) if span.is_code else _plain(_OPENING.sub("``", span.text)) for span in spans(text))


def _code(text: str) -> str:
    inside = _STRAIGHT.join(_plain(part) for part in text.split('"'))
    return rf"\texttt{{{inside}}}"


def _plain(text: str) -> str:
    # Two hyphens would become a dash.
    return _MARKS.sub(lambda found: _SPECIAL.get(found[0], "-{}"), _MINUS.sub("−", text))


def _row(fields: tuple[str, ...]) -> str:
    # Behind the end of the row before it, a bracket or a star would be an option of that end.
    first, *others = map(escape, fields)
    first = f"{{{first[0]}}}{first[1:]}" if first[:1] in ("[", "*") else first
    return " & ".join([first, *others]) + r" \\"
