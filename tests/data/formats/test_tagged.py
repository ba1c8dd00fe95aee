"""The tagged format."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.data.example import Example
from pssa.data.formats import tagged
from pssa.data.io import read
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


def test_a_second_run_is_context_and_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("is obama/0 good y/n\n")
    assert read(path)[0].words == ("is", "obama", "good", "y/n")
    assert [(p.line, p.rejected, "y/n" in p.what) for p in check(path).problems] == [(1, False, True)]


def test_mixed_tags_take_the_first_label_and_are_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("they load/p webpages/0 fast\n")
    assert (read(path)[0].label, read(path)[0].aspect_text) == ("positive", "load webpages")
    assert check(path).problems[0].rejected is False


def test_a_bare_tag_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: no word ends in /p, /n or /0"):
        _read_line(tmp_path, "uninstall /n it")


def test_a_context_word_that_looks_tagged_before_the_aspect_cannot_be_written() -> None:
    example = Example.from_text("a y/n menu", (6, 10), label="positive")
    with pytest.raises(InputError, match="looks tagged"):
        tagged.encode([example])


def test_a_label_without_a_tag_cannot_be_written() -> None:
    example = Example.from_text("a menu", (2, 6), label="conflict")
    with pytest.raises(InputError, match="'conflict' has no tag"):
        tagged.encode([example])
