"""`WordPieces`: sentences to word pieces and the words that hold them, with `tokenizers` alone.

A model that answers without torch reads its text with this. The words are those of `pssa.data.tokenize`, and a piece belongs to
the word in which it begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pssa.data.features import Array
from pssa.data.tokenize import Span, cut_at, tokenize
from pssa.errors import InputError

SPECIAL = -1  # in place of the number of a word


@dataclass(frozen=True, slots=True)
class PieceSentence:
    """A sentence as pieces, special ones included."""

    words: tuple[Span, ...]  # character offsets in the sentence
    ids: Array  # (P,) of the pieces
    piece_words: Array  # (P,) number of the word of each piece, ascending, or SPECIAL


@dataclass(frozen=True)
class WordPieces:
    """Reads sentences for an encoder; one that is too long loses its last pieces."""

    tokenizer: Any  # of the package `tokenizers`
    max_positions: int = 512

    @classmethod
    def load(cls, path: Path, max_positions: int = 512) -> WordPieces:
        """Read a `tokenizer.json`."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing more specific
            raise InputError.at(path, None, f"is not a tokenizer ({error}); install or copy it again") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(tokenizer, max_positions)

    def read(self, sentences: Sequence[str], breaks: Sequence[tuple[int, ...]] = ()) -> list[PieceSentence]:
        """Return the pieces of each sentence.

        :param breaks: offsets in each sentence that no word crosses.
        """
        encoded = self.tokenizer.encode_batch(list(sentences))
        cuts = breaks or [()] * len(sentences)
        return [self._place(*each) for each in zip(sentences, encoded, cuts, strict=True)]

    def _place(self, sentence: str, encoding: Any, breaks: tuple[int, ...]) -> PieceSentence:
        words = cut_at(tokenize(sentence), breaks)
        ids, offsets = np.array(encoding.ids), np.array(encoding.offsets)
        if len(ids) > self.max_positions:
            chosen = np.r_[0 : self.max_positions - self._n_last, len(ids) - self._n_last : len(ids)]
            ids, offsets = ids[chosen], offsets[chosen]
        begins = np.array([start for start, _ in words])
        # A special piece is as empty as its offsets.
        is_special = offsets[:, 0] == offsets[:, 1]
        numbers = np.where(is_special, SPECIAL, begins.searchsorted(offsets[:, 0], "right") - 1)
        return PieceSentence(words, ids, numbers)

    @cached_property
    def _n_last(self) -> int:
        """Number of special pieces after a text."""
        mask = self.tokenizer.encode("a").special_tokens_mask
        return len(mask) - 1 - max(place for place, is_special in enumerate(mask) if not is_special)
