"""A pretrained encoder as part of a model: batches in, states out, and the small layers on top of it.

No step waits for a value from a device (no `.item()`, no shape that depends on data), so a training step can be captured as a
CUDA graph.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from pssa.models._layers import lookup, widen
from pssa.models._pretrained import Pretrained
from pssa.models._protocol import Batch, Encoding, Heads, TopLayer
from pssa.models._refinement import Refinement, above, below

# They take a prepared mask of four dimensions as it is. From a mask of two they would make one, after waiting for the device to
# say whether anything is masked. DeBERTa makes its own without waiting, but copies its relative positions from the host.
_TAKE_MASKS = ("bert", "camembert", "distilbert", "electra", "modernbert", "mpnet", "roberta", "xlm-roberta")


class PieceEncoder(nn.Module):
    """h(x) of a batch or, where self-attention is refined, the states below the top layer."""

    def __init__(self, pretrained: Pretrained, dropout: float, refine: str, seed: int) -> None:
        super().__init__()
        # transformers draws what has no weights from the global state; `torch.manual_seed` would seed GPUs as well.
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            self.body = pretrained.body(None if refine == "none" else "eager", dropout)
        takes_types = "token_type_ids" in inspect.signature(self.body.forward).parameters
        self.has_types = takes_types and getattr(self._config, "type_vocab_size", 0) > 1
        self.shares = False  # whether rows of one sentence that follow each other are read once, on a CPU
        self.is_half = False  # whether the body always computes in bfloat16, on a CPU; otherwise the caller decides
        self.refinement = None
        if refine != "none":
            probe = self._inputs(torch.full((2, 3), pretrained.mask_id), torch.ones(2, 3, dtype=torch.bool), None)
            self.refinement = Refinement(self.body, refine, probe, torch.Generator().manual_seed(seed))

    def forward(self, batch: Batch) -> tuple[Tensor, TopLayer | None]:
        """Return `Encoding.words` (B, P, D), and the rest of what `finish` needs."""
        if self.shares and self.refinement is None and (repeats := batch.repeats).any():
            states, _ = self(batch.take((~repeats).nonzero().squeeze(1)))
            return states[(~repeats).cumsum(0) - 1], None
        inputs = self._inputs(batch.positions, batch.present, batch.second)
        with torch.autocast("cpu", torch.bfloat16) if self.is_half else nullcontext():
            if self.refinement is None:
                return widen(self.body(**inputs).last_hidden_state), None
            words, top = below(self.body, inputs)
            return widen(words), top

    def finish(self, encoding: Encoding, rows: Tensor, batch: Batch) -> tuple[Tensor, Heads | None]:
        """Return h(x) (B, P, D), and the self-attention of the positions `rows` (B, P) where it is refined."""
        if self.refinement is None or encoding.top is None:
            return encoding.words, None
        # The states from below are widened; the layer's other arguments have the dtype of its weights.
        states, weights = above(self.body, encoding.words.to(self._dtype), encoding.top)
        return widen(states), self.refinement(weights, rows, batch.candidate_positions)

    def narrow(self) -> None:
        """Convert the weights to bfloat16, in half the space, for inference; training needs them as they were.

        Buffers stay as they are: some architectures compute angles of rotation from them, and an angle is a place times a
        frequency, whose error grows with the place.
        """
        for parameter in self.body.parameters():
            parameter.data = parameter.data.to(torch.bfloat16)

    @contextmanager
    def train_rows(self, ids: Tensor) -> Iterator[None]:
        """Leave the other rows of the table out of the parameters for a while.

        No gradient reaches them, so Adam would not change them; but they cost as much as the others, and are often more.
        """
        body: Any = self.body
        table = body.get_input_embeddings()
        if type(table) is not nn.Embedding:
            yield
            return
        rows = TrainedRows(table, ids)
        body.set_input_embeddings(rows)
        try:
            yield
        finally:
            with torch.no_grad():
                table.weight[ids] = rows.weight
            body.set_input_embeddings(table)

    @property
    def recordable(self) -> bool:
        """Whether a step neither waits for the host nor copies from it, so that it can be recorded."""
        return self._config.model_type in _TAKE_MASKS

    @property
    def _config(self) -> Any:
        return self.body.config

    @property
    def _dtype(self) -> torch.dtype:
        return next(self.body.parameters()).dtype

    def _inputs(self, ids: Tensor, present: Tensor, second: Tensor | None) -> Mapping[str, Any]:
        masks = attention_masks(self._config, present, self._dtype)
        inputs = {"input_ids": ids, "attention_mask": masks}
        if self.has_types and second is not None:
            inputs["token_type_ids"] = second.long()
        return inputs


class TrainedRows(nn.Module):
    """An embedding some of whose rows are its parameter; the others stay as they are."""

    def __init__(self, table: nn.Embedding, ids: Tensor) -> None:
        super().__init__()
        is_trained = torch.zeros(len(table.weight), dtype=torch.bool).index_fill(0, ids, True)
        order = torch.cat([ids, (~is_trained).nonzero().squeeze(1)])
        self.weight = nn.Parameter(table.weight.detach()[ids])
        self.ids, self.places, self.others = ids, order.argsort(), table.weight.detach()[~is_trained]

    @property
    def whole(self) -> Tensor:
        """All rows, in the order of the table."""
        return torch.cat([self.weight.detach(), self.others])[self.places]

    def forward(self, ids: Tensor) -> Tensor:
        """Return the rows of `ids`."""
        return lookup(self.weight, self.others, self.places[ids])


def attention_masks(config: Any, present: Tensor, dtype: torch.dtype = torch.float32) -> Any:
    """Return the encoder's mask: `present` (B, P) itself, (B, 1, P, P), or one of the latter for each kind of layer.

    :param dtype: of the encoder's weights.
    """
    if config.model_type not in _TAKE_MASKS:
        return present.long()
    seen = present[:, None, None, :].expand(-1, 1, present.shape[1], -1)
    whole = _mask(config, seen, dtype)
    if config.model_type != "modernbert":
        return whole
    places = torch.arange(present.shape[1], device=present.device)
    near = (places[:, None] - places).abs() <= config.sliding_window
    return {"full_attention": whole, "sliding_attention": _mask(config, seen & near, dtype)}


def _mask(config: Any, seen: Tensor, dtype: torch.dtype) -> Tensor:
    if config._attn_implementation != "eager":
        return seen
    hidden = torch.finfo(dtype).min  # what eager attention adds to the scores
    return torch.zeros(seen.shape, device=seen.device, dtype=dtype).masked_fill(~seen, hidden)


def draw_linear(n_in: int, n_out: int, generator: torch.Generator, bias: bool = True) -> nn.Linear:
    """Return a linear layer with PyTorch's default bounds, drawn from `generator`."""
    layer = nn.Linear(n_in, n_out, bias=bias)
    bound = 1 / math.sqrt(n_in)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.uniform_(-bound, bound, generator=generator)
    return layer
