"""Tables as people and as programs read them."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.experiments.cells import Analysis, Mining, Place, Training, describe, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import (
    Exhibit,
    Figure,
    Part,
    Picture,
    PlotLine,
    Table,
    Value,
    format_percent,
    format_scores,
    not_measured,
)
from paper.studies.latex import _Layout, escape_latex, latex_document
from paper.studies.pages import markdown_document
from paper.studies.tables import (
    TextTable,
    cells_csv,
    convert_text,
    grid_table,
    markdown_table,
    points_table,
    table_csv,
    table_json,
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


def test_columns_of_numbers_are_told_from_columns_of_text() -> None:
    rows: tuple[tuple[Value, ...], ...] = (
        ("1", "81.00 ± 0.10", "+1.2** / -0.5", "-", 3, None, "k=2"),
        ("2", None, "−0.1 / 0.0", "no", 4, None, None),
    )
    found = TextTable.of(Table("t", "T", ("a", "b", "c", "d", "e", "f", "g"), rows))
    # The first column names the row, whatever it holds.
    assert found.is_number == (False, True, True, False, True, True, False)


def test_a_table_without_rows_keeps_its_columns() -> None:
    found = TextTable.of(Table("t", "T", ("a", "b"), ()))
    assert (found.columns, found.rows) == (("a", "b"), ())


def test_a_row_of_another_length_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="row 2 of table t has 1 fields for 2 columns"):
        TextTable.of(Table("t", "T", ("a", "b"), (("x", 1), ("y",))))


def test_code_is_cut_out_of_a_text() -> None:
    def marked(text: str) -> str:
        return convert_text(text, str.upper, "<{}>".format)

    assert marked("take `--seeds` of\n`x`") == "TAKE <--seeds> OF <x>"
    assert marked("a ` alone") == "A ` ALONE"
    assert marked("") == ""


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


def test_numbers_of_a_figure_have_as_many_decimals() -> None:
    lines = PlotLine("LAPTOP", (1.0, 2.0), (0.534, 0.0979)), PlotLine("REST", (1.0, 2.0), (0.0123, 0.0), (0.001, None))
    found = grid_table(Figure("f", "F", "x", "words", (("MN", lines),)))
    assert found.rows == (("MN", "LAPTOP", "0.534", "0.098"), ("MN", "REST", "0.012 ± 0.001", "0.000"))


def test_a_line_with_more_places_than_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        points_table(Figure("f", "F", "x", "y", (("p", (PlotLine("l", (1.0, 2.0), (1.0,)),)),)))


def test_a_table_has_rules_caption_label_and_notes() -> None:
    table = Table("overall-rest", "REST & more", ("model", "F1"), (("MN (+AW-AS_m)", "-1.2 ± 0.3"),), ("* p < .05",))
    document = latex_document(table, "Overall %")
    assert document.startswith("% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\\small\n")
    assert "\\caption{Overall \\%: REST \\& more}" in document
    assert "\\label{tab:overall-rest}" in document
    assert "\\begin{tabular}{lr}\n\\toprule\nmodel & F1 \\\\\n\\midrule\n" in document
    assert "\nMN (+AW-AS\\_m) & $-$1.2 $\\pm$ 0.3 \\\\\n\\bottomrule\n\\end{tabular}\n" in document
    assert document.endswith(
        "\\par\\smallskip{\\footnotesize\\sloppy\\noindent * p \\textless{} .05\\par}\n\\end{table}\n"
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
        ("+0.5* / -0.1", "+0.5*~/ $-$0.1"),
        ("81 ± 2 → ≥ 3 × γ", "81 $\\pm$ 2 $\\rightarrow$ $\\ge$ 3 $\\times$ $\\gamma$"),
    ],
)
def test_signs_are_escaped(text: str, written: str) -> None:
    assert escape_latex(text) == written


@pytest.mark.parametrize(("field", "written"), [("[CLS] row", "{[}CLS] row"), ("* star", "{*} star"), ("", "")])
def test_a_row_cannot_begin_with_what_belongs_to_the_end_of_the_last(field: str, written: str) -> None:
    document = latex_document(Table("t", "T", ("a", "b"), ((field, 1),)))
    assert f"\n{written} & 1 \\\\\n" in document


def test_a_long_table_goes_on_over_pages_with_its_head_on_each() -> None:
    rows = tuple((f"row {number}", number) for number in range(31))
    document = latex_document(Table("t", "T", ("name", "x"), rows, ("A note.",)))
    assert document.startswith("% needs \\usepackage{booktabs,longtable}; ")
    assert "\\begin{longtable}{lr}\n" in document
    assert document.count("\\toprule\nname & x \\\\\n\\midrule\n") == 2
    assert document.index("\\endfirsthead") < document.index("\\endhead") < document.index("row 0 & 0 \\\\")
    assert (
        "row 30 & 30 \\\\\n\\end{longtable}\n\\par\\smallskip{\\footnotesize\\sloppy\\noindent A note.\\par}\n"
        in document
    )


def test_sentences_are_broken_within_their_columns() -> None:
    document = latex_document(Table("t", "T", ("claim", "x"), (("it holds " * 12, 1.5),)))
    assert document.startswith("% needs \\usepackage{array,booktabs,longtable}; ")
    ours, number = re.findall(r">\{\\(raggedright|raggedleft)\\arraybackslash\}p\{\\dimexpr (0\.\d+)", document)
    assert (ours[0], number[0]) == ("raggedright", "raggedleft")
    assert float(ours[1]) > 0.8
    assert "landscape" not in document


def test_what_no_line_holds_upright_is_set_sideways() -> None:
    columns = tuple(f"heading{number}{number}{number}" for number in range(12))
    document = latex_document(Table("t", "T", columns, ((1.5,) * 12,)))
    assert document.startswith("% needs \\usepackage{array,booktabs,longtable,pdflscape}; ")
    assert "\n\\begin{landscape}\n" in document
    assert document.endswith("\n\\end{landscape}\n")


@given(st.text(st.sampled_from('\\{}$&#%_^~<>|"`-[*a1 \n±≥γ\u00e9')))
def test_nothing_in_a_text_is_a_command(text: str) -> None:
    rest = re.sub(
        r"\\text[a-z]+\{\}|\\texttt(?=\{)|\\char34\{\}|\\ldots\{\}|\$\\?[a-zA-Z-]+\$|\\[&%$#_{}]|-\{\}",
        "",
        escape_latex(text),
    )
    assert not re.search(r"[\\$&#%_^~]", rest)
    assert rest.count("{") == rest.count("}")


def widths(columns: tuple[str, ...], *rows: tuple[str | float | None, ...]) -> tuple[float, ...]:
    """Return the shares of the columns; empty where all fields fit."""
    return _Layout.of(TextTable.of(Table("t", "T", columns, rows))).widths


def test_a_number_is_not_torn_from_its_spread_for_the_sake_of_a_sentence() -> None:
    sentence = "a sentence of words " * 10
    name, score = widths(("claim", "accuracy"), (sentence, "66.42 ± 0.92"))
    # Twelve of the 86 characters of a line, and two between columns.
    assert score == pytest.approx(14 / 86, abs=0.02)
    assert name + score == pytest.approx(1, abs=0.002)


def test_words_of_headings_are_not_broken() -> None:
    first, *others = widths(("", *["considerable number"] * 5), ("a sentence of words " * 10, *[1.0] * 5))
    assert min(others) >= len("considerable") / 86
    assert first < 0.3


def test_a_page_without_room_breaks_pairs_of_numbers_before_words() -> None:
    columns = ("model", "trained on", "tested on", *("+Consensus+Contrast", "+Human") * 6)
    row = ("BERTABSA-ATT", "LAPTOP", "TWITTER", *["+1.04** / +1.88**"] * 12)
    layout = _Layout.of(TextTable.of(Table("t", "T", columns, (row,))))
    assert (layout.size, layout.is_landscape) == (r"\tiny", True)
    # LAPTOP is wider than six digits.
    assert layout.widths[1] > 8 / 158
    assert escape_latex("+Consensus+Contrast") == "+Consensus\\allowbreak{}+Contrast"


def test_code_is_as_long_as_it_prints() -> None:
    assert widths(("a", "b"), ("x" * 59, "`code` `code`")) == ()


@given(st.lists(st.text("ab -5`", max_size=150), min_size=1, max_size=14))
def test_columns_never_take_more_than_the_line(fields: list[str]) -> None:
    found = widths(tuple(fields), tuple(fields))
    assert sum(found) <= 1
    assert len(found) in (0, len(fields))
    assert all(share > 0 for share in found)


def paragraph(text: str) -> str:
    exhibit = Exhibit("x", "X", lambda scope: (), lambda scope, lookup: ())
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


def test_code_in_a_table_cannot_end_its_field() -> None:
    assert markdown_table(Table("t", "T", ("a",), (("`x|y`",),))).splitlines()[2] == r"| `x\|y` |"


def test_an_exhibit_shows_its_parts_in_their_order() -> None:
    figure = Figure("curve", "A curve", "x", "y", (("p", (PlotLine("l", (1.0,), (2.0,)),)),), ("Below.",))
    picture = Picture("maps", "Heat maps", "<p>", "<svg/>")
    exhibit = Exhibit("two-words", "Two words", lambda scope: (), lambda scope, lookup: ())
    parts: list[Part] = ["First.", figure, picture]
    blocks = markdown_document(exhibit, parts, {"curve"}).split("\n\n")
    assert blocks[:4] == ["# Two words", "First.", "## A curve", "![A curve](two-words/curve.svg)"]
    assert [field.strip() for field in blocks[4].splitlines()[2].split("|")] == ["", "p", "l", "2.00", ""]
    assert blocks[5:] == ["Below.", "## Heat maps", "![Heat maps](two-words/maps.svg)\n"]
    assert "curve.svg" not in markdown_document(exhibit, parts)


QUOTED = Table("t", 'Ti"tle', ("name", "x, y"), (("a\nb", 0.1 + 0.2), ("c", None), ('"', 7)), ("note",))


def test_csv_has_the_values_in_full() -> None:
    assert table_csv(QUOTED) == 'name,"x, y"\n"a\nb",0.30000000000000004\nc,\n"""",7\n'


