"""Refined self-attention: which heads of an encoder's top layer are mined and supervised, and their weights.

Section "Progressive Self-supervision for Self-attention within the BERT" of the paper, with its three ways: one head, drawn at
random for the whole run; for each example the head of the smallest entropy; the mean of all heads. The paper means the entropy of
a head's saliency; here it is that of its attention, which needs no gradient inside of training.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from pssa.errors import InputError
from pssa.models._precision import full_precision, widen
from pssa.models._protocol import Heads
from pssa.models._top_layer import prepare

__all__ = ["Refinement", "attention_of", "check_refine"]

_WAYS = ("none", "random_head", "smallest_entropy", "average")


def check_refine(refine: str) -> None:
    """Refuse a way to choose heads that does not exist."""
    if refine not in _WAYS:
        raise InputError(f"refine is {refine!r}; it can be {', '.join(_WAYS[:-1])} or {_WAYS[-1]}")


class Refinement(nn.Module):
    """Chooses the heads of a body's top layer, which it makes ready to be cut off; the body stays its owner's."""

    def __init__(self, body: nn.Module, way: str, probe: Mapping[str, Any], generator: torch.Generator) -> None:
        super().__init__()
        n_heads = prepare(body, probe)
        self.by_entropy = way == "smallest_entropy"
        if way == "random_head":
            drawn = torch.randint(n_heads, (), generator=generator)
            # A buffer that is saved: a run is loaded without its seed.
            self.register_buffer("share", (torch.arange(n_heads) == drawn).float())
        elif way == "average":
            self.register_buffer("share", torch.full((n_heads,), 1 / n_heads), persistent=False)

    def forward(self, weights: Tensor, rows: Tensor, candidates: Tensor) -> Heads:
        """The heads by what the positions `rows` (B, P) give to `candidates` (B, P), `weights` being (B, H, P, P)."""
        attended = _row_mean(weights.detach(), rows)  # (B, H, P)
        if not self.by_entropy:
            return Heads(weights, rows, self.get_buffer("share").to(attended.dtype).expand(weights.shape[0], -1))
        attended = attended * candidates.unsqueeze(1)
        shares = attended / attended.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(attended.dtype).tiny)
        entropy = torch.special.entr(shares).sum(dim=-1)  # (B, H)
        # Compared, since `one_hot` asks the device for the largest place.
        places = torch.arange(entropy.shape[1], device=entropy.device)
        return Heads(weights, rows, (places == entropy.argmin(dim=1, keepdim=True)).to(attended.dtype))


def attention_of(heads: Heads, candidates: Tensor) -> Tensor:
    """(B, P) what the chosen heads give to each of `candidates` (B, P), mean over the rows that count.

    The rest of a row's weight lies on the aspect and on special tokens, so that a sum is at most one.
    """
    with full_precision(heads.weights):
        return torch.einsum("bh,bhp->bp", heads.share, _row_mean(heads.weights, heads.rows)) * candidates


def _row_mean(weights: Tensor, rows: Tensor) -> Tensor:
    # (B, H, P)
    with full_precision(weights):
        weights = widen(weights)
        counted = rows.to(weights.dtype)
        return torch.einsum("bhqp,bq->bhp", weights, counted / counted.sum(dim=1, keepdim=True).clamp(min=1))
