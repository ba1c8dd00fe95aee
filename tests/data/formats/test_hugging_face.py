"""Hugging Face datasets, in memory and saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.example import Example
from pssa.data.formats import hugging_face
from pssa.data.io import read
from pssa.errors import InputError

datasets = pytest.importorskip("datasets")

_ROWS = {
    "text": ["a menu , a menu", "a bar"],
    "span": ["menu", "bar"],
    "label": ["positive", "conflict"],
    "ordinal": [1, 0],
}


def test_the_ordinal_tells_two_occurrences_apart() -> None:
    corpus = read(datasets.Dataset.from_dict(_ROWS))
    assert [(e.aspect_chars, e.label) for e in corpus] == [((11, 15), "positive")]
    assert corpus.dropped == {"conflict": 1}


def test_a_saved_dataset_is_read_back_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    first = Example.from_text("a menu , a menu", (11, 15), label="positive", id="1")
    second = Example.from_text("a bar", (2, 5), label="neutral", id="2")
    hugging_face.save([first], path)
    assert tuple(read(path)) == (first,)
    hugging_face.save([second], path)
    assert tuple(read(f"hf:{path}")) == (second,)
    assert [entry.name for entry in tmp_path.iterdir()] == ["saved"]


def test_a_save_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "saved"
    first = Example.from_text("a menu", (2, 6), label="positive", id="1")
    second = Example.from_text("a bar", (2, 5), label="neutral", id="2")
    hugging_face.save([first], path)
    rename = Path.rename

    def refuse_the_new(source: Path, target: Path) -> Path:
        if source.name.endswith(".part"):
            raise OSError("the disk is full")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", refuse_the_new)
    with pytest.raises(OSError, match="the disk is full"):
        hugging_face.save([second], path)
    assert tuple(read(path)) == (first,)
    assert [entry.name for entry in tmp_path.iterdir()] == ["saved"]


def test_a_split_must_be_chosen_where_there_are_several(tmp_path: Path) -> None:
    path = tmp_path / "splits"
    one = datasets.Dataset.from_dict(_ROWS)
    datasets.DatasetDict({"train": one, "test": one}).save_to_disk(str(path))
    assert len(read(f"hf:{path}:test")) == 1
    with pytest.raises(InputError, match="has the splits train, test"):
        read(path)
    with pytest.raises(InputError, match="no split 'dev'"):
        read(f"hf:{path}:dev")


def test_a_directory_that_is_no_dataset_is_never_written_over(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a saved dataset"):
        hugging_face.save([Example.from_text("a bar", (2, 5), label="neutral")], tmp_path)


def test_saving_draws_no_bar_and_leaves_the_library_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hugging_face.save([Example.from_text("a bar", (2, 5), label="neutral", id="1")], tmp_path / "saved")
    assert capsys.readouterr().err == ""
    assert not datasets.are_progress_bars_disabled()
