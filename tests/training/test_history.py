"""The best epoch, and records as plain values."""

from __future__ import annotations

import json

from pssa.training import EpochRecord, best_epoch


def records(*scores: float | None) -> list[EpochRecord]:
    return [EpochRecord("search", epoch, 1.0, 0.0, 0.5, 0.5, score) for epoch, score in enumerate(scores, start=1)]


def test_the_best_epoch_has_the_highest_macro_f1() -> None:
    assert best_epoch(records(0.2, 0.5, 0.4)) == 2


def test_of_equals_the_earliest_is_best() -> None:
    assert best_epoch(records(0.2, 0.5, 0.5, 0.1)) == 2
    assert best_epoch(records(0.0, 0.0)) == 1


def test_a_record_survives_json() -> None:
    (record,) = records(None)
    assert EpochRecord(**json.loads(json.dumps(record.as_dict()))) == record


def test_smoothing_prefers_a_good_neighbourhood_to_a_lucky_epoch() -> None:
    scores = [0.1, 0.2, 0.9, 0.2, 0.5, 0.6, 0.6, 0.6, 0.5]
    history = [EpochRecord("search", epoch, 1.0, 0.0, 0.5, 0.5, score) for epoch, score in enumerate(scores, start=1)]
    assert best_epoch(history) == 3
    # Means of three: .1, .4, .433, .533, .433, .567, .6, .567, .5
    assert best_epoch(history, 3) == 7


def test_smoothing_does_not_hold_back_a_score_that_still_rises() -> None:
    history = [EpochRecord("search", epoch, 1.0, 0.0, 0.5, 0.5, epoch / 10) for epoch in range(1, 5)]
    assert best_epoch(history, 5) == 4
