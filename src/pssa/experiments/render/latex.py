"""Tables as LaTeX, with the rules of `booktabs`; the files are parts, for a document to take in."""

from __future__ import annotations

import re

from pssa.experiments.exhibit import Table
from pssa.experiments.render.fields import show_table, spans

__all__ = ["escape", "table_document"]

_SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: f"${name}$" for sign, name in (("±", r"\pm"), ("×", r"\times"), ("−", "-"), ("→", r"\rightarrow"))},
    **{sign: f"${name}$" for sign, name in (("≤", r"\le"), ("≥", r"\ge"), ("≈", r"\approx"), ("·", r"\cdot"))},
    **{sign: f"${name}$" for sign, name in (("γ", r"\gamma"), ("ε", r"\epsilon"), ("Δ", r"\Delta"), ("∞", r"\infty"))},
    "…": r"\ldots{}",
}
_MARKS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]|-(?=-)")
_MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")  # before a number; elsewhere it is a hyphen


def table_document(table: Table) -> str:
    """The table with its caption, a label and its notes."""
    shown = show_table(table)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in shown.is_number)}}}",
        r"\toprule",
        _row(shown.columns),
        r"\midrule",
        *map(_row, shown.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {escape(note)}}}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """The text as LaTeX prints it."""
    return "".join(rf"\texttt{{{_plain(span.text)}}}" if span.is_code else _plain(span.text) for span in spans(text))


def _plain(text: str) -> str:
    # Two hyphens would become a dash.
    return _MARKS.sub(lambda found: _SPECIAL.get(found[0], "-{}"), _MINUS.sub("−", text))


def _row(fields: tuple[str, ...]) -> str:
    # Behind the end of the row before it, a bracket or a star would be an option of that end.
    first, *others = map(escape, fields)
    first = f"{{{first[0]}}}{first[1:]}" if first[:1] in ("[", "*") else first
    return " & ".join([first, *others]) + r" \\"
