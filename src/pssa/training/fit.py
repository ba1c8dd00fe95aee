"""The training loop, as a ladder: `fit` runs epochs, `run_epoch` runs steps, `train_step` changes the parameters once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from pssa.data.batch import Batch, IndexedCorpus
from pssa.errors import PssaError
from pssa.evaluation import predict_logits, score
from pssa.training.checkpoint import CheckpointStore, Forgetful, epoch_seed, restore, take
from pssa.training.history import EpochRecord, Observer, Silent, best_epoch
from pssa.training.losses import Supervision, attention_penalty, cross_entropy
from pssa.training.settings import Settings

__all__ = ["Task", "fit", "run_epoch", "search_epochs", "train_step"]


@dataclass(frozen=True)
class Task:
    """What one training learns from; `weights` and `supervision` are looked up by `Batch.index`."""

    train: IndexedCorpus
    seed: int
    stage: str  # names the training in its history and, with the seed, fixes its random numbers
    weights: Tensor | None = None  # (n,) how much each example counts
    supervision: Supervision | None = None
    dev: IndexedCorpus | None = None

    def to(self, device: torch.device) -> Task:
        """The same with everything on `device`."""
        weights = None if self.weights is None else self.weights.to(device)
        supervision = None if self.supervision is None else self.supervision.to(device)
        dev = None if self.dev is None else self.dev.to(device)
        return replace(self, train=self.train.to(device), dev=dev, weights=weights, supervision=supervision)


def fit(
    model: nn.Module,
    task: Task,
    settings: Settings,
    epochs: int,
    store: CheckpointStore | None = None,
    observer: Observer | None = None,
) -> list[EpochRecord]:
    """Train `model` in place for `epochs` epochs, going on from the checkpoint in `store` where there is one.

    With development data, stop once its macro-F1 has not risen for `settings.patience` epochs.
    """
    store, observer = store or Forgetful(), observer or Silent()
    task = task.to(next(model.parameters()).device)
    optimizer = torch.optim.Adam(_trainable(model), lr=settings.learning_rate, fused=True)
    checkpoint = store.load()
    history = restore(checkpoint, model, optimizer) if checkpoint else []
    observer.on_stage(task.stage, epochs)
    for record in history:
        observer.on_epoch(record)
    while len(history) < epochs and not (task.dev and _is_exhausted(history, settings)):
        history.append(run_epoch(model, optimizer, task, settings, len(history) + 1))
        store.save(take(model, optimizer, history))
        observer.on_epoch(history[-1])
    model.eval()
    return history


def search_epochs(
    model: nn.Module,
    task: Task,
    settings: Settings,
    store: CheckpointStore | None = None,
    observer: Observer | None = None,
) -> tuple[int, list[EpochRecord]]:
    """How many epochs serve the development data best, by training until it gets no better."""
    history = fit(model, task, settings, settings.max_epochs, store, observer)
    return best_epoch(history, settings.smoothing), history


def run_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, task: Task, settings: Settings, epoch: int
) -> EpochRecord:
    """See every training example once."""
    device = next(model.parameters()).device
    model.train()
    totals = torch.zeros(3, device=device)
    with _seeded(epoch_seed(task.seed, task.stage, epoch), device) as generator:
        for batch in task.train.shuffled_batches(settings.batch_size, generator):
            totals += train_step(model, optimizer, batch, task, settings.clip_norm)
    loss, penalty, correct = (totals / len(task.train)).tolist()
    if not loss < float("inf"):
        raise PssaError(f"the loss became {loss} in epoch {epoch} of stage {task.stage}; try a smaller learning rate")
    accuracy, macro_f1 = _score_dev(model, task.dev) if task.dev else (None, None)
    return EpochRecord(task.stage, epoch, loss, penalty, correct, accuracy, macro_f1)


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch, task: Task, clip_norm: float
) -> Tensor:
    """Change the parameters once; returns the batch's sums of loss, penalty and right predictions, left on the device."""
    prediction = model.classify(model.encode(batch), batch)  # type: ignore[operator]
    loss = cross_entropy(prediction, batch, task.weights)
    penalty = loss.new_zeros(())
    if task.supervision is not None:
        penalty = attention_penalty(prediction, batch, task.supervision)
    gamma = task.supervision.gamma if task.supervision else 0.0
    optimizer.zero_grad(set_to_none=True)
    (loss + gamma * penalty).backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(_trainable(model), clip_norm)
    optimizer.step()
    correct = (prediction.logits.argmax(dim=1) == batch.labels).float().mean()
    return torch.stack([loss.detach(), penalty.detach(), correct]) * len(batch.labels)


def _trainable(model: nn.Module) -> list[nn.Parameter]:
    # An embedding that stays as it is has zero rows of parameters; optimisers need not hear of it.
    return [parameter for parameter in model.parameters() if parameter.numel()]


def _is_exhausted(history: Sequence[EpochRecord], settings: Settings) -> bool:
    return bool(history) and len(history) - best_epoch(history, settings.smoothing) >= settings.patience


def _score_dev(model: nn.Module, dev: IndexedCorpus) -> tuple[float, float]:
    logits = predict_logits(model, dev)
    labels = tuple(str(number) for number in range(logits.shape[1]))
    gold, predicted = ([labels[number] for number in ids] for ids in (dev.labels.tolist(), logits.argmax(1).tolist()))
    scores = score(gold, predicted, labels)
    return scores.accuracy, scores.macro_f1


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[torch.Generator]:
    """Seed dropout and shuffling for one epoch, and leave the caller's random state as it was."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed)
