"""Augmentation: copies of instances, drawn anew in each epoch, with their supervision and weights.

Which copies an epoch has follows from the seed, the stage and the epoch alone, so that a resumed training draws the same.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from pssa.models import IndexedCorpus
from pssa.training.checkpoint import epoch_seed
from pssa.training.contrast import Contrast, Copies, shift_rows
from pssa.training.supervision import Supervision
from pssa.training.task import Task


def reserve_copies(task: Task) -> Task:
    """Return the task with space for copies in its weights and supervision: CUDA graphs need tensors that stay in place."""
    if task.contrast is None:
        return task
    known, room = len(task.contrast.sentences), task.contrast.n_copies(len(task.train), epoch=1)
    weights = torch.ones(known) if task.weights is None else task.weights
    weights = functional.pad(weights, (0, room))
    return replace(task, weights=weights, supervision=_reserve_supervision(task, known, room))


def rows_of_epoch(task: Task, epoch: int) -> IndexedCorpus:
    """Return what an epoch trains on, and set weights and expectations of its copies in place."""
    contrast = task.contrast
    if contrast is None or not contrast.n_copies(len(task.train), epoch):
        return task.train
    generator = torch.Generator().manual_seed(epoch_seed(task.seed, f"{task.stage}/contrast", epoch))
    copies = contrast.draw(task.train, epoch, generator)
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
