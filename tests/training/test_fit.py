"""The training loop, and the search for the number of epochs."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.runs.interrupted import Interrupting
from tests.training.toys import Memory, new_model, parameters, supervise_last
from torch import Tensor

from pssa.errors import PssaError
from pssa.evaluation import predict_classes
from pssa.models import Batch
from pssa.training import EpochRecord, Observer, Settings, Task, fit, search_epochs
from pssa.training.fit import count_steps, run_epoch
from pssa.training.step import Step

SETTINGS = Settings(batch_size=4, learning_rate=0.01, smoothing=1)
LOOP = importlib.import_module("pssa.training.fit")  # `pssa.training.fit` is its function


def trained(task: Task, epochs: int = 3) -> torch.Tensor:
    model = new_model()
    fit(model, task, SETTINGS, epochs)
    return parameters(model)


def test_the_callers_random_state_neither_matters_nor_changes(task: Task) -> None:
    torch.manual_seed(1)
    first = trained(task)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    assert torch.equal(trained(task), first)
    assert torch.equal(torch.get_rng_state(), before)
    for other in ({"seed": 6}, {"stage": "final"}):
        assert not torch.equal(trained(replace(task, **other)), first), other


SCHEDULED = replace(SETTINGS, schedule="linear", warmup=0.3, accumulation=2)


@pytest.mark.parametrize(
    ("interrupted_after", "settings", "rising"),
    [(1, SETTINGS, 0), (3, SETTINGS, 0), (2, SCHEDULED, 0), (2, SETTINGS, 12)],
)
def test_an_interrupted_training_ends_like_an_undisturbed_one_bit_for_bit(
    task: Task, interrupted_after: int, settings: Settings, rising: int
) -> None:
    if rising:  # gamma goes on from what it had reached
        task = replace(task, supervision=replace(supervise_last(task.train, 8.0), rising=rising))
    undisturbed, store = Memory(), Memory()
    model = new_model()
    expected = fit(model, task, settings, 5, undisturbed)
    with pytest.raises(KeyboardInterrupt):
        fit(new_model(), task, settings, 5, store, Interrupting(interrupted_after))
    assert len(store.saved) == interrupted_after
    resumed = new_model()
    assert fit(resumed, task, settings, 5, store) == expected
    assert torch.equal(parameters(resumed), parameters(model))
    # A training that is over needs no optimiser any more.
    for place, has_optimizer in ((-2, True), (-1, False)):
        first, second = undisturbed.saved[place].tensors, store.saved[place].tensors
        assert any(name.startswith("optimizer.") for name in first) == has_optimizer
        assert first.keys() == second.keys()
        assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_finished_training_is_restored_at_once(task: Task) -> None:
    store, model, again = Memory(), new_model(), new_model()
    history = fit(model, task, SETTINGS, 2, store)
    assert fit(again, task, SETTINGS, 2, store) == history
    assert len(store.saved) == 2
    assert torch.equal(parameters(again), parameters(model))


def test_short_epochs_of_a_large_model_share_a_checkpoint(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOOP, "_LARGE", 1)
    monkeypatch.setattr(LOOP, "_CHECKPOINT_STEPS", count_steps(task, SETTINGS, 2))
    undisturbed, store = Memory(), Memory()
    model, resumed = new_model(), new_model()
    expected = fit(model, task, SETTINGS, 5, undisturbed)
    assert [len(each.history) for each in undisturbed.saved] == [2, 4, 5]
    with pytest.raises(KeyboardInterrupt):
        fit(new_model(), task, SETTINGS, 5, store, Interrupting(3))
    assert [len(each.history) for each in store.saved] == [2]
    assert fit(resumed, task, SETTINGS, 5, store) == expected
    assert torch.equal(parameters(resumed), parameters(model))


def test_a_training_that_is_ended_early_keeps_its_last_epoch(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOOP, "_LARGE", 1)
    store = Memory()
    fit(new_model(), replace(task, goes_on=lambda done: done < 3), SETTINGS, 5, store)
    assert [len(each.history) for each in store.saved] == [3]
    assert any(name.startswith("optimizer.") for name in store.saved[-1].tensors)  # it can be continued


class Watching(Observer):
    """An observer that writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_stage(self, stage: str, steps: int) -> None:
        self.seen.append(f"{stage} of {steps}")

    def on_epoch(self, record: EpochRecord) -> None:
        self.seen.append(f"epoch {record.epoch}")


def test_an_observer_sees_epochs_before_an_interruption(task: Task) -> None:
    store, observer = Memory(), Watching()
    fit(new_model(), task, SETTINGS, 2, store)
    fit(new_model(), task, SETTINGS, 3, store, observer)
    assert observer.seen == ["initial of 3", "epoch 1", "epoch 2", "epoch 3"]


def test_development_scores_are_of_eval_mode_and_change_no_weights(task: Task) -> None:
    model = new_model()
    (record,) = fit(model, replace(task, dev=task.train), SETTINGS, 1)
    right = predict_classes(model, task.train) == task.train.labels
    assert record.dev_accuracy == pytest.approx(float(right.float().mean()))
    assert torch.equal(trained(task), trained(replace(task, dev=task.train)))


