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