def test_json_keeps_the_kinds_of_values() -> None:
    assert json.loads(table_json(QUOTED)) == {
        "name": "t",
        "title": 'Ti"tle',
        "columns": ["name", "x, y"],
        "rows": [["a\nb", 0.1 + 0.2], ["c", None], ['"', 7]],
        "notes": ["note"],
    }


READINGS = Table(
    *("t", "T", ("corpus", "model", "gain", "paper")),
    (
        (format_percent(0.25, 0), "MN", format_scores((0.125, -2.0), "+"), format_scores(None)),
        (format_percent(0.5, 0), "TNet", format_scores((math.nan, 1.0)), format_scores(None)),
        (not_measured("share"), "none", None, format_scores(None)),
    ),
)


def test_what_a_reading_is_made_of_has_columns_of_its_own() -> None:
    assert table_csv(READINGS).splitlines() == [
        "corpus,model,gain accuracy,gain macro-F1,paper accuracy,paper macro-F1",
        "0.25,MN,0.125,-2.0,,",
        "0.5,TNet,,1.0,,",
        ",none,,,,",
    ]


def test_json_has_what_a_reading_shows_and_what_it_is_made_of() -> None:
    assert json.loads(table_json(READINGS))["rows"] == [
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
    assert json.loads(table_json(table))["rows"] == [[None, None, 1.5]]
    assert table_csv(table) == "a,b,c\n,,1.5\n"


def test_every_cell_is_a_line_with_what_was_measured() -> None:
    place = Place("rest", "memnet", 3, share=0.5)
    mining = Mining(place, "aw-as", settings(epsilon=2.0))
    training = Training(place, evidence=(mining,), rounds=2, settings=settings(words="active"))
    elsewhere = Place("rest", "memnet", 3, held_out=True)
    records: list[Record] = [
        {"key": "k1", "cell": describe(training), "accuracy": 0.5, "macro_f1": 0.25, "epochs": 7, "seconds": 1.5},
        {"key": "k2", "cell": describe(mining), "with_active": 12, "seconds": 2.5},
        {"key": "k3", "cell": describe(Analysis(training, "trust")), "found": {}, "seconds": 1},
        {"key": "k4", "cell": describe(Training(elsewhere, "boosting")), "accuracy": 0.75},
    ]
    trained, mined, looked, other = csv.DictReader(io.StringIO(cells_csv(records)))
    assert (trained["key"], trained["kind"], trained["data"], trained["seed"]) == ("k1", "training", "rest", "3")
    assert (trained["share"], trained["held_out"]) == ("0.5", "False")
    assert (trained["method"], trained["evidence"]) == ("base", "aw-as [epsilon=2.0]")
    assert (trained["rounds"], trained["settings"]) == ("2", "words=active")
    assert (trained["accuracy"], trained["macro_f1"], trained["epochs"], trained["seconds"]) == (
        "0.5",
        "0.25",
        "7",
        "1.5",
    )
    assert (mined["kind"], mined["method"], mined["settings"]) == ("mining", "aw-as", "epsilon=2.0")
    assert (mined["evidence"], mined["accuracy"], mined["with_active"]) == ("", "", "12")
    # Looks are told apart by what they look at.
    assert (looked["kind"], looked["what"], looked["evidence"]) == ("look", "trust", "aw-as [epsilon=2.0]")
    assert (looked["rounds"], looked["settings"]) == ("2", "words=active")
    assert (other["held_out"], other["method"], other["share"]) == ("True", "boosting", "1.0")
