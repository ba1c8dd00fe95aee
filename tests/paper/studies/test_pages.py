"""The files of exhibits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paper.studies import pages
from paper.studies.exhibit import (
    Details,
    Exhibit,
    Figure,
    Part,
    Picture,
    PlotLine,
    Table,
    format_percent,
    format_scores,
)
from paper.studies.exhibits import page_of
from paper.studies.pages import TABLES, ShownExhibit, drop_empty_rows, markdown_document, write_exhibit
from pssa.errors import InputError

SMALL = Table("numbers", "Numbers", ("a", "b"), (("x", 1),), ("A note.",))
DRAWN = Figure("curve", "Curve", "x", "y", (("p", (PlotLine("l", (1.0,), (2.0,)),)),))
PICTURE = Picture("map", "Map", "<svg/>")


@pytest.fixture(autouse=True)
def _drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "draw", lambda figure: ("<svg ></svg>", b"png"))


def exhibit(name: str = "ours") -> Exhibit:
    return Exhibit(name, f"Exhibit {name}", lambda scope, lookup: ())


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_page_has_the_parts_in_their_order_and_folds_what_is_long() -> None:
    long = Table("long", "Long", ("a",), tuple((str(number),) for number in range(20)))
    folded = Details("More <of it>", ("Text.", SMALL))
    page = markdown_document(exhibit(), ["1. `code` *stars*", SMALL, DRAWN, PICTURE, long, folded])
    assert page == (
        "## Exhibit ours\n\n1\\. `code` \\*stars\\*\n\n"
        "### Numbers\n\n| a   |   b |\n|:----|----:|\n| x   |   1 |\n\nA note.\n\n"
        "### Curve\n\n![Curve](ours/curve.svg)\n\n| plot   | y by x   |    1 |\n|:-------|:---------|-----:|\n"
        "| p      | l        | 2.00 |\n\n"
        "### Map\n\n![Map](ours/map.svg)\n\n"
        "### Long\n\n<details>\n<summary>20 rows by a</summary>\n\n| a   |\n|:----|\n"
        + "".join(f"| {number:<3} |\n" for number in range(20))
        + "\n</details>\n\n<details>\n<summary>More &lt;of it&gt;</summary>\n\nText.\n\n"
        "| a   |   b |\n|:----|----:|\n| x   |   1 |\n\n</details>\n"
    )


def test_an_exhibit_has_a_page_its_drawings_and_its_numbers_and_more_on_request(tmp_path: Path) -> None:
    usual = {"ours.md", f"ours/{TABLES}", "ours/curve.svg", "ours/map.svg"}
    more = {*(f"ours/numbers.{kind}" for kind in ("tex", "csv")), *(f"ours/curve.{kind}" for kind in ("png", "csv"))}
    write_exhibit(tmp_path, exhibit(), ["Hello.", SMALL, DRAWN, PICTURE], "1 of 2", files=True)
    assert written(tmp_path) == usual | more
    assert (tmp_path / "ours/curve.csv").read_text("utf-8") == "plot,line,x,y,spread\np,l,1.0,2.0,\n"
    shown = ShownExhibit.read(tmp_path / "ours" / TABLES)
    assert (shown.name, shown.title, shown.missing) == ("ours", "Exhibit ours", "1 of 2")
    assert shown.tables["numbers"] == SMALL
    assert shown.tables["curve"].rows == (("p", "l", 1.0, 2.0, None),)
    write_exhibit(tmp_path, exhibit(), ["Hello.", SMALL, DRAWN, PICTURE])
    assert written(tmp_path) == usual


def test_exhibits_share_a_page_and_text_around_their_sections_stays(tmp_path: Path) -> None:
    for name in ("transfer", "stress"):
        write_exhibit(tmp_path, exhibit(name), [f"Of {name}."])
    page = tmp_path / "stress.md"
    first = page.read_text("utf-8")
    assert first.startswith(f"# {page_of('stress')[1]}\n")
    page.write_text(first.replace("<!-- end exhibit transfer -->", "<!-- end exhibit transfer -->\n\nMine."))
    write_exhibit(tmp_path, exhibit("transfer"), ["Again."])
    second = page.read_text("utf-8")
    assert second == first.replace("Of transfer.", "Again.").replace(
        "exhibit transfer -->\n\n<", "exhibit transfer -->\n\nMine.\n\n<"
    )
    assert not (tmp_path / "transfer.md").exists()


def test_a_section_shows_a_note_once_and_folds_tables_like_an_earlier_one() -> None:
    other = Table("more", "More", SMALL.columns, SMALL.rows, SMALL.notes)
    page = markdown_document(exhibit(), [SMALL, other])
    assert page.count("A note.") == 1
    assert page.count("<summary>1 row by a, b</summary>") == 1


def test_files_of_parts_that_are_no_more_are_removed_and_your_own_stay(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [DRAWN, PICTURE])
    own = [tmp_path / "ours" / name for name in ("numbers.pdf", "notes.md", "drafts/map.svg")]
    for path in (*own, tmp_path / "kept.txt"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    stored = json.loads((tmp_path / "ours" / TABLES).read_text("utf-8"))
    # Somebody changed the list: nothing outside of the folder is removed.
    stored["files"] += ["../kept.txt", str(tmp_path / "kept.txt"), "gone.md"]
    (tmp_path / "ours" / TABLES).write_text(json.dumps(stored))
    write_exhibit(tmp_path, exhibit(), [DRAWN])
    assert written(tmp_path / "ours") == {TABLES, "curve.svg", "numbers.pdf", "notes.md", "drafts/map.svg"}
    assert (tmp_path / "kept.txt").is_file()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([SMALL, PICTURE, SMALL], "several parts called numbers"),
        ([Table("../up", "T", (), ())], "cannot name a file"),
        ([Table("", "T", (), ())], "cannot name a file"),
        ([Table("short", "T", ("a",), (("x", 1),))], "row 1 of table short"),
    ],
)
def test_parts_that_cannot_be_written_are_refused(tmp_path: Path, parts: list[Part], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        write_exhibit(tmp_path, exhibit(), parts)
    assert written(tmp_path) == set()


@pytest.mark.parametrize("content", ["{", "[]", '{"name": "ours"}'])
def test_a_file_that_holds_no_tables_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / TABLES).write_text(content)
    with pytest.raises(InputError, match=TABLES):
        ShownExhibit.read(tmp_path / TABLES)


COLUMNS = ("model", "data", "seeds", "accuracy", "macro-F1")
DONE = ("MN", "LAPTOP", 3, format_percent(0.75), format_scores([1.0, 2.0]))


def scores(*rows: tuple[object, ...], outcomes: tuple[str, ...] = ("seeds", "accuracy")) -> Table:
    return Table("scores", "Scores", COLUMNS, rows, ("A note.",), outcomes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "is_kept"),
    [
        (("TNet", "REST", 0, None, None), False),
        (("TNet", "REST", 0, format_scores(None), None), False),
        (("TNet", "REST", 0, 0.0, None), True),  # a measured zero
        (("TNet", "REST", 1, None, None), True),
    ],
)
def test_rows_without_an_outcome_are_named_below(row: tuple[object, ...], is_kept: bool) -> None:
    (shown,) = drop_empty_rows([scores(DONE, row)])
    assert isinstance(shown, Table)
    assert shown.rows == ((DONE, row) if is_kept else (DONE,))
    assert shown.notes == (("A note.",) if is_kept else ("A note.", "No outcome yet: TNet REST."))
