"""The search for the number of epochs: the best one, and when it ends."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from torch import nn

from pssa.training import Settings, Task, search_epochs

SETTINGS = Settings(batch_size=4, learning_rate=0.01, smoothing=1)
NewModel = Callable[[], nn.Module]


def script_dev_scores(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> None:
    script = iter(scores)
    # By name: the function `fit` hides its module as an attribute of the package.
    module = importlib.import_module("pssa.training.fit")
    monkeypatch.setattr(module, "_score_dev", lambda model, dev: (0.5, next(script)))


def test_a_search_picks_the_best_epoch_and_stops_after_its_patience(
    monkeypatch: pytest.MonkeyPatch, new_model: NewModel, task: Task
) -> None:
    script_dev_scores(monkeypatch, [0.3, 0.6, 0.5, 0.6, 0.9])
    settings = replace(SETTINGS, patience=2, max_epochs=5)
    best, history = search_epochs(new_model(), replace(task, dev=task.train), settings)
    assert best == 2
    assert [record.dev_macro_f1 for record in history] == [0.3, 0.6, 0.5, 0.6]


def test_a_search_ends_with_its_last_epoch_at_the_latest(
    monkeypatch: pytest.MonkeyPatch, new_model: NewModel, task: Task
) -> None:
    script_dev_scores(monkeypatch, [0.1, 0.2, 0.3])
    best, history = search_epochs(new_model(), replace(task, dev=task.train), replace(SETTINGS, max_epochs=3))
    assert (best, len(history)) == (3, 3)


def test_a_search_that_was_exhausted_is_not_taken_up_again(
    monkeypatch: pytest.MonkeyPatch, new_model: NewModel, new_store: Callable[[], Any], task: Task
) -> None:
    script_dev_scores(monkeypatch, [0.5, 0.4])
    settings, store = replace(SETTINGS, patience=1, max_epochs=9), new_store()
    task = replace(task, dev=task.train)
    assert search_epochs(new_model(), task, settings, store) == search_epochs(new_model(), task, settings, store)
    assert len(store.saved) == 2
