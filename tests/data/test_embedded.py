"""The embedded corpus: what loading gives, and what its files promise."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import pytest

from pssa.data.embedded import SPLITS, load
from pssa.data.example import Example
from pssa.errors import InputError


def _packaged(split: str) -> bytes:
    return files("pssa.data.embedded").joinpath(f"{split}.jsonl").read_bytes()


def _example(split: str, text: str, aspect: str) -> Example:
    (found,) = (example for example in load(split) if example.text == text and example.aspect_text == aspect)
    return found


def test_a_mixed_sentence_gives_one_example_for_each_aspect() -> None:
    text = "The screen is huge and bright, but the battery dies within an hour."
    screen, battery = _example("train", text, "screen"), _example("train", text, "battery")
    assert (screen.aspect_chars, screen.label) == ((4, 10), "positive")
    assert (battery.aspect_chars, battery.label) == ((39, 46), "negative")
    assert screen.sentence_id == battery.sentence_id
    assert screen.id != battery.id


def test_an_unknown_split_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown split 'dev' of the embedded"):
        load("dev")


def test_the_files_are_those_that_the_numbers_about_them_were_measured_with() -> None:
    assert {split: hashlib.sha256(_packaged(split)).hexdigest()[:16] for split in SPLITS} == {
        "train": "c8b8eb5f16592845",
        "test": "955da4f2edf1d0e8",
    }


def test_no_sentence_is_in_both_splits() -> None:
    train, test = ({example.text for example in load(split)} for split in SPLITS)
    assert train.isdisjoint(test)
