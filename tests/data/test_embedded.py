"""The embedded corpus: what loading gives, what its generator writes and what its check accepts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from pssa.data.embedded import SPLITS, load
from pssa.data.example import Example
from pssa.errors import InputError

_SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def _run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(_SCRIPTS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _packaged(split: str) -> bytes:
    return files("pssa.data.embedded").joinpath(f"{split}.jsonl").read_bytes()


def _example(split: str, text: str, aspect: str) -> Example:
    (found,) = (example for example in load(split) if example.text == text and example.aspect_text == aspect)
    return found


def test_the_splits_have_the_promised_sizes() -> None:
    assert len(load("train")) >= 600
    assert len(load("test")) >= 200


def test_a_mixed_sentence_gives_one_example_for_each_aspect() -> None:
    text = "The screen is huge and bright, but the battery dies within an hour."
    screen, battery = _example("train", text, "screen"), _example("train", text, "battery")
    assert (screen.aspect_chars, screen.label) == ((4, 10), "positive")
    assert (battery.aspect_chars, battery.label) == ((39, 46), "negative")
    assert screen.sentence_id == battery.sentence_id
    assert screen.id != battery.id


def test_a_frequent_word_that_a_rare_word_overrules_is_misleading() -> None:
    example = _example("test", "The performance is a huge disappointment.", "performance")
    assert example.label == "negative"
    assert example.tags == ("misleading", "hand", "laptop")


def test_a_frequent_word_that_means_what_it_mostly_means_is_plain() -> None:
    example = _example("test", "The huge display makes spreadsheets bearable.", "display")
    assert example.label == "positive"
    assert example.tags == ("plain", "hand", "laptop")


def test_the_other_aspect_of_a_misleading_sentence_is_plain() -> None:
    text = "The screen is a huge downgrade, though the keys are quiet and easy to find in the dark."
    assert "misleading" in _example("test", text, "screen").tags
    assert "plain" in _example("test", text, "keys").tags


def test_ids_are_unique_across_the_splits() -> None:
    ids = [example.id for split in SPLITS for example in load(split)]
    assert len(set(ids)) == len(ids)


def test_only_test_examples_belong_to_a_slice() -> None:
    slices = {"misleading", "plain"}
    assert all(slices.isdisjoint(example.tags) for example in load("train"))
    assert all(len(slices.intersection(example.tags)) == 1 for example in load("test"))


def test_an_unknown_split_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown split 'dev' of the embedded corpus; known: train, test"):
        load("dev")


@pytest.mark.slow
def test_the_generator_reproduces_the_files_byte_for_byte(tmp_path: Path) -> None:
    made = _run("make_embedded_corpus.py", "--out", str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "train.jsonl").read_bytes() == _packaged("train")
    assert (tmp_path / "test.jsonl").read_bytes() == _packaged("test")


@pytest.mark.slow
def test_the_check_accepts_the_packaged_files() -> None:
    checked = _run("check_embedded_corpus.py")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_the_check_refuses_a_test_sentence_that_is_also_in_train(tmp_path: Path) -> None:
    train, test = _packaged("train"), _packaged("test")
    (tmp_path / "train.jsonl").write_bytes(train + test.splitlines(keepends=True)[-1])
    (tmp_path / "test.jsonl").write_bytes(test)
    checked = _run("check_embedded_corpus.py", "--folder", str(tmp_path))
    assert checked.returncode == 1
    assert "OFF no sentence in both splits: 1" in checked.stdout


def test_the_check_refuses_an_aspect_that_is_not_where_its_offsets_say(tmp_path: Path) -> None:
    shutil.copy(str(files("pssa.data.embedded") / "test.jsonl"), tmp_path)
    moved = _packaged("train").replace(b'"from": 4, "to": 10', b'"from": 5, "to": 11', 1)
    (tmp_path / "train.jsonl").write_bytes(moved)
    checked = _run("check_embedded_corpus.py", "--folder", str(tmp_path))
    assert checked.returncode == 1
    assert "train.jsonl, line 1" in checked.stderr
