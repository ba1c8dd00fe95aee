"""Test instances by the training frequency of their rarest opinion word, on a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.experiments.analyses.subjects import classifier, corpus, opinion_rows, subject

from pssa.errors import InputError
from pssa.experiments.analyses.rare_words import bucket_of, look

TRAIN = corpus("Great screen", "a great screen", "the great great screen", "a dim screen")


@pytest.mark.parametrize(
    ("count", "bucket"),
    [(0, "0"), (1, "1-2"), (2, "1-2"), (3, "3-10"), (10, "3-10"), (11, "11-50"), (50, "11-50"), (51, "> 50")],
)
def test_buckets_meet(count: int, bucket: str) -> None:
    assert bucket_of(count) == bucket


def test_sums_are_told_by_the_rarest_marked_word(tmp_path: Path) -> None:
    # "great" stands in train four times, "dim" once, "odd" never; nothing is marked in the last sentence.
    test = corpus(
        *("great dim screen", "great screen", "screen so odd", "a screen"),
        labels=("positive", "negative", "positive", "neutral"),
    )
    attention = [[0.25, 0.5, 0.25], [1.0, 0.0, 0.0], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0]]
    model = classifier(attention, (0, 0, 0, 0), TRAIN, test)
    rows = opinion_rows(tmp_path, test, ("great", "dim"), ("great",), ("odd",), ())
    found = look(subject(TRAIN, test, model, rows))
    # Attention on the aspect is left out of shares: 0.25 and 0.5 of 0.75 are all of it.
    assert found["1-2"] == {"instances": 1, "right": 1, "mass": pytest.approx(1.0), "even": 1.0}
    assert found["3-10"] == {"instances": 1, "right": 0, "mass": pytest.approx(1.0), "even": 1.0}
    assert found["0"] == {"instances": 1, "right": 1, "mass": pytest.approx(0.75), "even": 0.5}
    assert found["> 50"] == found["11-50"] == {"instances": 0, "right": 0, "mass": 0.0, "even": 0.0}


def test_data_without_marks_cannot_be_looked_at() -> None:
    model = classifier([[1.0, 0.0]], (0,), TRAIN)
    with pytest.raises(InputError, match="nobody marked opinion words"):
        look(subject(TRAIN, TRAIN, model))
