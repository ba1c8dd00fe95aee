"""LaTeX that prints what was meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.studies.exhibit import Table
from pssa.studies.render.latex import escape, table_document


def test_a_table_has_rules_caption_label_and_notes() -> None:
    table = Table("overall-rest", "REST & more", ("model", "F1"), (("MN (+AW-AS_m)", "-1.2 ± 0.3"),), ("* p < .05",))
    assert table_document(table, "Overall %") == (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table}\n"
        "\\centering\\small\n"
        "\\caption{Overall \\%: REST \\& more}\\label{tab:overall-rest}\n"
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
        ('say "yes" ("no") 5" "', "say ``yes'' (``no'') 5'' ''"),
        ('`a="b"`', "\\texttt{a=\\char34{}b\\char34{}}"),
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


def test_a_long_table_goes_on_over_pages_with_its_head_on_each() -> None:
    rows = tuple((f"row {number}", number) for number in range(31))
    document = table_document(Table("t", "T", ("name", "x"), rows, ("A note.",)))
    head = "\\toprule\nname & x \\\\\n\\midrule\n"
    assert document.startswith(
        "% needs \\usepackage{booktabs,longtable}; a longtable is set in one column\n"
        "\\begingroup\\small\\setlength{\\tabcolsep}{4pt}\\setlength{\\LTcapwidth}{\\linewidth}\n"
        "\\begin{longtable}{lr}\n"
        f"\\caption{{T}}\\label{{tab:t}} \\\\\n{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\nrow 0 & 0 \\\\\n"
    )
    assert document.endswith(
        "row 30 & 30 \\\\\n\\end{longtable}\n\\par\\smallskip{\\footnotesize A note.}\n\\par\\endgroup\n"
    )


def test_sentences_are_broken_within_their_columns() -> None:
    document = table_document(Table("t", "T", ("claim", "x"), (("it holds " * 12, 1.5),)))
    assert document.startswith("% needs \\usepackage{array,booktabs,longtable}; ")
    ours, number = re.findall(r">\{\\(raggedright|raggedleft)\\arraybackslash\}p\{\\dimexpr (0\.\d+)", document)
    assert (ours[0], number[0]) == ("raggedright", "raggedleft")
    assert float(ours[1]) > 0.8
    assert "landscape" not in document


def test_what_no_line_holds_upright_is_set_sideways() -> None:
    columns = tuple(f"column-number-{number}" for number in range(8))
    document = table_document(Table("t", "T", columns, ((1.5,) * 8,)))
    assert document.startswith("% needs \\usepackage{array,booktabs,longtable,pdflscape}; ")
    assert "\n\\begin{landscape}\n" in document
    assert document.endswith("\n\\end{landscape}\n")


@given(st.text(st.sampled_from('\\{}$&#%_^~<>|"`-[*a1 \n±≥γ\u00e9')))
def test_nothing_in_a_text_is_a_command(text: str) -> None:
    rest = re.sub(
        r"\\text[a-z]+\{\}|\\texttt(?=\{)|\\char34\{\}|\\ldots\{\}|\$\\?[a-zA-Z-]+\$|\\[&%$#_{}]|-\{\}",
        "",
        escape(text),
    )
    assert not re.search(r"[\\$&#%_^~]", rest)
    assert rest.count("{") == rest.count("}")
