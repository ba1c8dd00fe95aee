"""CUDA graphs: a step that is recorded once for each width of batches and then replayed.

A step of an encoder on twenty words is a thousand small kernels, and launching them takes longer than running them. A recorded
step is launched as one. Recording runs nothing. The first batch of a width takes a normal step, in which libraries also allocate
what they need; the second is recorded and replayed, like all that follow. Dropout draws new numbers at every replay.

Recorded steps hold on to the parameters, the optimiser's state and the learning rate, which therefore is a tensor.
"""

from __future__ import annotations

from dataclasses import fields, replace

import torch
from torch import Tensor, nn

from pssa.errors import PssaError
from pssa.models import Batch
from pssa.training.step import Step
from pssa.training.task import Settings, Task

_Shape = tuple[int, int]  # rows and positions
_Recording = tuple[torch.cuda.CUDAGraph, Batch, Tensor]  # the graph, the batch it reads, and the (3,) sums it leaves


def records(model: nn.Module, device: torch.device, settings: Settings, task: Task) -> bool:
    """Return whether steps are recorded: of a model whose steps never wait for the host, by one process on a GPU."""
    can_record = bool(getattr(model, "recordable", False))
    return settings.graphs and can_record and device.type == "cuda" and task.team.size == 1


class RecordedStep:
    """A step that takes the place of `step` and returns the same."""

    def __init__(self, step: Step) -> None:
        self._step = step
        # Words and aspects are padded to the widest of the corpus, which costs nothing and leaves positions as the only width.
        self._n_words, self._n_aspect = step.task.n_words, step.task.train.table.aspect.shape[1]
        self._seen: set[_Shape] = set()
        self._recordings: dict[_Shape, _Recording] = {}
        # One stream for all steps: gradients are accumulated on the stream that they were first computed on.
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, batch: Batch) -> Tensor:
        """(3,) sums of loss, penalty and right predictions, left on the device."""
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            sums = self._run(batch)
        current.wait_stream(self._stream)
        return sums

    def _run(self, batch: Batch) -> Tensor:
        shape = (batch.positions.shape[0], batch.positions.shape[1])
        if shape not in self._seen:
            self._seen.add(shape)
            return self._step(batch)
        if shape not in self._recordings:
            self._recordings[shape] = self._record(self._widened(batch))
        graph, place, sums = self._recordings[shape]
        _fill(place, batch)
        graph.replay()
        return sums

    def _record(self, batch: Batch) -> _Recording:
        self._step.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        # Some encoders make small tensors without naming a device, and a copy from the host cannot be recorded.
        try:
            with torch.device(self._step.device), torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
                sums = self._step(batch)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            # Random numbers and streams are in an unknown state after this, so continuing could give wrong results silently.
            raise PssaError(f"a step of this model cannot be recorded: {error}; set graphs to false") from error
        return graph, batch, sums

    def _widened(self, batch: Batch) -> Batch:
        """Return a copy of the batch with room for the widest rows of the corpus."""
        n_rows = len(batch.labels)
        room = replace(
            batch,
            aspect=batch.aspect.new_zeros(n_rows, self._n_aspect),
            candidates=batch.candidates.new_zeros(n_rows, self._n_words),
        )
        copy = Batch(**{f.name: torch.empty_like(getattr(room, f.name)) for f in fields(Batch)})
        _fill(copy, batch)
        return copy


def _fill(place: Batch, batch: Batch) -> None:
    """Copy `batch` to where a recorded step reads it; the rest there is padding."""
    for f in fields(Batch):
        target, source = getattr(place, f.name), getattr(batch, f.name)
        if target.shape != source.shape:
            target.zero_()
            target = target[:, : source.shape[1]]
        target.copy_(source)
