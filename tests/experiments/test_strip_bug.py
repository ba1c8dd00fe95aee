"""The paper's footnote, rebuilt, and counted in the public files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data import read
from pssa.data.formats.tagged import is_tagged
from pssa.experiments.strip_bug import strip_targets


def stripped(tmp_path: Path, line: str) -> str:
    path = tmp_path / "train.txt"
    path.write_text(line + "\n")
    (example,) = strip_targets(path)
    (sound,) = read(path)
    assert (example.aspect, example.label, example.id) == (sound.aspect, sound.label, sound.id)
    assert example.text == " ".join(example.words)
    return example.text


@pytest.mark.parametrize(
    ("line", "damaged"),
    [
        ("i love nicki/n minaj", "i love icki minaj"),
        ("the nun/n in/n town", "the u i town"),
        ("a plain/p laptop/p plug", "a lain lapto plug"),
        ("the 100/0 pieces", "the 1 pieces"),
        ("a screen/p for nicki", "a screen for nicki"),
    ],
)
def test_letters_of_the_tag_go_with_it_from_targets_alone(tmp_path: Path, line: str, damaged: str) -> None:
    assert stripped(tmp_path, line) == damaged


def test_a_word_of_which_nothing_would_be_left_stays_whole(tmp_path: Path) -> None:
    assert stripped(tmp_path, "and nn/n or //0") == "and nn or //0"
    assert stripped(tmp_path, "a //0 between") == "a / between"


# Train and test. Counted by `strip` alone, LAPTOP's test file has one more: its target `/` would be empty.
COUNTS = {"laptop": (290, 84), "rest": (405, 121), "twitter": (676, 84)}
EMPTIED = {"laptop": (0, 1), "rest": (0, 0), "twitter": (0, 0)}


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("data", COUNTS)
def test_damaged_lines_of_the_public_files(shared_data: Path, data: str) -> None:
    for part, count, emptied in zip(("train", "test"), COUNTS[data], EMPTIED[data], strict=True):
        path = shared_data / data / f"{part}.txt"
        changed = sum(
            before.words != after.words for before, after in zip(read(path), strip_targets(path), strict=True)
        )
        assert changed == count
        lines = path.read_text("utf-8").splitlines()
        assert sum(any(is_cut(token) for token in line.split()) for line in lines) == count + emptied


def is_cut(token: str) -> bool:
    return is_tagged(token) and token.strip(token[-2:]) != token[:-2]
