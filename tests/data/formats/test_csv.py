"""CSV and TSV."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.data.example import Example
from pssa.data.formats import csv
from pssa.data.io import read, stream
from pssa.errors import InputError


def _file(tmp_path: Path, content: str, name: str = "data.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found_in_the_header(tmp_path: Path, delimiter: str) -> None:
    rows = [("Text", "aspect", "label", "stars"), ("the menu is ok", "menu", "neu", "3")]
    path = _file(tmp_path, "\n".join(delimiter.join(row) for row in rows))
    assert [(e.aspect_chars, e.label, e.id) for e in read(path)] == [((4, 8), "neutral", "2")]


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [("sep=;", ";"), ("sep=,", ","), ("SEP=|", "|"), ("sep=\t", "\t"), ("\ufeffsep=^", "^"), ('"sep=,",,', ",")],
)
def test_a_line_for_excel_tells_the_delimiter_and_is_counted(tmp_path: Path, line: str, delimiter: str) -> None:
    rows = [("text", "aspect", "label"), ("a, b; menu", "menu", "neutral"), ("a", "menu", "neutral"), ('"a"b', "", "")]
    quoted = [[f'"{cell}"' if " " in cell else cell for cell in row] for row in rows]
    path = _file(tmp_path, "\r\n".join([line, *map(delimiter.join, quoted)]))
    report = check(path)
    assert (report.instances, [problem.line for problem in report.problems]) == (1, [4, 5])


@pytest.mark.parametrize(("content", "found"), [("sep=;\ntext;label\n", "text, label"), ("sep=;\n", r"\(none\)")])
def test_a_header_behind_a_line_for_excel_is_refused_by_its_own_line(tmp_path: Path, content: str, found: str) -> None:
    with pytest.raises(InputError, match=f"2: a column is missing: .*found {found}"):
        read(_file(tmp_path, content))


def test_a_byte_order_mark_and_windows_line_ends_are_welcome(tmp_path: Path) -> None:
    assert len(read(_file(tmp_path, "\ufefftext,aspect,label\r\na menu,menu,positive\r\n"))) == 1


def test_a_record_over_several_lines_is_named_by_its_first(tmp_path: Path) -> None:
    path = _file(tmp_path, 'text,aspect,label\n"a\nmenu",menu,positive\n"a\nbar",menu,positive\n')
    assert read(_file(tmp_path, 'text,aspect,label\n"a\nmenu",menu,positive\n', "ok.csv"))[0].text == "a\nmenu"
    assert [problem.line for problem in check(path).problems] == [4]


def test_records_of_another_width_and_stray_quotes_are_rejected_alone(tmp_path: Path) -> None:
    path = _file(tmp_path, 'text,aspect,label\na menu, good,menu,positive\n"a"b,a,neutral\nok menu,menu,neutral\n')
    report = check(path)
    assert report.instances == 1
    assert [problem.line for problem in report.problems] == [2, 3]


def test_offsets_from_a_data_frame_may_be_floats(tmp_path: Path) -> None:
    path = _file(tmp_path, "text,aspect,from,to,label\na menu,menu,2.0,6.0,positive\na menu,menu,,,positive\n")
    assert [e.aspect_chars for e in read(path)] == [(2, 6), (2, 6)]


def test_a_tag_that_would_be_read_as_two_cannot_be_written() -> None:
    with pytest.raises(InputError, match=r"a tag with \|"):
        csv.encode([replace(Example.from_text("a menu", (2, 6), label="neutral"), tags=("a|b",))])


def test_blank_lines_before_the_header_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('\n ;;\n"sep=;"\n\ntext;aspect;label\nthe menu;menu;positive\nthe pub;bar;negative\n')
    with pytest.raises(InputError, match="line 7: aspect 'bar'"):
        read(path)
    path.write_text("\n\ntext,aspect\nthe menu,menu\n")
    assert [(row.line, dict(row.fields)) for row in stream(path)] == [(4, {"text": "the menu", "aspect": "menu"})]
    path.write_text("\n\n")
    with pytest.raises(InputError, match="a column is missing"):
        read(path)


def test_a_record_that_never_ends_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "_MAX_RECORD", 1000)
    # Each line ends inside quotes: the reader takes them all for one record of many small fields.
    path = _file(tmp_path, 'text,aspect,label\n"' + '","\n' * 1000 + '"\na menu,menu,positive\n')
    problems = check(path).problems
    assert problems[0].line == 2
    assert "by line 2" in problems[0].message
    assert len(problems) == 1  # rows after it may begin inside or outside of quotes
    assert all(len(problem.given or "") <= 1000 for problem in problems)
