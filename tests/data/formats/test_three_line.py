"""The three-line format."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.data.example import Example
from pssa.data.formats import three_line
from pssa.data.io import read
from pssa.errors import InputError


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


def test_a_text_with_the_placeholder_in_it_cannot_be_written() -> None:
    example = Example.from_spans(
        "pay $T$ here", ((0, 3), (4, 7), (8, 12)), (8, 12), label="neutral", id="1", sentence_id="1"
    )
    with pytest.raises(InputError, match="contains"):
        three_line.encode([example])
