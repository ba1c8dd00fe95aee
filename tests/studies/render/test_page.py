"""The page of exhibits, and the sections it is made of."""

from __future__ import annotations

import re
from itertools import pairwise

from tests.report.documents import Element, parse

from pssa.studies.exhibit import Exhibit, Figure, Line, Panel, Part, Picture, Prose, Table
from pssa.studies.render.page import make_page
from pssa.studies.render.section import Section, make_section

SVG = (
    '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg width="9pt" viewBox="0 0 9 9"><metadata>when</metadata>'
    '<defs><path id="m1" d="M 0 0"/></defs><g clip-path="url(#p1)"><use xlink:href="#m1"/></g></svg>\n'
)
FIGURE = Figure("curve", "A <curve>", "x", "y", (Panel("p", (Line("l", (1.0,), (2.0,)),)),), ("Below `it`.",))
TABLE = Table("numbers", "Numbers & more", ("model", "F1", "words"), (("MN<b>", 61.5, "a " * 40), ("TNet", None, "")))


def section(*parts: Part, name: str = "ours", beyond: bool = False, **drawings: str) -> Section:
    exhibit = Exhibit(name, f"The exhibit {name}", lambda scope: (), lambda scope, findings: (), beyond=beyond)
    return make_section(exhibit, parts, drawings)


def names_in(document: Element) -> list[str]:
    return [element.attributes["id"] for element in document.all() if "id" in element.attributes]


def test_text_is_escaped_and_code_is_marked() -> None:
    found = parse(section(Prose("a < b & `x < y`")).html)
    (paragraph,) = found.all("p")
    assert paragraph.text == "a < b & x < y"
    assert [code.text for code in paragraph.all("code")] == ["x < y"]


def test_a_table_scrolls_in_a_box_of_its_own_that_the_keyboard_reaches() -> None:
    found = parse(section(TABLE).html)
    (box,) = found.all("div", "wide")
    assert (box.attributes["tabindex"], box.attributes["role"]) == ("0", "region")
    (title,) = found.all("h3")
    assert (title.text, title.attributes["id"]) == ("Numbers & more", box.attributes["aria-labelledby"])
    assert [head.attributes["scope"] for head in box.all("th")] == ["col", "col", "col", "row", "row"]
    assert [cell.attributes.get("class") for cell in box.all("td")] == ["number", "long"] * 2
    assert [cell.text for cell in box.all("td")] == ["61.50", ("a " * 40).strip(), "", ""]
    assert box.all("th")[3].text == "MN<b>"


def test_a_drawing_is_part_of_the_page_and_meets_no_other() -> None:
    other = make_section(Exhibit("theirs", "T", lambda s: (), lambda s, f: ()), [FIGURE, TABLE], {"curve": SVG})
    document = parse(make_page([section(FIGURE, curve=SVG), other]))
    drawings = document.all("svg")
    assert [drawing.attributes["aria-label"] for drawing in drawings] == ["A <curve>"] * 2
    assert len(set(names_in(document))) == len(names_in(document))
    for drawing in drawings:
        (shape,), (use,), (clipped,) = drawing.all("path"), drawing.all("use"), drawing.all("g")
        assert use.attributes["xlink:href"] == f"#{shape.attributes['id']}"
        assert clipped.attributes["clip-path"] == f"url(#{shape.attributes['id'].removesuffix('m1')}p1)"
        assert drawing.all("metadata") == []
    # The numbers are there for who cannot see the drawing.
    assert [cell.text for cell in document.all("details")[0].all("td")] == ["l", "2.00"]


def test_without_a_drawing_a_figure_is_its_numbers() -> None:
    found = parse(section(FIGURE).html)
    assert found.all("svg") == []
    assert found.all("details") == []
    assert [cell.text for cell in found.all("td")] == ["l", "2.00"]


def test_a_picture_is_taken_as_it_is() -> None:
    found = parse(section(Picture("map", "Map", '<p class="heat">words</p>', "<svg/>")).html)
    assert found.all("p", "heat")[0].text == "words"


def test_contents_name_every_section_what_is_beyond_the_paper_apart() -> None:
    ours, more = section(name="ours"), section(name="more", beyond=True)
    about = Section("provenance", "Provenance", "<h2>Provenance</h2>")
    document = parse(make_page([more, ours], ["Left out: `x`."], [about]))
    (contents,) = document.all("nav")
    assert [title.text for title in contents.all("h2")] == ["In the paper", "Beyond the paper", "About"]
    links = [link.attributes["href"].removeprefix("#") for link in contents.all("a")]
    assert links == ["ours", "more", "provenance"] == [each.attributes["id"] for each in document.all("section")]
    assert [mark.text for mark in document.all("span", "mark")] == ["beyond the paper"]
    assert document.all("p", "warning")[0].text == "Left out: x."
    levels = [int(element.tag[1]) for element in document.all() if element.tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_fetches_and_runs_nothing() -> None:
    page = make_page([section(TABLE, FIGURE, Prose("<script>"), curve=SVG)])
    document = parse(page)
    assert document.all("script") == document.all("img") == document.all("link") == document.all("iframe") == []
    for element in document.all():
        assert "src" not in element.attributes
        assert element.attributes.get("href", "#").startswith("#")
        assert element.attributes.get("xlink:href", "#").startswith("#")
    style = document.all("style")[0].text
    assert "@import" not in style
    assert not re.search(r"url\((?!#)", page)
    policy = next(meta for meta in document.all("meta") if "http-equiv" in meta.attributes)
    assert policy.attributes["content"].startswith("default-src 'none'")


def test_the_page_has_a_dark_and_a_narrow_look() -> None:
    page = make_page([])
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 40rem" in page
    assert "min-width: 75rem" in page
