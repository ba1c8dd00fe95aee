"""Formats of plain lines, tagged, in threes or bare, and which format a file has."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.data.example import Example
from pssa.data.formats import FORMATS, format_named, plain_text, tagged, three_line
from pssa.data.io import format_of, read
from pssa.data.rows import Problem, Row
from pssa.data.text_file import InputFile
from pssa.errors import InputError


def _read_line(tmp_path: Path, line: str) -> Example:
    path = tmp_path / "one.txt"
    path.write_bytes(line.encode())
    (example,) = read(path, format="tagged")
    return example


def test_the_run_of_tagged_tokens_is_the_aspect_and_loses_exactly_its_suffix(tmp_path: Path) -> None:
    example = _read_line(tmp_path, "the battery/p pop/p is great\r\n")
    assert example.text == "the battery pop is great"
    assert example.words == ("the", "battery", "pop", "is", "great")
    assert example.aspect == (1, 3)
    assert example.aspect_chars == (4, 15)
    assert example.label == "positive"


@pytest.mark.parametrize(("tag", "label"), [("p", "positive"), ("n", "negative"), ("0", "neutral")])
def test_the_tag_is_the_label(tmp_path: Path, tag: str, label: str) -> None:
    assert _read_line(tmp_path, f"a menu/{tag} here").label == label


def test_tokens_end_at_no_break_spaces_and_are_not_cut_further(tmp_path: Path) -> None:
    assert _read_line(tmp_path, "don't\u00a0buy this/n mac's-os .").words == ("don't", "buy", "this", "mac's-os", ".")


def test_a_second_run_is_context_and_mixed_tags_take_the_first_label_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("is obama/0 good y/n\n")
    assert read(path)[0].words == ("is", "obama", "good", "y/n")
    assert [(p.line, p.rejected, "y/n" in p.what) for p in check(path).problems] == [(1, False, True)]
    path.write_text("they load/p webpages/0 fast\n")
    assert (read(path)[0].label, read(path)[0].aspect_text) == ("positive", "load webpages")
    assert check(path).problems[0].rejected is False


def test_a_slash_can_be_the_aspect_and_a_seg_file_tagged(tmp_path: Path) -> None:
    assert _read_line(tmp_path, "a cd //0 dvd drive").aspect_text == "/"
    path = tmp_path / "data.seg"
    path.write_text("a menu/p\n")
    assert format_of(path, None) == "tagged"


def test_a_bare_tag_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: no word ends in /p, /n or /0"):
        _read_line(tmp_path, "uninstall /n it")


def test_what_a_format_has_no_place_for_cannot_be_written() -> None:
    example = Example.from_text("a y/n menu", (6, 10), label="positive")
    with pytest.raises(InputError, match="looks tagged"):
        tagged.encode([example])
    example = Example.from_text("a menu", (2, 6), label="conflict")
    with pytest.raises(InputError, match="'conflict' has no tag"):
        tagged.encode([example])
    example = Example.from_spans(
        "pay $T$ here", ((0, 3), (4, 7), (8, 12)), (8, 12), label="neutral", id="1", sentence_id="1"
    )
    with pytest.raises(InputError, match="contains"):
        three_line.encode([example])


def _file(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "data.seg"
    path.write_text(content)
    return path


def test_every_placeholder_is_replaced_and_the_first_is_the_aspect(tmp_path: Path) -> None:
    example = read(_file(tmp_path, "my $T$ , oh $T$ !\nold mac\n-1\n"))[0]
    assert example.text == "my old mac , oh old mac !"
    assert example.aspect_chars == (3, 10)
    assert example.words == ("my", "old", "mac", ",", "oh", "old", "mac", "!")
    assert example.label == "negative"


def test_labels_are_numbers_or_names(tmp_path: Path) -> None:
    corpus = read(_file(tmp_path, "a $T$\nx\n1\n\nb $T$\nx\n0\nc $T$\nx\nNegative\n"))
    assert [example.label for example in corpus] == ["positive", "neutral", "negative"]


def test_an_aspect_glued_to_other_characters_is_cut_off_them(tmp_path: Path) -> None:
    assert read(_file(tmp_path, "good ($T$).\nmenu\n1\n"))[0].words == ("good", "(", "menu", ").")


def test_reading_goes_on_after_a_missing_line(tmp_path: Path) -> None:
    report = check(_file(tmp_path, "a $T$\nx\nb $T$\ny\n1\nstray\nc $T$\nz\n0\n"))
    assert report.instances == 2
    assert [problem.line for problem in report.problems] == [1, 6]


def test_lines_are_texts_and_blank_ones_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "reviews.txt"
    path.write_bytes(b"Great food, rude waiter.\r\n\n  Nice.\nbad \xff byte\n")
    rows = list(plain_text.scan(InputFile(path)))
    assert [(row.line, row.fields) for row in rows if isinstance(row, Row)] == [
        (1, {"text": "Great food, rude waiter."}),
        (3, {"text": "Nice."}),
    ]
    assert isinstance(rows[-1], Problem)


def test_it_is_recognised_only_where_texts_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "reviews.txt"
    path.write_text("Great food, rude waiter.\n")
    assert format_of(path, None, text_only=True) == "plain_text"
    with pytest.raises(InputError, match="no known format"):
        format_of(path, None)
    path.write_text("a menu/p\n")
    assert format_of(path, None, text_only=True) == "tagged"


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("\n<sentences/>", "semeval_xml"),
        ('{"text": "a"}', "json_lines"),
        ("a $T$\nmenu\n1\n", "three_line"),
        ("id;text;aspect\n", "csv"),
        ("sep=\t\nid\ttext\taspect\n", "csv"),
        ("no tag here\na menu/p\n", "tagged"),
    ],
)
def test_a_file_without_a_telling_name_is_known_by_its_content(tmp_path: Path, content: str, format: str) -> None:
    path = tmp_path / "data.txt"
    path.write_text(content)
    assert format_of(path, None) == format


def test_the_extension_decides_where_it_can_and_gz_is_transparent(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"text,aspect,label\na menu,menu,positive\n"))
    assert format_of(path, None) == "csv"
    assert len(read(path)) == 1


@pytest.mark.parametrize(
    ("given", "full"), [("xml", "semeval_xml"), ("HF", "hugging_face"), ("three-line", "three_line")]
)
def test_short_names_are_understood(given: str, full: str) -> None:
    assert format_named(given) == full


def test_unknown_names_and_unknown_content_list_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"known: {', '.join(FORMATS.names())}"):
        format_named("word")
    path = tmp_path / "data.txt"
    path.write_text("just prose\n")
    with pytest.raises(InputError, match="no known format"):
        format_of(path, None)
