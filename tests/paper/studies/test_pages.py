"""The files of exhibits, and the page that holds them all."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tests.report.documents import Element, parse

from paper.studies import pages
from paper.studies.exhibit import (
    Exhibit,
    Figure,
    Part,
    Picture,
    PlotLine,
    Table,
    format_percent,
    format_scores,
)
from paper.studies.pages import PageSection, drop_empty_rows, make_page, make_section, write_exhibit, write_page
from pssa.errors import InputError, MissingExtra, PssaWarning

SVG = (
    '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg width="9pt" viewBox="0 0 9 9"><metadata>when</metadata>'
    '<defs><path id="m1" d="M 0 0"/></defs><g clip-path="url(#p1)"><use xlink:href="#m1"/></g></svg>\n'
)
FIGURE = Figure("curve", "A <curve>", "x", "y", (("p", (PlotLine("l", (1.0,), (2.0,)),)),), ("Below `it`.",))
TABLE = Table("numbers", "Numbers & more", ("model", "F1", "words"), (("MN<b>", 61.5, "a " * 40), ("TNet", None, "")))


def section(*parts: Part, name: str = "ours", beyond: bool = False, **drawings: str) -> PageSection:
    return make_section(name, f"The exhibit {name}", parts, drawings, beyond)


def names_in(document: Element) -> list[str]:
    return [element.attributes["id"] for element in document.all() if "id" in element.attributes]


def test_text_is_escaped_and_code_is_marked() -> None:
    found = parse(section("a < b & `x < y`")["html"])
    (paragraph,) = found.all("p")
    assert paragraph.text == "a < b & x < y"
    assert [code.text for code in paragraph.all("code")] == ["x < y"]


def test_a_table_scrolls_in_a_box_of_its_own_that_the_keyboard_reaches() -> None:
    found = parse(section(TABLE)["html"])
    (box,) = found.all("div", "wide")
    assert (box.attributes["tabindex"], box.attributes["role"]) == ("0", "region")
    (title,) = found.all("h3")
    assert (title.text, title.attributes["id"]) == ("Numbers & more", box.attributes["aria-labelledby"])
    assert [head.attributes["scope"] for head in box.all("th")] == ["col", "col", "col", "row", "row"]
    assert [cell.attributes.get("class") for cell in box.all("td")] == ["number", "long"] * 2
    assert [cell.text for cell in box.all("td")] == ["61.50", ("a " * 40).strip(), "", ""]
    assert box.all("th")[3].text == "MN<b>"


def test_a_drawing_is_part_of_the_page_and_meets_no_other() -> None:
    other = make_section("theirs", "T", [FIGURE, TABLE], {"curve": SVG})
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
    found = parse(section(FIGURE)["html"])
    assert found.all("svg") == []
    assert found.all("details") == []
    assert [cell.text for cell in found.all("td")] == ["l", "2.00"]


def test_a_picture_is_taken_as_it_is() -> None:
    found = parse(section(Picture("map", "Map", '<p class="heat">words</p>', "<svg/>"))["html"])
    assert found.all("p", "heat")[0].text == "words"


def test_contents_name_every_section_what_is_beyond_the_paper_apart() -> None:
    ours, more = section(name="ours"), section(name="more", beyond=True)
    about = {"name": "provenance", "title": "Provenance", "html": "<h2>Provenance</h2>"}
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
    page = make_page([section(TABLE, FIGURE, "<script>", curve=SVG)])
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


COLUMNS = ("model", "data", "seeds", "accuracy", "paper")
DONE, OPEN = ("MN", "REST", 2, "70.00", "71.00"), ("TNet", None, 0, None, "72.00")


def scores(*rows: tuple[str | int | None, ...], outcomes: tuple[str, ...] = ("seeds", "accuracy")) -> Table:
    return Table("scores", "Scores", COLUMNS, rows, ("Points.",), outcomes)


def test_rows_without_an_outcome_are_named_below() -> None:
    (shown,) = drop_empty_rows([scores(DONE, OPEN)])
    assert isinstance(shown, Table)
    assert shown.rows == (DONE,)
    assert shown.notes == ("Points.", "No outcome yet: TNet.")


def test_a_reading_without_a_text_is_no_outcome() -> None:
    rows = [
        ("MN", format_percent(share), None, format_scores(scores), None)
        for share, scores in ((0.5, (70.0, 60.0)), (0.75, None))
    ]
    (shown,) = drop_empty_rows([Table("scores", "Scores", COLUMNS, tuple(rows), (), ("accuracy",))])
    assert isinstance(shown, Table)
    assert shown.rows == (rows[0],)
    assert shown.notes == ("No outcome yet: MN 75.0%.",)


def test_a_measured_zero_is_an_outcome() -> None:
    rows = tuple((name, None, 0, value, None) for name, value in (("MN", 0), ("TNet", 0.0), ("none", None)))
    (shown,) = drop_empty_rows([Table("words", "Words", COLUMNS, rows, (), ("seeds", "accuracy"))])
    assert isinstance(shown, Table)
    assert shown.rows == rows[:2]
    assert shown.notes == ("No outcome yet: none.",)


def test_many_rows_are_not_all_named() -> None:
    (shown,) = drop_empty_rows([scores(DONE, *((f"M{number}", "REST", 0, None, None) for number in range(14)))])
    assert isinstance(shown, Table)
    assert shown.notes[1].startswith("No outcome yet: M0 REST; M1 REST; ")
    assert shown.notes[1].endswith("M11 REST and 2 more.")


def test_a_whole_table_stays_as_it_is() -> None:
    whole, free = scores(DONE), scores(OPEN, outcomes=())
    assert drop_empty_rows([whole, free, "So."]) == [whole, free, "So."]


def test_what_has_no_outcome_at_all_is_named_in_one_line() -> None:
    empty = Figure("curve", "Curve", "x", "y", (("MN", ()),))
    assert drop_empty_rows([scores(OPEN), "So.", empty]) == [
        "So.",
        "No outcome yet: Scores; Curve.",
    ]
    drawn = Figure("curve", "Curve", "x", "y", (("MN", (PlotLine("a", (1.0,), (2.0,)),)),))
    assert drop_empty_rows([drawn]) == [drawn]


SMALL = Table("numbers", "Numbers", ("a", "b"), (("x", 1),))
DRAWN = Figure("curve", "Curve", "x", "y", (("p", (PlotLine("l", (1.0,), (2.0,)),)),))
PICTURE = Picture("map", "Map", "<p>words</p>", "<svg/>")


@pytest.fixture(autouse=True)
def _drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "draw", lambda figure: ("<svg ></svg>", b"png"))


def exhibit(name: str = "ours") -> Exhibit:
    return Exhibit(name, f"Exhibit {name}", lambda scope: (), lambda scope, lookup: ())


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_every_part_has_every_format_it_can_have(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), ["Hello.", SMALL, DRAWN, PICTURE])
    assert written(tmp_path) == {
        "ours.md",
        "ours/section.json",
        *(f"ours/numbers.{kind}" for kind in ("md", "tex", "csv", "json")),
        *(f"ours/curve.{kind}" for kind in ("svg", "png", "csv", "json")),
        *(f"ours/map.{kind}" for kind in ("svg", "html")),
    }
    assert (tmp_path / "ours/map.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "ours/curve.csv").read_text("utf-8") == "plot,line,x,y,spread\np,l,1.0,2.0,\n"


def test_without_matplotlib_all_but_the_drawings_is_written_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(figure: Figure) -> tuple[str, bytes]:
        raise MissingExtra("matplotlib", "report")

    monkeypatch.setattr(pages, "draw", refuse)
    with pytest.warns(UserWarning, match=r"figures are left out: .*pssa\[report\].*--show-only"):
        write_exhibit(tmp_path, exhibit(), [SMALL, DRAWN])
    assert {"ours/curve.csv", "ours/numbers.md"} <= written(tmp_path)
    assert "ours/curve.svg" not in written(tmp_path)
    assert "curve.svg" not in (tmp_path / "ours.md").read_text("utf-8")


def test_files_of_parts_that_are_no_more_are_removed(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [SMALL, DRAWN, PICTURE])
    write_exhibit(tmp_path, exhibit("other"), [SMALL])
    # What is somebody's own may even be called as a part could be.
    own = [tmp_path / "ours" / name for name in ("numbers.pdf", "notes.md", "drafts/map.svg")]
    for path in own:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    write_exhibit(tmp_path, exhibit(), [DRAWN])
    assert written(tmp_path / "ours") == {
        "section.json",
        *(f"curve.{kind}" for kind in ("svg", "png", "csv", "json")),
        *("numbers.pdf", "notes.md", "drafts/map.svg"),
    }
    assert (tmp_path / "other" / "numbers.tex").is_file()


def test_a_list_of_files_that_somebody_changed_costs_nothing_elsewhere(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [SMALL])
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    (tmp_path / "ours" / "folder").mkdir()
    section = tmp_path / "ours" / "section.json"
    for names in (["../kept.txt", str(kept), "folder", "gone.md", 3, ""], "kept.txt", None):
        section.write_text(json.dumps({"files": names}), "utf-8")
        write_exhibit(tmp_path, exhibit(), [SMALL])
        assert kept.is_file()
    assert json.loads(section.read_text("utf-8"))["files"] == [
        f"numbers.{kind}" for kind in ("md", "tex", "csv", "json")
    ]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([SMALL, PICTURE, SMALL], "exhibit ours has several parts called numbers"),
        ([Table("../up", "T", (), ())], "'../up' in exhibit ours cannot name a file"),
        ([Table("", "T", (), ())], "'' in exhibit ours cannot name a file"),
        ([Table("short", "T", ("a",), (("x", 1),))], "row 1 of table short has 2 fields for 1 columns"),
    ],
)
def test_parts_that_cannot_be_written_are_refused(tmp_path: Path, parts: list[Part], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        write_exhibit(tmp_path, exhibit(), parts)
    assert not (tmp_path / "ours.md").exists()


def test_the_page_holds_every_exhibit_that_was_shown_in_the_folder(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit("first"), ["The first."])
    write_exhibit(tmp_path, exhibit("second"), ["The second."])
    write_exhibit(tmp_path, exhibit("first"), ["The first, again."])
    page = write_page(tmp_path).read_text("utf-8")
    assert "The first, again." in page
    assert "The second." in page
    assert "The first.<" not in page


def test_a_section_that_is_none_is_named(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [])
    (tmp_path / "ours" / "section.json").write_text('{"title": 1}', "utf-8")
    with pytest.raises(InputError, match=r"section\.json is not a section of the page; remove it"):
        write_page(tmp_path)


def test_texts_that_have_no_bytes_are_written_all_the_same(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [Table("t", "half \ud800", ("a",), (("\ud800",),))])
    write_page(tmp_path)
    assert "half ?" in (tmp_path / "ours.md").read_text("utf-8")


def test_what_was_half_written_takes_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_exhibit(tmp_path, exhibit(), ["Before."])

    def fail(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space left"):
        write_exhibit(tmp_path, exhibit(), ["After."])
    assert "Before." in (tmp_path / "ours.md").read_text("utf-8")
    assert not list(tmp_path.rglob("*.part"))


def test_without_pandas_json_and_html_are_written_and_the_rest_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.warns(PssaWarning, match=r"CSV files are left out: .*pssa\[report\].*--show-only"):
        write_exhibit(tmp_path, exhibit(), [SMALL, DRAWN])
    assert written(tmp_path) == {
        "ours/numbers.json",
        "ours/section.json",
        *(f"ours/curve.{kind}" for kind in ("json", "svg", "png")),
    }
