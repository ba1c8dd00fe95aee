"""What a run was trained on is known again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pssa.data.example import Corpus, Example
from pssa.runs.evaluate import count_train_overlap


@pytest.fixture(scope="module")
def trained(train_tiny: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_tiny(tmp_path_factory.mktemp("runs") / "run", epochs=1, method="aw-as", iterations=1)


def test_texts_that_a_run_was_trained_on_are_counted(trained: Path, corpus: Corpus) -> None:
    new = Example.from_text("a fine menu", (7, 11), label="positive", id="new")
    data = Corpus((new, *corpus.examples[:3]))
    assert count_train_overlap(trained, data) == 3
    assert count_train_overlap(trained / "stages" / "initial", data) == 3
    assert count_train_overlap(trained, Corpus((new,))) == 0


def test_a_run_that_has_not_kept_its_data_or_not_whole_knows_of_none(
    trained: Path, corpus: Corpus, tmp_path: Path
) -> None:
    assert count_train_overlap(tmp_path, corpus) is None
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "corpus.jsonl").write_text("{")
    assert count_train_overlap(tmp_path, corpus) is None
