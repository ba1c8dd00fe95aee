"""The training loop: `fit` runs epochs, `run_epoch` runs steps, `Step` changes the parameters once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa import models
from pssa.errors import PssaError
from pssa.evaluation import predict_logits, score
from pssa.models import Batch, IndexedCorpus, draw_from
from pssa.training.checkpoint import (
    CheckpointStore,
    EpochRecord,
    best_epoch,
    epoch_seed,
    restore,
    take,
)
from pssa.training.contrast import Contrast, Copies, shift_rows
from pssa.training.graphs import RecordedStep, records
from pssa.training.observers import Observer
from pssa.training.parallel import Team
from pssa.training.step import Schedule, Step, new_optimizer
from pssa.training.supervision import Supervision
from pssa.training.task import Settings, Task

_CHECKPOINT_STEPS = 20  # between two checkpoints of a large model, at least
_LARGE = 1_000_000  # parameters, from which on it takes time to write them


def fit(
    model: nn.Module,
    task: Task,
    settings: Settings,
    epochs: int,
    store: CheckpointStore | None = None,
    observer: Observer | None = None,
) -> list[EpochRecord]:
    """Train `model` in place for `epochs` epochs, continuing from the checkpoint in `store` where there is one.

    A checkpoint follows every epoch. If the model is large, epochs of a few steps share one, since writing it takes time.
    With development data, stop once its macro-F1 has not risen for `settings.patience` epochs. The processes of `task.team`
    train together; the first of them alone reads and writes the store.
    """
    # Copies may have pieces that are not in the corpus.
    trims = settings.share_sentences and task.contrast is None
    with models.train_rows(model, task.train) if trims else nullcontext():
        return _fit(model, task, settings, epochs, store, observer or Observer())


def _fit(
    model: nn.Module, task: Task, settings: Settings, epochs: int, store: CheckpointStore | None, observer: Observer
) -> list[EpochRecord]:
    team = task.team
    task = reserve_copies(task).to(next(model.parameters()).device)
    recorded = records(model, next(model.parameters()).device, settings, task)
    optimizer = new_optimizer(model, settings, recorded)
    history = _begin(model, optimizer, store, team)
    plain = Step(model, optimizer, task, settings)
    step = RecordedStep(plain) if recorded else plain
    steps = count_steps(task, settings, max(epochs, task.horizon))
    schedule: Callable[[int], None] = Schedule(optimizer, settings, steps, task.supervision, plain.gamma)
    schedule = _reporting(schedule, observer, count_steps(task, settings, epochs))
    observer.on_stage(task.stage, epochs)
    for record in history:
        observer.on_epoch(record)
    saved, due = len(history), _next_checkpoint(model, task, settings, len(history), epochs)
    while len(history) < epochs and not _is_over(history, task, settings):
        history.append(run_epoch(model, step, schedule, task, settings, len(history) + 1))
        if store and team.is_main and len(history) == due:
            store.save(take(model, optimizer if len(history) < epochs else None, history))
            saved, due = due, _next_checkpoint(model, task, settings, due, epochs)
        observer.on_epoch(history[-1])
    if store and team.is_main and saved < len(history):
        store.save(take(model, optimizer, history))
    optimizer.zero_grad(set_to_none=True)
    model.eval()
    return history


def search_epochs(
    model: nn.Module,
    task: Task,
    settings: Settings,
    store: CheckpointStore | None = None,
    observer: Observer | None = None,
) -> tuple[int, list[EpochRecord]]:
    """Return the best number of epochs on development data, by training until its score stops rising."""
    history = fit(model, task, settings, settings.max_epochs, store, observer)
    return best_epoch(history, settings.smoothing), history


def run_epoch(
    model: nn.Module,
    step: Callable[[Batch], Tensor],
    schedule: Callable[[int], None],
    task: Task,
    settings: Settings,
    epoch: int,
) -> EpochRecord:
    """Train on every example once, and on the copies of the epoch.

    :param step: changes the model and returns (3,) sums of loss, penalty and right predictions, like `Step`.
    :param schedule: is called with the number of each step before it, from 1 over all epochs, like `Schedule`.
    """
    device = next(model.parameters()).device
    model.train()
    totals = torch.zeros(3, device=device)
    first = count_steps(task, settings, epoch - 1) + 1
    train = rows_of_epoch(task, epoch)
    with _seeded(epoch_seed(task.seed, task.stage, epoch), model, task.team.rank) as generator:
        order = (settings.batch_size, generator, settings.pad_multiple, settings.bucket_batches)
        by_sentence = getattr(getattr(model, "encoder", None), "shares", False)
        batches = train.shuffled_batches(*order, by_sentence=by_sentence)
        for number, batch in enumerate(batches, start=first):
            schedule(number)
            totals += step(batch)
    loss, penalty, correct = (task.team.add(totals) / len(train)).tolist()
    if not loss < float("inf"):
        raise PssaError(f"the loss became {loss} in epoch {epoch} of stage {task.stage}; try a smaller learning rate")
    record = EpochRecord(task.stage, epoch, loss, penalty, correct)
    if task.dev and task.score:
        accuracy, macro_f1 = task.score(model, task.dev)
        record = replace(record, dev_accuracy=accuracy, dev_macro_f1=macro_f1)
    elif task.dev:
        logits = predict_logits(model, task.dev)
        accuracy, macro_f1 = _score_dev(logits, task.dev)
        record = replace(record, dev_accuracy=accuracy, dev_macro_f1=macro_f1, dev_logits=logits)
    return task.team.share_object(record)


def _begin(
    model: nn.Module, optimizer: torch.optim.Optimizer, store: CheckpointStore | None, team: Team
) -> list[EpochRecord]:
    """Give every process the main one's checkpoint or parameters, and return the history so far."""
    checkpoint = store.load() if store and team.is_main else None
    if team.is_main and team.size > 1 and checkpoint is None:
        checkpoint = take(model, optimizer, [])
    checkpoint = team.broadcast(checkpoint)
    return restore(checkpoint, model, optimizer) if checkpoint else []


