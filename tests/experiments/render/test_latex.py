"""LaTeX that prints what was meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.experiments.exhibit import Table
from pssa.experiments.render.latex import escape, table_document


def test_a_table_has_rules_caption_label_and_notes() -> None:
    table = Table("overall-rest", "REST & more", ("model", "F1"), (("MN (+AW-AS_m)", "-1.2 ± 0.3"),), ("* p < .05",))
    assert table_document(table) == (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table}\n"
        "\\centering\\small\n"
        "\\caption{REST \\& more}\n"
        "\\label{tab:overall-rest}\n"
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "model & F1 \\\\\n"
        "\\midrule\n"
        "MN (+AW-AS\\_m) & $-$1.2 $\\pm$ 0.3 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\par\\smallskip{\\footnotesize * p \\textless{} .05}\n"
        "\\end{table}\n"
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50 % of $x_1$ #2 {a}", "50 \\% of \\$x\\_1\\$ \\#2 \\{a\\}"),
        ("a\\b~c^d|e>f", "a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d\\textbar{}e\\textgreater{}f"),
        ("`--seeds 5`", "\\texttt{-{}-seeds 5}"),
        ("AW-AS, -0.5, 1e-5, x-1", "AW-AS, $-$0.5, 1e-5, x-1"),
        ("81 ± 2 → ≥ 3 × γ", "81 $\\pm$ 2 $\\rightarrow$ $\\ge$ 3 $\\times$ $\\gamma$"),
    ],
)
def test_signs_are_escaped(text: str, written: str) -> None:
    assert escape(text) == written


@pytest.mark.parametrize(("field", "written"), [("[CLS] row", "{[}CLS] row"), ("* star", "{*} star"), ("", "")])
def test_a_row_cannot_begin_with_what_belongs_to_the_end_of_the_last(field: str, written: str) -> None:
    document = table_document(Table("t", "T", ("a", "b"), ((field, 1),)))
    assert f"\n{written} & 1 \\\\\n" in document


@given(st.text(st.sampled_from('\\{}$&#%_^~<>|"`-[*a1 \n±≥γ\u00e9')))
def test_nothing_in_a_text_is_a_command(text: str) -> None:
    rest = re.sub(r"\\text[a-z]+\{\}|\\texttt(?=\{)|\\ldots\{\}|\$\\?[a-zA-Z-]+\$|\\[&%$#_{}]|-\{\}", "", escape(text))
    assert not re.search(r"[\\$&#%_^~]", rest)
    assert rest.count("{") == rest.count("}")
