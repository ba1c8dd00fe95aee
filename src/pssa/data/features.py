"""`Features`, examples as padded arrays: what a model reads, whether torch or ONNX Runtime computes it.

A position is what the model reads: a word, or a piece of one. Evidence and explanations are about words; `word_of` maps positions
to words. `word_features` makes words into positions; `PieceCutter` (`pssa.models._pieces`) makes pieces of words into positions.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError, setting

Array = npt.NDArray[np.int64]

# Values of `word_of` for positions without a word.
PADDING = -1
SPECIAL = -2  # the first segment's own tokens: [CLS], [SEP]
SECOND = -3  # all of the second segment: the aspect again and the closing [SEP]


@dataclass(frozen=True)
class Features:
    """Padded arrays of n examples, P positions and N words."""

    positions: Array  # (n, P) ids
    word_of: Array  # (n, P) the word of each position; PADDING, SPECIAL or SECOND if it has none
    aspect: Array  # (n, M) ids of the aspect's words or pieces, then the padding id: 0 for words
    aspect_span: Array  # (n, 2) word offsets, half-open
    candidates: npt.NDArray[np.bool_]  # (n, N) words that may be attended or mined: not padding, aspect or hidden
    labels: Array  # (n,) class of each example; -1 if unknown
    widths: Array  # (n, 3) positions, aspect words and words of each row
    mask_id: int  # the token in place of a hidden word

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Array) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that a model reads, by name: some rows, as wide as the widest of them."""
        positions, aspect, words = self.widths[rows].max(axis=0).tolist()
        return {
            "positions": self.positions[rows, :positions],
            "word_of": self.word_of[rows, :positions],
            "aspect": self.aspect[rows, :aspect],
            "aspect_span": self.aspect_span[rows],
            "candidates": self.candidates[rows, :words],
        }


def word_features(
    examples: Sequence[Example], vocabulary: Vocabulary, labels: Sequence[str], max_words: int = sys.maxsize
) -> Features:
    """Turn examples into arrays for models whose positions are words.

    :param max_words: that are read of a text; of a longer one those around the aspect, with a warning.
    """
    if not examples:
        raise InputError("the corpus is empty; give at least one example")
    windows = [_window(example, max_words) for example in examples]
    n_cut = sum(end - start < len(example.spans) for example, (start, end) in zip(examples, windows, strict=True))
    if n_cut:
        what = f"{n_cut} of {len(examples)} texts {'is' if n_cut == 1 else 'are'} longer than {max_words} words"
        warnings.warn(f"{what}; of each, only a window around the aspect is read", stacklevel=3)
    width = max(end - start for start, end in windows)
    n_words = max(len(example.spans) for example in examples)
    aspect_width = max(end - start for start, end in (example.aspect for example in examples))
    positions = np.zeros((len(examples), width), dtype=np.int64)
    aspect = np.zeros((len(examples), aspect_width), dtype=np.int64)
    candidates = np.zeros((len(examples), n_words), dtype=bool)
    for row, (example, (first, last)) in enumerate(zip(examples, windows, strict=True)):
        ids = vocabulary.encode(example.words)
        start, end = example.aspect
        aspect[row, : end - start] = ids[start:end]
        for word in example.hidden:
            ids[word] = vocabulary.mask_id
        positions[row, : last - first] = ids[first:last]
        candidates[row, [word for word in example.candidates if first <= word < last]] = True
    bounds = np.array(windows, dtype=np.int64)
    lengths, spans = bounds[:, 1] - bounds[:, 0], np.array([example.aspect for example in examples], dtype=np.int64)
    places = np.arange(width)
    words = np.array([len(example.spans) for example in examples])
    return Features(
        positions=positions,
        word_of=np.where(places >= lengths[:, None], PADDING, places + bounds[:, :1]),
        aspect=aspect,
        aspect_span=spans,
        candidates=candidates,
        labels=label_ids(examples, labels),
        widths=np.stack([lengths, spans[:, 1] - spans[:, 0], words], axis=1),
        mask_id=vocabulary.mask_id,
    )


def _window(example: Example, max_words: int) -> Span:
    """Return the words that are read: the aspect, then equally many left and right of it."""
    count, (first, end) = len(example.spans), example.aspect
    spare = max_words - (end - first)
    if count <= max_words:
        return 0, count
    left = min(first, max(spare // 2, spare - (count - end), 0))
    return first - left, max(end, min(count, end + spare - left))


def label_ids(examples: Sequence[Example], labels: Sequence[str]) -> Array:
    """Return (n,): the position of each example's label in `labels`, -1 if it has none."""
    place = {label: number for number, label in enumerate(labels)}
    unknown = {example.label for example in examples if example.label is not None} - set(labels)
    if unknown:
        known = f"label {sorted(unknown)[0]!r} is not one of the model's labels {', '.join(labels)}"
        raise InputError(f"{known}; relabel the data, or train with all of them in {setting('labels')}")
    return np.array([-1 if example.label is None else place[example.label] for example in examples], dtype=np.int64)
