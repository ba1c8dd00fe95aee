"""Leave one out: the saliency of a word is what the predicted class's probability loses when the word is hidden.

A hidden word is the mask token to the encoder and no candidate to the attention, as in mining. The encoder reads the
sentence again for every candidate word, so this is the slowest of the definitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch
from pssa.saliency._scores import hide

__all__ = ["LeaveOneOut"]


_MOST_POSITIONS = 1 << 16  # read at once, padding included, however long the sentences are


@dataclass(frozen=True)
class LeaveOneOut:
    """Drop of the predicted class's probability; a word whose absence raises it has score zero unless `signed`."""

    is_quadratic: ClassVar[bool] = True

    chunk: int = 512  # sentences, each with one word hidden, that are read at once; fewer where they are long
    signed: bool = False  # keep negative drops in the raw scores

    def __post_init__(self) -> None:
        if self.chunk < 1:
            raise InputError(f"chunk is {self.chunk}; expected 1 or more")

    @torch.no_grad()
    def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
        """(B, N) the drops; zero for words that are no candidates."""
        whole, classes = _probabilities(model, batch).max(dim=1)
        places = batch.candidates.nonzero()  # (V, 2) row and word of each sentence to read
        if getattr(getattr(model, "encoder", None), "shares", False):
            places = places[places[:, 1].argsort(stable=True)]  # the same word of rows that have one sentence
        drops = whole.new_zeros(batch.candidates.shape)
        chunk = min(self.chunk, max(1, _MOST_POSITIONS // batch.positions.shape[1]))
        for start in range(0, len(places), chunk):
            rows, words = places[start : start + chunk].unbind(dim=1)
            taken = batch.take(rows)
            hidden = torch.zeros_like(taken.candidates).scatter(1, words[:, None], True)
            without = _probabilities(model, hide(model, taken, hidden))
            drops[rows, words] = whole[rows] - without.gather(1, classes[rows, None]).squeeze(1)
        return drops if self.signed else drops.clamp(min=0)


def _probabilities(model: AspectModel, batch: Batch) -> Tensor:
    return model.classify(model.encode(batch), batch).logits.softmax(dim=1)
