"""Layers that the models share: attention, dropout, word vectors, and full precision for what is small and delicate.

A vocabulary lists the training words first. Where embeddings are trained, only those rows are parameters: no gradient could
ever reach the others, so they are a buffer that costs nothing in the optimiser and in checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa.data.validation import brief_repr
from pssa.errors import InputError

_SLACK = 10**7  # numbers that are in no file: a pooler, positions, masks
_STEPS = 256  # of a rate of dropout: one random byte for each element
# What `dropout` draws from on a CPU; None: torch's global generator. Each thread has its own.
_GENERATOR: ContextVar[torch.Generator | None] = ContextVar("dropout", default=None)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax over the last dimension where `mask` is true; zero elsewhere, also in a row without any."""
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return weights * mask


def attend(scores: Tensor, mask: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Weigh `words` (B, P, D) by the softmax of `scores` (B, P): o (B, D) and the weights (B, P)."""
    weights = masked_softmax(scores, mask)
    if _needs_gradient(words):
        return cast(Tensor, _RowProduct.apply(weights, words, False)), weights  # type: ignore[no-untyped-call]
    return torch.einsum("bp,bpd->bd", weights, words), weights


def match(query: Tensor, words: Tensor) -> Tensor:
    """Return (B, P): the product of `query` (B, D) with each of `words` (B, P, D)."""
    if _needs_gradient(words):
        return cast(Tensor, _RowProduct.apply(query, words, True))  # type: ignore[no-untyped-call]
    return torch.einsum("bd,bpd->bp", query, words)


def _needs_gradient(words: Tensor) -> bool:
    """Whether the gradient of `words` is worth a formula of its own: on a CPU, where autograd's has its columns in rows."""
    is_plain = words.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    return is_plain and words.requires_grad and torch.is_grad_enabled()


class _RowProduct(torch.autograd.Function):
    """A row times a matrix, for each of the batch: `rows` (B, P) by `words` (B, P, D) or, `transposed`, (B, D) by (B, D, P).

    The gradient of the matrix is an outer product: a multiplication of each element, which gives the same bits as autograd's
    matrix product and leaves rows as rows, so that later sums run through memory in order. Twice as fast, and most of the time
    of MN's attention.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, words: Tensor, transposed: bool) -> Tensor:
        ctx.save_for_backward(rows, words)
        ctx.transposed = transposed
        return torch.bmm(rows.unsqueeze(1), words.transpose(1, 2) if transposed else words).squeeze(1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        rows, words = ctx.saved_tensors
        to_rows = torch.bmm(gradient.unsqueeze(1), words if ctx.transposed else words.transpose(1, 2)).squeeze(1)
        by_position, by_cell = (gradient, rows) if ctx.transposed else (rows, gradient)
        return to_rows, by_position.unsqueeze(2) * by_cell.unsqueeze(1), None


def pool_words(values: Tensor, word_of: Tensor, n_words: int) -> Tensor:
    """Sum `values` (B, P) over the positions of each word: (B, N)."""
    real = word_of >= 0
    pooled = values.new_zeros(values.shape[0], n_words)
    return pooled.scatter_add(1, word_of.clamp(min=0), values * real)


def dropout(values: Tensor, rate: float, training: bool) -> Tensor:
    """Set a share `rate` of `values` to zero and scale up the others.

    On a CPU, drawing random numbers was half of MN's training time. There each element takes one random byte, so the rate is a
    multiple of 1/256, and values are scaled by that exact rate. Random numbers are torch's global ones, or those of `draw_from`.
    """
    if not training or rate == 0:
        return values
    if values.device.type != "cpu":
        return functional.dropout(values, rate)
    dropped = min(round(rate * _STEPS), _STEPS - 1)
    draws = torch.empty(-(-values.numel() // 8), dtype=torch.int64)
    draws.random_(-(2**63), None, generator=_GENERATOR.get())
    # Compared into floats at once: to booleans and then to floats takes seven times as long.
    kept = torch.empty(values.shape, dtype=values.dtype)
    torch.ge(draws.view(torch.uint8)[: values.numel()].view(values.shape), dropped, out=kept)
    return values * kept.mul_(_STEPS / (_STEPS - dropped))


@contextmanager
def draw_from(generator: torch.Generator) -> Iterator[None]:
    """Let `dropout` draw from `generator` in this thread, so that models can be trained beside each other."""
    token = _GENERATOR.set(generator)
    try:
        yield
    finally:
        _GENERATOR.reset(token)


def widen(values: Tensor) -> Tensor:
    """Convert the values to single precision; double stays double."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def full_precision(values: Tensor) -> torch.autocast:
    """Return a context without autocast, on the device of `values`."""
    return torch.autocast(values.device.type, enabled=False)


@dataclass(frozen=True)
class WordTable:
    """The vectors a word model starts from."""

    matrix: Tensor  # (V, D) a row per word of the vocabulary
    n_trained: int  # rows that occur in training

    def __repr__(self) -> str:
        return brief_repr(self, words=len(self.matrix), dimension=self.dimension, n_trained=self.n_trained)

    @property
    def dimension(self) -> int:
        """D."""
        return self.matrix.shape[1]

    def divide(self, trainable: bool) -> tuple[Tensor, Tensor]:
        """Return the rows that are parameters and the rows that are a buffer; without training all are a buffer."""
        n_parameters = self.n_trained if trainable else 0
        return self.matrix[:n_parameters].clone(), self.matrix[n_parameters:].clone()


def refuse_outsized(described: nn.Module, held: int, what: str) -> None:
    """Refuse a description of more numbers than the `held` bytes of its weights can fill, before memory is allocated for them.

    :param described: the model on the device "meta".
    """
    needed = sum(tensor.numel() for tensor in (*described.parameters(), *described.buffers()))
    if needed > held + _SLACK:
        raise InputError(f"{what} of {needed} numbers, but its weights have {held} bytes; they do not belong together")


def check_options(options: Any, *, shares: tuple[str, ...], positive: tuple[str, ...]) -> None:
    """Refuse a model's options that are out of range: `shares` lie in [0, 1), `positive` values above 0."""
    for name in shares:
        if not 0 <= getattr(options, name) < 1:
            raise InputError(f"{name} is {getattr(options, name)}; it must be at least 0 and below 1")
    for name in positive:
        if not getattr(options, name) > 0:
            raise InputError(f"{name} is {getattr(options, name)}; it must be greater than 0")


def lookup(trained: Tensor, fixed: Tensor, ids: Tensor) -> Tensor:
    """Return rows of the table that `trained` (T, D) and `fixed` (V - T, D) form together."""
    if len(fixed) == 0:
        return functional.embedding(ids, trained)
    if len(trained) == 0:
        return functional.embedding(ids, fixed)
    # In training no word is beyond. Only on a CPU can that be checked without waiting for a device.
    if ids.device.type == "cpu" and int(ids.max()) < len(trained):
        return functional.embedding(ids, trained)
    beyond = ids >= len(trained)
    rows = functional.embedding(ids.masked_fill(beyond, 0), trained)
    unseen = functional.embedding((ids - len(trained)).clamp(min=0), fixed)
    return torch.where(beyond.unsqueeze(-1), unseen, rows)


def reset_parameters(module: nn.Module, bound: float, generator: torch.Generator) -> None:
    """Draw every matrix uniformly from [-bound, bound] and set every bias to zero, as the paper does."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.uniform_(-bound, bound, generator=generator)
            else:
                parameter.zero_()
