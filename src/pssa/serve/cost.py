"""What it costs to answer: positions that are read, as often as they are read. It bounds batches, in memory and in time."""

from __future__ import annotations

from pssa.serve.limits import Limits

__all__ = ["MOST_POSITIONS", "most_words", "readings"]

MOST_POSITIONS = 16384  # of a batch, padding included
_OFTEN = "leave_one_out"  # reads a text once for each of its words
_MOST_WORDS = 128  # of a text that is read so often


def readings(words: int, saliency: str | None) -> int:
    """About how often the positions of a text of so many words are read; `saliency` None: for its label only."""
    if saliency is None:
        return 1
    # Several samples or steps go through a model's head at once.
    return 4 * words if saliency == _OFTEN else 8


def most_words(saliency: str, limits: Limits) -> int:
    """How many words a text may have that is to be explained."""
    return min(_MOST_WORDS, limits.explained_words) if saliency == _OFTEN else limits.explained_words
