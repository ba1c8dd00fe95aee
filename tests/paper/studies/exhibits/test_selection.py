"""What choosing on the test set is worth, on made-up curves."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest

import paper
import pssa
from paper.studies.exhibits.selection import best_of


@pytest.mark.parametrize("number", [1, 3, 5])
def test_the_best_of_some_is_the_mean_over_all_draws(number: int) -> None:
    scores = [(70.0, 66.0), (71.0, 60.0), (71.0, 61.0), (68.0, 69.0), (73.0, 62.0)]
    best = [max(drawn) for drawn in combinations(scores, number)]
    expected = tuple(fmean(column) for column in zip(*best, strict=True))
    assert best_of(number, scores) == pytest.approx(expected)
    assert best_of(6, scores) is None


def test_test_scores_by_epoch_are_read_by_pages_alone() -> None:
    """Nothing that trains, tunes or sets a default reads what choosing on test would report."""
    folders = (Path(pssa.__file__).parent, Path(paper.__file__).parent)
    sources = (path for folder in folders for path in folder.rglob("*.py"))
    readers = {path.stem for path in sources if '["curve"]' in path.read_text("utf-8")}
    assert readers == {"_rows", "selection"}