def _reporting(schedule: Callable[[int], None], observer: Observer, n_steps: int) -> Callable[[int], None]:
    """Return the schedule, which is asked before each step, so that it also reports the steps done before."""

    def report(number: int) -> None:
        observer.on_step(number - 1, n_steps)
        schedule(number)

    return report


def count_steps(task: Task, settings: Settings, epochs: int) -> int:
    """Return the steps of the first epochs; an epoch in which some copies find no partner may have fewer."""
    return epochs * math.ceil(task.n_rows / settings.batch_size)


def _next_checkpoint(model: nn.Module, task: Task, settings: Settings, saved: int, epochs: int) -> int:
    """Return the epoch whose checkpoint follows that of the epoch `saved`."""
    is_large = sum(parameter.numel() for parameter in model.parameters()) >= _LARGE
    enough = count_steps(task, settings, saved) + (_CHECKPOINT_STEPS if is_large else 1)
    later = range(saved + 1, epochs)
    return next((epoch for epoch in later if count_steps(task, settings, epoch) >= enough), epochs)


def _is_over(history: Sequence[EpochRecord], task: Task, settings: Settings) -> bool:
    """Whether a search has run out of patience, or somebody ends the training."""
    if task.dev and history and len(history) - best_epoch(history, settings.smoothing) >= settings.patience:
        return True
    return task.goes_on is not None and not task.goes_on(len(history))


def _score_dev(logits: Tensor, dev: IndexedCorpus) -> tuple[float, float]:
    labels = tuple(str(number) for number in range(logits.shape[1]))
    gold, predicted = ([labels[number] for number in ids] for ids in (dev.labels.tolist(), logits.argmax(1).tolist()))
    scores = score(gold, predicted, labels)
    return scores.accuracy, scores.macro_f1


@contextmanager
def _seeded(seed: int, model: nn.Module, rank: int) -> Iterator[torch.Generator]:
    """Seed dropout and shuffling for one epoch, and leave the caller's random state as it was.

    All processes shuffle alike; each draws its own dropout. Models on word vectors draw from a generator of their own on a CPU,
    where several may be trained beside each other; encoders draw from the global one.
    """
    device = next(model.parameters()).device
    if device.type == "cpu" and getattr(model, "reads", "") == "words":
        with draw_from(torch.Generator().manual_seed(seed + rank)):
            yield torch.Generator().manual_seed(seed)
        return
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed + rank)
        yield torch.Generator().manual_seed(seed)


def reserve_copies(task: Task) -> Task:
    """Return the task with space for copies in its weights and supervision: CUDA graphs need tensors that stay in place."""
    if task.contrast is None:
        return task
    known, room = len(task.contrast.sentences), task.contrast.n_copies(len(task.train))
    weights = torch.ones(known) if task.weights is None else task.weights
    weights = functional.pad(weights, (0, room))
    return replace(task, weights=weights, supervision=_reserve_supervision(task, known, room))


def rows_of_epoch(task: Task, epoch: int) -> IndexedCorpus:
    """Return what an epoch trains on, and set weights and expectations of its copies in place."""
    contrast = task.contrast
    if contrast is None:
        return task.train
    generator = torch.Generator().manual_seed(epoch_seed(task.seed, f"{task.stage}/contrast", epoch))
    copies = contrast.draw(task.train, generator)
    if copies is None:
        return task.train
    assert task.weights is not None
    origin = copies.origin.to(task.weights.device)
    known = len(contrast.sentences)
    task.weights[known : known + len(origin)] = task.weights[origin] * contrast.options.weight
    if task.supervision is not None:
        _move_expectations(task.supervision, contrast, copies, origin)
    return contrast.append(task.train, copies.data)


def _reserve_supervision(task: Task, known: int, room: int) -> Supervision | None:
    supervision = task.supervision
    if supervision is None or task.contrast is None:
        return None
    more = (0, task.n_words - supervision.expected.shape[1], 0, room)
    weights = torch.cat([torch.ones(known), torch.full((room,), task.contrast.options.weight)])
    expected, supervised = functional.pad(supervision.expected, more), functional.pad(supervision.supervised, more)
    return replace(supervision, expected=expected, supervised=supervised, weights=weights)


def _move_expectations(supervision: Supervision, contrast: Contrast, copies: Copies, origin: Tensor) -> None:
    """Expect of a copy what is expected of its instance, at the words' new places."""
    known, shift, kept = len(contrast.sentences), copies.shift.to(origin.device), copies.kept.to(origin.device)
    for values in (supervision.expected, supervision.supervised):
        values[known : known + len(origin)] = shift_rows(values[origin], shift, kept)
