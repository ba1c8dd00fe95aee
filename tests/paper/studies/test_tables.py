"""Tables as people and as programs read them."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.studies.exhibit import Exhibit, Figure, PlotLine, Table, Value, format_percent, format_scores
from paper.studies.pages import markdown_document
from paper.studies.tables import (
    TextTable,
    escape_latex,
    grid_table,
    markdown_table,
    points_table,
    table_csv,
    table_latex,
    table_values,
)

FIGURE = Figure(
    "sweep",
    "A sweep",
    "epsilon",
    "macro-F1",
    (
        (
            "MN",
            (
                PlotLine("LAPTOP", (1.0, 2.0, 3.0), (60.0, 61.256, 62.0), (0.5, 1.0, None)),
                PlotLine("REST", (2.0,), (math.nan,)),
            ),
        ),
        ("TNet", ()),
    ),
    ("A note.",),
)


def column(*values: Value) -> list[str]:
    """A column of numbers behind one of names."""
    return [
        row[1] for row in TextTable.of(Table("t", "T", ("name", "x"), tuple(("a", value) for value in values))).rows
    ]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((81.5, 7.126, None), ["81.50", "7.13", ""]),
        ((0.5, 0.1234), ["0.500", "0.123"]),
        ((0.5, 1.0), ["0.500", "1.000"]),
        ((0.0123, 0.004), ["0.0123", "0.0040"]),
        ((0.0, 0.0), ["0.000", "0.000"]),
        ((1234.56, 2.0), ["1234.6", "2.0"]),
        ((23456.7, 2.0), ["23457", "2"]),
        ((math.nan, math.inf, 1.5), ["", "", "1.50"]),
        ((273, 9999, 10000, -1234567), ["273", "9999", "10,000", "-1,234,567"]),
        ((True, False), ["yes", "no"]),
        (("two\nlines  of text", ""), ["two lines of text", ""]),
    ],
)
def test_numbers_of_a_column_have_as_many_decimals(values: tuple[Value, ...], texts: list[str]) -> None:
    assert column(*values) == texts


def test_every_point_of_a_figure_is_a_row() -> None:
    found = points_table(FIGURE)
    assert found.columns == ("plot", "line", "epsilon", "macro-F1", "spread")
    assert found.rows[:2] == (("MN", "LAPTOP", 1.0, 60.0, 0.5), ("MN", "LAPTOP", 2.0, 61.256, 1.0))
    assert found.rows[2] == ("MN", "LAPTOP", 3.0, 62.0, None)  # of a single seed
    assert found.rows[3][:3] == ("MN", "REST", 2.0)
    assert found.rows[3][4] is None
    assert (found.name, found.notes) == ("sweep", ("A note.",))


def test_a_figure_can_be_read_as_a_grid() -> None:
    found = grid_table(FIGURE)
    assert found.columns == ("plot", "macro-F1 by epsilon", "1", "2", "3")
    assert found.rows == (("MN", "LAPTOP", "60.00 ± 0.50", "61.26 ± 1.00", "62.00"), ("MN", "REST", None, None, None))


def test_latex_has_rules_caption_label_and_notes() -> None:
    rows = (("MN (+AW-AS_m)", "−1.2 ± 0.3", "so " * 20), ("[CLS]", None, ""))
    text = table_latex(Table("overall-rest", "REST & more", ("model", "F1", "why"), rows, ("`a` < .05",)))
    assert text.startswith("\\begin{longtable}{lrp{5cm}}\n\\caption{REST \\& more} \\label{tab:overall-rest}")
    assert f"MN (+AW-AS\\_m) & $-$1.2 $\\pm$ 0.3 & {('so ' * 20).strip()} \\\\\n{{[}}CLS] &  &  \\\\\n" in text
    assert text.endswith("\\end{longtable}\n\n\\texttt{a} \\textless{} .05\n")


@given(st.text(st.sampled_from('\\{}$&#%_^~<>|"`-[*a1 \n±→γ\u00e9')))
def test_nothing_in_a_text_is_a_command(text: str) -> None:
    rest = re.sub(r"\\text[a-z]+\{\}|\\texttt(?=\{)|\$\\?[a-zA-Z-]+\$|\\[&%$#_{}]", "", escape_latex(text))
    assert not re.search(r"[\\$&#%_^~]", rest)
    assert rest.count("{") == rest.count("}")


def paragraph(text: str) -> str:
    exhibit = Exhibit("x", "X", lambda scope, lookup: ())
    return markdown_document(exhibit, [text]).split("\n\n")[1].rstrip("\n")


def test_a_table_is_set_by_its_columns() -> None:
    table = Table("t", "T", ("model", "data", "gain"), (("MN", "REST", "+1.2** / +0.4"), ("TNet|x", "a_b", None)))
    head, rule, first, second = (re.split(r"(?<!\\)\|", line)[1:-1] for line in markdown_table(table).splitlines())
    assert [field.strip() for field in head] == ["model", "data", "gain"]
    assert [(each[0], each[-1]) for each in rule] == [(":", "-"), (":", "-"), ("-", ":")]
    assert [field.strip() for field in first] == ["MN", "REST", r"+1.2\*\* / +0.4"]
    assert [field.strip() for field in second] == [r"TNet\|x", "a_b", ""]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain - text + more", "plain - text + more"),
        ("* p < .05", "\\* p \\< .05"),
        ("AS_m and _a and b_", "AS_m and \\_a and b\\_"),
        ("&lt; and A & B", "&amp;lt; and A & B"),
        ("[CLS] and [a](b)", "[CLS] and [a\\](b)"),
        ("`a*b` * `<`", "`a*b` \\* `<`"),
        ("back\\slash ` tick", "back\\\\slash \\` tick"),
        ("# no heading", "\\# no heading"),
        ("- no list", "\\- no list"),
        ("+PG-AS first", "+PG-AS first"),
        ("2. no list", "2\\. no list"),
        ("2.5 points", "2.5 points"),
        ("> no quote", "\\> no quote"),
        ("two\n\n# lines", "two # lines"),
    ],
)
def test_text_stays_text(text: str, written: str) -> None:
    assert paragraph(text) == written


QUOTED = Table("t", 'Ti"tle', ("name", "x, y"), (("a\nb", 0.1 + 0.2), ("c", None), ('"', 7)), ("note",))


def test_csv_has_the_values_in_full() -> None:
    assert table_csv(QUOTED) == 'name,"x, y"\n"a\nb",0.30000000000000004\nc,\n"""",7\n'


