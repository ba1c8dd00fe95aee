"""The files of exhibits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pssa.errors import InputError, MissingExtra
from pssa.studies.exhibit import Exhibit, Figure, Line, Panel, Part, Picture, Prose, Table
from pssa.studies.render import files, write_exhibit, write_page
from pssa.studies.render.figure import Drawn

TABLE = Table("numbers", "Numbers", ("a", "b"), (("x", 1),))
FIGURE = Figure("curve", "Curve", "x", "y", (Panel("p", (Line("l", (1.0,), (2.0,)),)),))
PICTURE = Picture("map", "Map", "<p>words</p>", "<svg/>")


@pytest.fixture(autouse=True)
def _drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "draw", lambda figure: Drawn("<svg ></svg>", b"png"))


def exhibit(name: str = "ours") -> Exhibit:
    return Exhibit(name, f"Exhibit {name}", lambda scope: (), lambda scope, findings: ())


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_every_part_has_every_format_it_can_have(tmp_path: Path) -> None:
    path = write_exhibit(tmp_path, exhibit(), [Prose("Hello."), TABLE, FIGURE, PICTURE])
    assert path == tmp_path / "ours.md"
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
    def refuse(figure: Figure) -> Drawn:
        raise MissingExtra("matplotlib", "report")

    monkeypatch.setattr(files, "draw", refuse)
    with pytest.warns(UserWarning, match=r"figures are left out: .*pssa\[report\].*--show-only draws them"):
        write_exhibit(tmp_path, exhibit(), [TABLE, FIGURE])
    assert {"ours/curve.csv", "ours/numbers.md"} <= written(tmp_path)
    assert "ours/curve.svg" not in written(tmp_path)
    assert "curve.svg" not in (tmp_path / "ours.md").read_text("utf-8")


def test_files_of_parts_that_are_no_more_are_removed(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [TABLE, FIGURE, PICTURE])
    write_exhibit(tmp_path, exhibit("other"), [TABLE])
    # What is somebody's own may even be called as a part could be.
    own = [tmp_path / "ours" / name for name in ("numbers.pdf", "notes.md", "drafts/map.svg")]
    for path in own:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    write_exhibit(tmp_path, exhibit(), [FIGURE])
    assert written(tmp_path / "ours") == {
        "section.json",
        *(f"curve.{kind}" for kind in ("svg", "png", "csv", "json")),
        *("numbers.pdf", "notes.md", "drafts/map.svg"),
    }
    assert (tmp_path / "other" / "numbers.tex").is_file()


def test_a_list_of_files_that_somebody_changed_costs_nothing_elsewhere(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [TABLE])
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    (tmp_path / "ours" / "folder").mkdir()
    section = tmp_path / "ours" / "section.json"
    for names in (["../kept.txt", str(kept), "folder", "gone.md", 3, ""], "kept.txt", None):
        section.write_text(json.dumps({"files": names}), "utf-8")
        write_exhibit(tmp_path, exhibit(), [TABLE])
        assert kept.is_file()
    assert json.loads(section.read_text("utf-8"))["files"] == [
        f"numbers.{kind}" for kind in ("md", "tex", "csv", "json")
    ]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([TABLE, PICTURE, TABLE], "exhibit ours has several parts called numbers"),
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
    write_exhibit(tmp_path, exhibit("first"), [Prose("The first.")])
    write_exhibit(tmp_path, exhibit("second"), [Prose("The second.")])
    write_exhibit(tmp_path, exhibit("first"), [Prose("The first, again.")])
    page = write_page(tmp_path).read_text("utf-8")
    assert "The first, again." in page
    assert "The second." in page
    assert "The first.<" not in page


def test_a_section_that_is_none_is_named(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [])
    (tmp_path / "ours" / "section.json").write_text('{"title": 1}', "utf-8")
    with pytest.raises(InputError, match=r"section\.json is no section of the page; remove it"):
        write_page(tmp_path)


def test_texts_that_have_no_bytes_are_written_all_the_same(tmp_path: Path) -> None:
    write_exhibit(tmp_path, exhibit(), [Table("t", "half \ud800", ("a",), (("\ud800",),))])
    write_page(tmp_path)
    assert "half ?" in (tmp_path / "ours.md").read_text("utf-8")


def test_what_was_half_written_takes_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_exhibit(tmp_path, exhibit(), [Prose("Before.")])

    def fail(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space left"):
        write_exhibit(tmp_path, exhibit(), [Prose("After.")])
    assert "Before." in path.read_text("utf-8")
    assert not list(tmp_path.rglob("*.part"))
