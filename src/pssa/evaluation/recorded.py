"""Recorded encoders: CUDA graphs for inference, one for each number of rows and each width, which are then replayed.

Launching the hundreds of kernels of an encoder from Python takes longer than a GPU needs for a small encoder, and the host has
sentences to cut meanwhile. A recording is launched as one. The first batch of a shape runs normally, in which libraries also
allocate what they need; the second is recorded and replayed, like all that follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pssa.data.batch import PADDING, Batch
from pssa.errors import PssaError

_MULTIPLE = 8  # of widths
_LEAST_ROWS = 32

_Shape = tuple[int, int]  # rows and positions
_Recording = tuple[torch.cuda.CUDAGraph, Batch, Tensor]  # the graph, the batch it reads, and the states that it leaves


class RecordedEncoder:
    """An encoder that takes the place of `encoder` of a model on a GPU; its states are valid until the next call."""

    def __init__(self, encoder: Any, pad_id: int) -> None:
        self._encoder, self._pad_id = encoder, pad_id
        self._seen: set[_Shape] = set()
        self._recordings: dict[_Shape, _Recording] = {}
        self._pool = torch.cuda.graph_pool_handle()
        self._room = torch.empty(0)  # where recordings leave the states
        self._like = torch.empty(0)  # (D,) one state

    def __call__(self, batch: Batch) -> tuple[Tensor, None]:
        """Return h(x) (B, P, D), as wide as the batch."""
        rows, width = batch.positions.shape
        shape = _rounded(rows, width)
        if shape not in self._seen:
            self._seen.add(shape)
            found: Tensor = self._encoder(batch)[0]
            self._like = found.new_empty(found.shape[-1])
            return found, None
        if shape not in self._recordings:
            self._recordings[shape] = self._record(shape, batch)
        graph, place, states = self._recordings[shape]
        self._fill(place, batch)
        graph.replay()
        return states[:rows, :width], None

    def _fill(self, place: Batch, batch: Batch) -> None:
        """Copy a batch to where a recording reads it. Rows behind it are left: their states are not looked at."""
        rows, width = batch.positions.shape
        if width < place.positions.shape[1]:
            place.positions[:rows, width:] = self._pad_id
            place.word_of[:rows, width:] = PADDING
        place.positions[:rows, :width] = batch.positions
        place.word_of[:rows, :width] = batch.word_of

    def _record(self, shape: _Shape, batch: Batch) -> _Recording:
        device = batch.positions.device
        place = replace(
            batch,
            positions=torch.full(shape, self._pad_id, device=device),
            word_of=torch.zeros(shape, dtype=torch.long, device=device),
        )
        room = self._states(shape)
        graph = torch.cuda.CUDAGraph()
        try:
            # Some encoders make small tensors without naming a device, and a copy from the host cannot be recorded.
            with torch.device(device), self._recording(graph):
                room.copy_(self._encoder(place)[0])
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise PssaError(f"this encoder cannot be recorded: {error}") from error
        return graph, place, room

    @contextmanager
    def _recording(self, graph: torch.cuda.CUDAGraph) -> Iterator[None]:
        """Record on a stream of its own. `torch.cuda.graph` would also release cached memory, which takes longer."""
        stream, current = torch.cuda.Stream(), torch.cuda.current_stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                yield
            finally:
                graph.capture_end()
        current.wait_stream(stream)

    def _states(self, shape: _Shape) -> Tensor:
        """Return room for the states, the same for all recordings: memory of their own would grow with their number."""
        n_values = shape[0] * shape[1] * len(self._like)
        if n_values > len(self._room):
            self._room = self._like.new_empty(1 << (n_values - 1).bit_length())
        return self._room[:n_values].view(*shape, len(self._like))


def _rounded(rows: int, width: int) -> _Shape:
    """Return the shape of a recording that has room for a batch: a power of two of rows, and a multiple of the width."""
    return max(_LEAST_ROWS, 1 << (rows - 1).bit_length()), width + -width % _MULTIPLE