READINGS = Table(
    *("t", "T", ("corpus", "model", "gain", "paper")),
    (
        (format_percent(0.25, 0), "MN", format_scores((0.125, -2.0), "+"), format_scores(None)),
        (format_percent(0.5, 0), "TNet", format_scores((math.nan, 1.0)), format_scores(None)),
        (None, "none", None, format_scores(None)),
    ),
)


def test_what_a_reading_is_made_of_has_columns_of_its_own() -> None:
    assert table_csv(READINGS).splitlines() == [
        "corpus,model,gain accuracy,gain macro-F1,paper",
        "0.25,MN,0.125,-2.0,",
        "0.5,TNet,,1.0,",
        ",none,,,",
    ]


def test_json_has_what_a_reading_shows_and_what_it_is_made_of() -> None:
    assert table_values(READINGS)["rows"] == [
        *(
            [
                {"shown": "25%", "share": 0.25},
                "MN",
                {"shown": "+0.12 / -2.00", "accuracy": 0.125, "macro-F1": -2.0},
                None,
            ],
            [{"shown": "50%", "share": 0.5}, "TNet", {"shown": "nan / 1.00", "accuracy": None, "macro-F1": 1.0}, None],
        ),
        [None, "none", None, None],
    ]


def test_what_is_not_finite_is_missing() -> None:
    table = Table("t", "T", ("a", "b", "c"), ((math.nan, math.inf, 1.5),))
    assert table_values(table)["rows"] == [[None, None, 1.5]]
    assert table_csv(table) == "a,b,c\n,,1.5\n"
