"""The state of a training between two epochs: its history and its checkpoint."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st
from tests.training.toys import Memory, new_model

from pssa.training import Settings, Task, best_epoch, fit
from pssa.training.checkpoint import EpochRecord, certain_epochs, epoch_seed


def records(*scores: float | None) -> list[EpochRecord]:
    return [EpochRecord("search", epoch, 1.0, 0.0, 0.5, 0.5, score) for epoch, score in enumerate(scores, start=1)]


def test_the_best_epoch_has_the_highest_macro_f1_also_of_its_neighbourhood() -> None:
    assert best_epoch(records(0.2, 0.5, 0.5, 0.4)) == 2, "of equals the earliest"
    history = records(0.1, 0.2, 0.9, 0.2, 0.5, 0.6, 0.6, 0.6, 0.5)
    assert best_epoch(history) == 3
    # Means of three: .1, .4, .433, .533, .433, .567, .6, .567, .5
    assert best_epoch(history, 3) == 7
    # Smoothing does not hold back a score that still rises.
    assert best_epoch(records(0.1, 0.2, 0.3, 0.4), 5) == 4


def test_a_checkpoint_holds_parameters_and_moments(task: Task) -> None:
    model, store = new_model(), Memory()
    history = fit(model, task, Settings(), 2, store)
    names = [name for name, _ in model.named_parameters()]
    keys = ("step", "exp_avg", "exp_avg_sq")
    expected = {f"model.{name}" for name in names} | {f"optimizer.{n}.{key}" for n in range(len(names)) for key in keys}
    assert store.saved[0].tensors.keys() == expected
    assert store.saved[0].history == tuple(history[:1])


def test_the_seed_of_an_epoch_follows_from_run_stage_and_epoch() -> None:
    digest = hashlib.sha256(b"3/initial/2").hexdigest()
    assert epoch_seed(3, "initial", 2) == int(digest[:16], 16) // 2
    seeds = {epoch_seed(seed, stage, epoch) for seed in range(5) for stage in ("a", "b") for epoch in range(1, 6)}
    assert len(seeds) == 50
    assert all(0 <= seed < 2**63 for seed in seeds)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=1, max_size=12), st.sampled_from([1, 3, 5]))
def test_the_best_epoch_is_never_before_those_that_were_certain(scores: list[float], window: int) -> None:
    history = records(*scores)
    certain = [certain_epochs(history[:count], window) for count in range(1, len(history) + 1)]
    assert certain == sorted(certain)
    assert certain[0] >= 1
    assert certain[-1] <= best_epoch(history, window)


def test_epochs_are_certain_once_their_window_is_full() -> None:
    assert [certain_epochs(records(*[0.1, 0.5, 0.2, 0.3][:count]), 3) for count in (1, 2, 3, 4)] == [1, 1, 2, 3]
