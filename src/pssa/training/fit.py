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
from pssa.training.contrast import shift_rows
from pssa.training.graphs import RecordedStep, records
from pssa.training.observers import Observer
from pssa.training.parallel import Team
from pssa.training.step import Step, new_optimizer
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
    listener, store = observer or Observer(), store if task.team.is_main else None
    # Copies may have pieces that are not in the corpus.
    trims = settings.share_sentences and task.contrast is None
    with models.train_rows(model, task.train) if trims else nullcontext():
        device = next(model.parameters()).device
        task = reserve_copies(task).to(device)
        recorded = records(model, device, settings, task)
        optimizer = new_optimizer(model, settings, recorded)
        history = _begin(model, optimizer, store, task.team)
        plain = Step(model, optimizer, task, settings)
        step = RecordedStep(plain) if recorded else plain
        n_steps, horizon = (count_steps(task, settings, n) for n in (epochs, max(epochs, task.horizon)))
        is_large = sum(parameter.numel() for parameter in model.parameters()) >= _LARGE
        interval = math.ceil(_CHECKPOINT_STEPS / count_steps(task, settings, 1)) if is_large else 1  # of checkpoints
        saved = len(history)

        def begin_step(number: int) -> None:
            listener.on_step(number - 1, n_steps)
            plain.schedule(number, horizon)

        listener.on_stage(task.stage, epochs)
        for record in history:
            listener.on_epoch(record)
        while len(history) < epochs and not _is_over(history, task, settings):
            history.append(run_epoch(model, step, begin_step, task, settings, len(history) + 1))
            is_last = len(history) == epochs
            if store and (is_last or len(history) - saved >= interval):
                store.save(take(model, None if is_last else optimizer, history))
                saved = len(history)
            listener.on_epoch(history[-1])
        if store and saved < len(history):
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
    begin_step: Callable[[int], None],
    task: Task,
    settings: Settings,
    epoch: int,
) -> EpochRecord:
    """Train on every example once, and on the copies of the epoch.

    :param step: changes the model and returns (3,) sums of loss, penalty and right predictions, like `Step`.
    :param begin_step: is called with the number of each step before it, from 1 over all epochs.
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
            begin_step(number)
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
        labels = [str(number) for number in range(logits.shape[1])]
        gold, found = ([labels[number] for number in ids.tolist()] for ids in (task.dev.labels, logits.argmax(dim=1)))
        scores = score(gold, found, labels)
        record = replace(record, dev_accuracy=scores.accuracy, dev_macro_f1=scores.macro_f1, dev_logits=logits)
    return task.team.share(record)


def _begin(
    model: nn.Module, optimizer: torch.optim.Optimizer, store: CheckpointStore | None, team: Team
) -> list[EpochRecord]:
    """Give every process the main one's checkpoint or parameters, and return the history so far."""
    checkpoint = store.load() if store else None
    if team.is_main and team.size > 1 and checkpoint is None:
        checkpoint = take(model, optimizer, [])
    checkpoint = team.broadcast(checkpoint)
    return restore(checkpoint, model, optimizer) if checkpoint else []


def count_steps(task: Task, settings: Settings, epochs: int) -> int:
    """Return the steps of the first epochs; an epoch in which some copies find no partner may have fewer."""
    return epochs * math.ceil(task.n_rows / settings.batch_size)


def _is_over(history: Sequence[EpochRecord], task: Task, settings: Settings) -> bool:
    """Whether a search has run out of patience, or somebody ends the training."""
    if task.dev and history and len(history) - best_epoch(history, settings.smoothing) >= settings.patience:
        return True
    return task.goes_on is not None and not task.goes_on(len(history))


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
    contrast, supervision = task.contrast, task.supervision
    if contrast is None:
        return task
    known, room = len(contrast.sentences), contrast.n_copies(len(task.train))
    weights = functional.pad(torch.ones(known) if task.weights is None else task.weights, (0, room))
    if supervision is not None:
        more = (0, task.n_words - supervision.expected.shape[1], 0, room)
        supervision = replace(
            supervision,
            expected=functional.pad(supervision.expected, more),
            supervised=functional.pad(supervision.supervised, more),
            weights=torch.cat([torch.ones(known), torch.full((room,), contrast.options.weight)]),
        )
    return replace(task, weights=weights, supervision=supervision)


def rows_of_epoch(task: Task, epoch: int) -> IndexedCorpus:
    """Return what an epoch trains on, and set weights and expectations of its copies in place."""
    contrast, supervision = task.contrast, task.supervision
    if contrast is None:
        return task.train
    generator = torch.Generator().manual_seed(epoch_seed(task.seed, f"{task.stage}/contrast", epoch))
    copies = contrast.draw(task.train, generator)
    if copies is None:
        return task.train
    assert task.weights is not None
    origin, shift, kept = (each.to(task.weights.device) for each in (copies.origin, copies.shift, copies.kept))
    own = slice(len(contrast.sentences), len(contrast.sentences) + len(origin))
    task.weights[own] = task.weights[origin] * contrast.options.weight
    if supervision is not None:
        # A copy is expected to attend as its instance is, at the words' new places.
        for values in (supervision.expected, supervision.supervised):
            values[own] = shift_rows(values[origin], shift, kept)
    return contrast.append(task.train, copies.data)
