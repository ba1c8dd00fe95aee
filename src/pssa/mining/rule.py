"""The rule of Algorithm 1, lines 13 to 21: which word of a sentence is extracted, and whether it is active or misleading.

A sentence gives its top word where the entropy of its scores is below epsilon; the word is active where the prediction was
right, misleading where it was wrong. The last candidate of a sentence is never taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.saliency import Observation, entropy_bits

_DRAWN = ("nothing", "word", "mask")


@dataclass(frozen=True)
class Rule:
    """The rule by which a word is taken."""

    epsilon: float  # bits
    # RM gates and routes like the others. "word": it takes and hides any candidate instead of the top word; "mask", the other
    # reading: it takes the top word, and hides any candidate instead.
    drawn: str = "nothing"
    stop_drop: float | None = None  # stop with a sentence once hiding its last word cost less confidence than this
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise InputError(f"epsilon is {self.epsilon}; it must be greater than 0 (bits of entropy)")
        if self.drawn not in _DRAWN:
            raise InputError(f"drawn is {self.drawn!r}; it can be {', '.join(_DRAWN)}")
        if self.stop_drop is not None and not self.stop_drop > 0:
            raise InputError(f"stop_drop is {self.stop_drop}; it must be greater than 0 (of a probability)")

    def extract(self, observed: Observation, candidates: Tensor, iteration: int) -> tuple[Tensor, Tensor]:
        """Take at most one word from each example; `candidates` (n, N) are the words not hidden so far.

        Return the word of each (n,), and the word to hide in the next rounds (n,): the same one, unless the mask is drawn. Both
        are -1 where none is taken.
        """
        has_scores = observed.scores.sum(dim=1) > 0
        is_open = (entropy_bits(observed.scores) < self.epsilon) & has_scores & (candidates.sum(dim=1) > 1)
        top, drawn = observed.scores.argmax(dim=1), self._random_words(candidates, iteration)
        words = drawn if self.drawn == "word" else top
        hidden = drawn if self.drawn == "mask" else words
        return words.masked_fill(~is_open, -1), hidden.masked_fill(~is_open, -1)

    def _random_words(self, candidates: Tensor, iteration: int) -> Tensor:
        generator = torch.Generator().manual_seed(self.seed * 1009 + iteration)
        return torch.rand(candidates.shape, generator=generator).masked_fill(~candidates, -1).argmax(dim=1)