@pytest.mark.slow
def test_the_model_learns_what_can_be_learned(task: Task) -> None:
    model = new_model()
    history = fit(model, task, replace(SETTINGS, learning_rate=0.05), 30)
    assert history[-1].loss < history[0].loss / 2
    assert not model.training
    assert torch.equal(predict_classes(model, task.train), task.train.labels)


def test_examples_of_weight_zero_teach_nothing_by_their_place_in_the_corpus(task: Task) -> None:
    nothing = replace(task, weights=torch.zeros(len(task.train)))
    assert torch.equal(trained(nothing), parameters(new_model()))
    rows = torch.arange(9, 18)
    weights = (torch.arange(18) < 9).float()  # nothing in the selection counts
    selected = replace(task, train=task.train.select(rows), weights=weights)
    assert torch.equal(trained(selected), parameters(new_model()))


def test_an_epoch_is_a_mean_over_the_examples(task: Task) -> None:
    model = new_model()
    for parameter in model.parameters():
        parameter.detach().zero_()
    settings = replace(SETTINGS, batch_size=5, learning_rate=1e-9)
    (record,) = fit(model, task, settings, 1)
    # All logits are equal: every loss is ln 3, and the first class, a third of the corpus, is predicted.
    assert record.loss == pytest.approx(float(torch.tensor(3.0).log()))
    assert record == EpochRecord("initial", 1, record.loss, 0.0, record.accuracy)


def test_steps_are_counted_over_all_epochs_and_widths_rounded_up(task: Task) -> None:
    told: list[int] = []
    shapes: list[tuple[int, int]] = []

    def step(batch: Batch) -> Tensor:
        shapes.append((len(batch.labels), batch.positions.shape[1]))
        return torch.zeros(3)

    for epoch in (1, 3):
        run_epoch(new_model(), step, told.append, task, replace(SETTINGS, pad_multiple=4), epoch)
    # Eighteen examples in batches of four are five steps an epoch.
    assert told == [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]
    assert sorted(n_rows for n_rows, _ in shapes) == [2] * 2 + [4] * 8
    assert {width for _, width in shapes} == {4, 8}  # of sentences of 3, 4, 6 and 8 words


@pytest.mark.parametrize(
    ("settings", "has_dev", "expected"),
    [
        # Two epochs of two steps: up in two, then from the full rate down.
        (Settings(batch_size=9, learning_rate=0.4, schedule="linear", warmup=0.5), False, [0.2, 0.4, 0.4, 0.2]),
        # A search schedules its longest course, and ends early where the score does not rise.
        (Settings(batch_size=18, learning_rate=0.4, schedule="linear", max_epochs=4, patience=1), True, [0.4, 0.3]),
    ],
)
def test_a_schedule_runs_over_all_epochs(
    monkeypatch: pytest.MonkeyPatch, task: Task, settings: Settings, has_dev: bool, expected: list[float]
) -> None:
    rates: list[float] = []

    class Noting(Step):
        """Changes nothing but notes the rate that it would have had."""

        def __call__(self, batch: Batch) -> Tensor:
            rates.append(self.optimizer.param_groups[0]["lr"])
            return torch.zeros(3)

    monkeypatch.setattr(LOOP, "Step", Noting)
    if has_dev:
        search_epochs(new_model(), replace(task, dev=task.train), settings)
    else:
        fit(new_model(), task, settings, 2)
    assert rates == pytest.approx(expected)


def test_a_loss_that_is_no_number_ends_the_training_with_a_hint(task: Task) -> None:
    model = new_model()
    model.get_parameter("output.bias").detach().fill_(float("nan"))
    with pytest.raises(PssaError, match="the loss became nan in epoch 1 of stage"):
        fit(model, task, SETTINGS, 1)


def searched(task: Task, scores: list[float], store: Memory | None = None, **settings: Any) -> tuple[int, list[float]]:
    """The best epoch, and the scores of the epochs that were trained, where development data give these scores."""
    script = iter(scores)
    task = replace(task, dev=task.train, score=lambda model, dev: (0.5, next(script)))
    best, history = search_epochs(new_model(), task, replace(SETTINGS, **settings), store)
    return best, [record.dev_macro_f1 or 0 for record in history]


def test_a_search_picks_the_best_epoch_in_time_and_ends_with_its_last(task: Task) -> None:
    assert searched(task, [0.3, 0.6, 0.5, 0.6, 0.9], patience=2, max_epochs=5) == (2, [0.3, 0.6, 0.5, 0.6])
    assert searched(task, [0.1, 0.2, 0.3], max_epochs=3) == (3, [0.1, 0.2, 0.3])


def test_a_search_that_was_exhausted_is_not_taken_up_again(task: Task) -> None:
    store = Memory()
    found = searched(task, [0.5, 0.4], store, patience=1, max_epochs=9)
    assert searched(task, [], store, patience=1, max_epochs=9) == found == (1, [0.5, 0.4])
    assert len(store.saved) == 2
