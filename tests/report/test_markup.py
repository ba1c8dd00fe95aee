"""HTML that cannot be got wrong."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.report.documents import parse, refuse_outside

from pssa.report.heat_map import clean
from pssa.report.markup import Markup, escape, join, page, table


@given(st.text(st.characters()))
def test_text_is_text_in_elements_and_in_attributes(text: str) -> None:
    (element,) = parse(f'<p title="{escape(text)}">{escape(text)}</p>').children
    assert element.text == element.attributes["title"] == clean(text)


def test_markup_stays_markup() -> None:
    assert escape(Markup("<b>1</b>")) == "<b>1</b>"
    assert escape(3) == "3"
    assert join([Markup("<b>"), Markup("</b>")], "-") == Markup("<b>-</b>")


def test_a_table_has_a_caption_and_heads_with_their_scope() -> None:
    found = parse(table("Fruit & more", ("name", "count"), [["<pear>", 2], ["plum", Markup("<b>3</b>")]]).source)
    assert [caption.text for caption in found.all("caption")] == ["Fruit & more"]
    assert [(head.text, head.attributes["scope"]) for head in found.all("th")] == [
        ("name", "col"),
        ("count", "col"),
        ("<pear>", "row"),
        ("plum", "row"),
    ]
    assert [cell.text for cell in found.all("td")] == ["2", "3"]
    assert found.all("table")[0].attributes["class"] == "numbers"


def test_a_page_is_complete_and_forbids_everything_from_outside() -> None:
    found = page("A <title>", "p { color: red; }\n", Markup("<p>text</p>"))
    assert found.startswith("<!DOCTYPE html>")
    document = parse(found)
    assert document.all("html")[0].attributes["lang"] == "en"
    assert document.all("title")[0].text == "A <title>"
    policies = [meta.attributes.get("content") for meta in document.all("meta") if "http-equiv" in meta.attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    refuse_outside(found)
