"""CUDA graphs for inference: an encoder recorded once for each number of rows and each width, then replayed.

Launching the hundreds of kernels of an encoder from Python takes longer than a GPU needs for a small encoder, and the host has
sentences to cut meanwhile. A recording is launched as one. The first batch of a shape in a thread runs normally, in which
libraries also allocate what they need; the second is recorded and replayed, like all that follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from threading import get_ident
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pssa.data.features import PADDING
from pssa.data.validation import format_error
from pssa.errors import PssaWarning
from pssa.models import Batch

_MULTIPLE = 8  # of widths
_LEAST_ROWS = 32

_Shape = tuple[int, int]  # rows and positions


class _Recording(NamedTuple):
    replay: Callable[[], None]
    batch: Batch  # that it reads
    states: Tensor  # that it leaves


class RecordedEncoder:
    """Takes the place of a model's `encoder` on a GPU; its states are valid until the next call."""

    def __init__(self, encoder: Any, pad_id: int) -> None:
        self._encoder, self._pad_id = encoder, pad_id
        self._can_record = True
        self._seen: set[tuple[int, _Shape]] = set()  # with the thread
        self._recordings: dict[_Shape, _Recording] = {}
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
        if width < place.positions.shape[1]:
            place.positions[:rows, width:] = self._pad_id
            place.word_of[:rows, width:] = PADDING
        place.positions[:rows, :width] = batch.positions
        place.word_of[:rows, :width] = batch.word_of
        recording.replay()
        return recording.states[:rows, :width], None

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
        graph, (pool, stream), current = torch.cuda.CUDAGraph(), self._place, torch.cuda.current_stream()
        stream.wait_stream(current)
        # Some encoders make small tensors without naming a device, and a copy from the host cannot be recorded.
        with torch.device(device), torch.cuda.stream(stream):
            graph.capture_begin(pool=pool, capture_error_mode="thread_local")
            try:
                run()
            finally:
                graph.capture_end()
        current.wait_stream(stream)
        return graph.replay

    @cached_property
    def _place(self) -> tuple[Any, torch.cuda.Stream]:
        """Memory and a stream for all recordings: libraries allocate room for each stream that they meet."""
        return torch.cuda.graph_pool_handle(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
