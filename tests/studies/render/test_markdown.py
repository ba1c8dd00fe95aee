"""Markdown that shows what was meant."""

from __future__ import annotations

import pytest

from pssa.studies.exhibit import Exhibit, Figure, Line, Panel, Part, Picture, Prose, Table
from pssa.studies.render.markdown import exhibit_document, part_document, table_text


def paragraph(text: str) -> str:
    exhibit = Exhibit("x", "X", lambda scope: (), lambda scope, findings: ())
    return exhibit_document(exhibit, [Prose(text)]).split("\n\n")[1].rstrip("\n")


def test_a_table_is_set_by_its_columns() -> None:
    table = Table("t", "T", ("model", "data", "gain"), (("MN", "REST", "+1.2** / +0.4"), ("TNet|x", "a_b", None)))
    assert table_text(table) == (
        "| model | data | gain |\n| --- | --- | ---: |\n| MN | REST | +1.2\\*\\* / +0.4 |\n| TNet\\|x | a_b |  |"
    )


def test_a_table_alone_has_its_title_and_its_notes() -> None:
    table = Table("t", "The *title*", ("a",), (("x",),), ("First.", "`code|` stays."))
    assert part_document(table) == "## The \\*title\\*\n\n| a |\n| --- |\n| x |\n\nFirst.\n\n`code|` stays.\n"


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
    assert table_text(Table("t", "T", ("a",), (("`x|y`",),))).splitlines()[2] == "| `x\\|y` |"


def test_an_exhibit_shows_its_parts_in_their_order() -> None:
    figure = Figure("curve", "A curve", "x", "y", (Panel("p", (Line("l", (1.0,), (2.0,)),)),), ("Below.",))
    picture = Picture("maps", "Heat maps", "<p>", "<svg/>")
    exhibit = Exhibit("two-words", "Two words", lambda scope: (), lambda scope, findings: ())
    parts: list[Part] = [Prose("First."), figure, picture]
    assert exhibit_document(exhibit, parts, {"curve"}) == (
        "# Two words\n\nFirst.\n\n## A curve\n\n![A curve](two-words/curve.svg)\n\n"
        "| plot | y by x | 1 |\n| --- | --- | ---: |\n| p | l | 2.00 |\n\nBelow.\n\n"
        "## Heat maps\n\n![Heat maps](two-words/maps.svg)\n"
    )
    assert "curve.svg" not in exhibit_document(exhibit, parts)
