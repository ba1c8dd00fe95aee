"""CUDA graphs: a training step, or an encoder that scores, recorded once for each shape of batches and then replayed.

An encoder on twenty words is hundreds of small kernels, a step a thousand, and launching them takes longer than running them. A
recording is launched as one. Recording runs nothing. The first batch of a shape is computed normally, in which libraries also
allocate what they need; the second is recorded and replayed, like all that follow. Dropout draws new numbers at every replay.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cached_property
from threading import get_ident
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pssa.data.features import PADDING
from pssa.data.validation import format_error
from pssa.errors import PssaError, PssaWarning
from pssa.models import Batch
from pssa.training.step import Step
from pssa.training.task import Settings, Task

_MULTIPLE = 8  # of the widths that an encoder is recorded for
_LEAST_ROWS = 32

_Shape = tuple[int, int]  # rows and positions


class _Recording(NamedTuple):
    replay: Callable[[], None]
    batch: Batch  # that it reads
    result: Tensor  # that it leaves


class _Recorder:
    """The recordings by shape, with one place in memory and one stream for all: libraries allocate room for each stream."""

    def __init__(self) -> None:
        self._recordings: dict[_Shape, _Recording] = {}

    @cached_property
    def _pool(self) -> Any:
        return torch.cuda.graph_pool_handle()

    @cached_property
    def _stream(self) -> torch.cuda.Stream:
        return torch.cuda.Stream()  # type: ignore[no-untyped-call]

    @contextmanager
    def _on_stream(self) -> Iterator[None]:
        """Compute on the stream of all recordings, after what was queued before and before what is queued later."""
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            yield
        current.wait_stream(self._stream)


def records(model: nn.Module, device: torch.device, settings: Settings, task: Task) -> bool:
    """Return whether steps are recorded: of a model whose steps never wait for the host, by one process on a GPU."""
    can_record = bool(getattr(model, "recordable", False))
    return settings.graphs and can_record and device.type == "cuda" and task.team.size == 1


class RecordedStep(_Recorder):
    """A step that takes the place of `step` and returns the same.

    Recordings hold on to the parameters, the optimiser's state and the learning rate, which therefore is a tensor.
    """

    def __init__(self, step: Step) -> None:
        super().__init__()
        self._step = step
        # Words and aspects are padded to the widest of the corpus, which costs nothing and leaves positions as the only width.
        self._n_words, self._n_aspect = step.task.n_words, step.task.train.table.aspect.shape[1]
        self._seen: set[_Shape] = set()

    def __call__(self, batch: Batch) -> Tensor:
        """(3,) sums of loss, penalty and right predictions, left on the device."""
        # Also the first steps: gradients are accumulated on the stream that they were first computed on.
        with self._on_stream():
            return self._run(batch)

    def _run(self, batch: Batch) -> Tensor:
        n_rows, width = batch.positions.shape
        shape = n_rows, width
        if shape not in self._seen:
            self._seen.add(shape)
            return self._step(batch)
        if shape not in self._recordings:
            self._recordings[shape] = self._record(batch)
        replay, place, sums = self._recordings[shape]
        for field in fields(Batch):
            target, source = getattr(place, field.name), getattr(batch, field.name)
            if target.shape != source.shape:
                target.zero_()  # the rest there is padding
                target = target[:, : source.shape[1]]
            target.copy_(source)
        replay()
        return sums

    def _record(self, batch: Batch) -> _Recording:
        n_rows = len(batch.labels)
        place = replace(
            batch.repeat(1),
            aspect=batch.aspect.new_zeros(n_rows, self._n_aspect),
            candidates=batch.candidates.new_zeros(n_rows, self._n_words),
        )
        sums = torch.zeros(3, device=self._step.device)
        self._step.optimizer.zero_grad(set_to_none=True)
        try:
            replay = self._capture(lambda: sums.copy_(self._step(place)))
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            # Random numbers and streams are in an unknown state after this, so continuing could give wrong results silently.
            raise PssaError(f"a step of this model cannot be recorded: {error}; set graphs to false") from error
        return _Recording(replay, place, sums)

    def _capture(self, run: Callable[[], Any]) -> Callable[[], None]:
        """Record what `run` launches, and return what replays it."""
        graph = torch.cuda.CUDAGraph()
        # Some encoders make small tensors without naming a device, and a copy from the host cannot be recorded.
        with torch.device(self._step.device), torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            run()
        return graph.replay


class RecordedEncoder(_Recorder):
    """Takes the place of a model's `encoder` that scores on a GPU; its states are valid until the next call."""

    def __init__(self, encoder: Any, pad_id: int) -> None:
        super().__init__()
        self._encoder, self._pad_id = encoder, pad_id
        self._can_record = True
        self._seen: set[tuple[int, _Shape]] = set()  # with the thread
        self._room = torch.empty(0)  # where recordings leave the states

    def __call__(self, batch: Batch) -> tuple[Tensor, None]:
        """Return h(x) (B, P, D)."""
        rows, width = batch.positions.shape
        # A power of two of rows, and a multiple of the width.
        shape = max(_LEAST_ROWS, 1 << (rows - 1).bit_length()), width + -width % _MULTIPLE
        seen = get_ident(), shape
        if seen in self._seen and shape not in self._recordings and self._can_record:
            self._record(shape, batch)
        recording = self._recordings.get(shape)
        if recording is None:
            self._seen.add(seen)
            states: Tensor = self._encoder(batch)[0]
            # One place for the states of all recordings: memory of their own would grow with their number.
            if shape[0] * shape[1] * states.shape[-1] > self._room.numel():
                n_rows = 1 << (shape[0] * shape[1] - 1).bit_length()
                self._room = states.new_empty(n_rows, states.shape[-1])
            return states, None
        place = recording.batch  # rows behind the batch are left: their states are not looked at
        place.positions[:rows, width:] = self._pad_id
        place.word_of[:rows, width:] = PADDING
        place.positions[:rows, :width] = batch.positions
        place.word_of[:rows, :width] = batch.word_of
        recording.replay()
        return recording.result[:rows, :width], None

    def _record(self, shape: _Shape, batch: Batch) -> None:
        device = batch.positions.device
        place = replace(
            batch,
            positions=torch.full(shape, self._pad_id, device=device),
            word_of=torch.zeros(shape, dtype=torch.long, device=device),
        )
        states = self._room[: shape[0] * shape[1]].view(*shape, -1)
        try:
            replay = self._capture(lambda: states.copy_(self._encoder(place)[0]), device)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            self._can_record = False
            reason = f"the encoder cannot be recorded as a CUDA graph ({format_error(error)})"
            warnings.warn(PssaWarning(f"{reason}; scoring is slower, with the same result"), stacklevel=2)
        else:
            self._recordings[shape] = _Recording(replay, place, states)

    def _capture(self, run: Callable[[], Any], device: torch.device) -> Callable[[], None]:
        """Record what `run` launches, and return what replays it.

        `torch.cuda.graph` would also release cached memory, which takes longer than recording.
        """
        graph = torch.cuda.CUDAGraph()
        with torch.device(device), self._on_stream():
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                run()
            finally:
                graph.capture_end()
        return graph.replay
