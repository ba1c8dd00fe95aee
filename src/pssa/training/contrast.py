"""Contrast: copies of training instances, each joined with another training sentence of another label.

A sentence in which another aspect has another label teaches a model to look at its own aspect. A copy is the instance's sentence
and a partner's, in either order, joined by *but*, *and* or a full stop. It keeps the instance's aspect and label, so that no
label is guessed. Copies are made of the tensors that models read, after words were hidden and parts held out: a partner comes
from the same rows as the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from pssa.data.example import Corpus, Example
from pssa.data.features import PADDING
from pssa.data.split import sentence_groups
from pssa.errors import InputError
from pssa.models import Batch, IndexedCorpus

_GLUES = ("but", "and", ".")
_STOP = _GLUES.index(".")
_TRIES = 16  # partners drawn for each instance, of which the most distant is taken
_TOPICS = 64  # dimensions in which sentences are compared


@dataclass(frozen=True)
class ContrastOptions:
    """How many copies are made, and how long they are."""

    share: float = 1.0  # of the instances that have a copy in an epoch
    weight: float = 1.0  # of a copy in the objective
    words: int = 64  # of a copy at most

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"contrast_share is {self.share}; it must be greater than 0 and at most 1")
        if not 0 < self.weight <= 100:
            raise InputError(f"contrast_weight is {self.weight}; it must be greater than 0 and at most 100")
        if self.words < 4:
            raise InputError(f"contrast_words is {self.words}; a copy needs at least 4 words")


class Copies(NamedTuple):
    """Joined sentences of an epoch."""

    data: IndexedCorpus  # `index` counts the copies
    origin: Tensor  # (k,) `index` of each instance in its corpus
    shift: Tensor  # (k,) words before the instance's own
    kept: Tensor  # (k,) the first words of the instance, which the copy has; a full stop may be left out


@dataclass(frozen=True)
class Contrast:
    """Draws copies of the rows of a corpus."""

    options: ContrastOptions
    sentences: Tensor  # (n,) the sentence of each instance of the whole corpus, as a number
    glues: tuple[Tensor, ...]  # ids of the words that join two sentences
    glue_words: tuple[Tensor, ...]  # the word of each of these ids, from 0
    padding: int  # id of padding
    max_positions: int  # of a row
    topics: Tensor  # (n, D) of each sentence, of length one

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        options: ContrastOptions,
        index: Callable[[Sequence[Example]], IndexedCorpus],
        max_positions: int,
    ) -> Contrast:
        """Prepare to draw copies.

        :param index: turns examples into tensors for the model.
        :param max_positions: the longest row that the model can read.
        """
        sentences = torch.empty(len(corpus), dtype=torch.long)
        for number, rows in enumerate(sentence_groups(corpus)):
            sentences[rows] = number
        texts = (*(f"it {glue} it" for glue in _GLUES), "it but it and it but it")
        glued = index([Example.from_text(text, (0, 2), label=corpus.labels[0]) for text in texts])
        parts = [_between(glued.table, row) for row in range(len(_GLUES))]
        # The last example is the longest, so that the first ends in padding.
        padding = int(glued.table.positions[0, -1])
        ids, words = zip(*parts, strict=True)
        return cls(options, sentences, ids, words, padding, max_positions, _topics(index(corpus.examples)))

    def n_copies(self, n_rows: int) -> int:
        """Return how many of `n_rows` have a copy in an epoch, at most."""
        return max(1, round(self.options.share * n_rows))

    def draw(self, data: IndexedCorpus, generator: torch.Generator) -> Copies | None:
        """Return the copies of an epoch, on the CPU; None if no instance has a partner."""
        data = data.to(torch.device("cpu"))
        number = self.n_copies(len(data))
        rows = torch.randperm(len(data), generator=generator)[:number]
        partners = self._partners(data, rows, generator)
        before = torch.rand(number, generator=generator) < 0.5
        glue = torch.randint(len(_GLUES), (number,), generator=generator)
        found = partners >= 0
        if not found.any():
            return None
        return self._join(data, rows[found], partners[found], before[found], glue[found])

    def append(self, data: IndexedCorpus, copies: IndexedCorpus) -> IndexedCorpus:
        """Return the rows of both; those of the copies have an `index` after all others."""
        table = replace(copies.table, index=copies.table.index + len(self.sentences)).to(data.labels.device)
        fillers = {"positions": self.padding, "aspect": self.padding, "word_of": PADDING, "candidates": 0}
        joined = {}
        for name in ("positions", "word_of", "aspect", "candidates", "aspect_span", "labels", "index"):
            ours, theirs = getattr(data.table, name), getattr(table, name)
            if name in fillers:
                width = max(ours.shape[1], theirs.shape[1])
                ours, theirs = (_widen(each, width, fillers[name]) for each in (ours, theirs))
            joined[name] = torch.cat([ours, theirs])
        return replace(data, table=Batch(**joined), widths=torch.cat([data.widths, copies.widths]))

    def _partners(self, data: IndexedCorpus, rows: Tensor, generator: torch.Generator) -> Tensor:
        """Return the least similar of the partners drawn for each of `rows`, -1 where none of them fits."""
        best, least = torch.full_like(rows, -1), torch.full(rows.shape, torch.inf)
        index = data.table.index
        for _ in range(_TRIES):
            drawn = torch.randint(len(data), rows.shape, generator=generator)
            similarity = (self.topics[index[rows]] * self.topics[index[drawn]]).sum(dim=1)
            (open_rows,) = (similarity < least).nonzero(as_tuple=True)
            better = open_rows[self._fits(data, rows[open_rows], drawn[open_rows])]
            best[better], least[better] = drawn[better], similarity[better]
        return best

    def _fits(self, data: IndexedCorpus, rows: Tensor, drawn: Tensor) -> Tensor:
        """Return whether each partner has another label, is another sentence, is short enough and of another aspect.

        With the same aspect, a copy would hold two opinions on it.
        """
        index, labels = data.table.index, data.labels
        most = max(int(words[-1]) + 1 for words in self.glue_words)
        longest = max(map(len, self.glues))
        lengths = data.widths[rows] + data.widths[drawn]
        fits = (labels[rows] != labels[drawn]) & (self.sentences[index[rows]] != self.sentences[index[drawn]])
        fits &= (lengths[:, 2] + most <= self.options.words) & (lengths[:, 0] + longest <= self.max_positions)
        return fits & ~self._mentions(data, rows, drawn)

    def _mentions(self, data: IndexedCorpus, rows: Tensor, drawn: Tensor) -> Tensor:
        """Return whether each partner's sentence has a word or piece of the instance's aspect."""
        table, n_ids = data.table, data.widths[rows, 1]
        positions, aspects = table.positions[drawn], table.aspect[rows]
        found = torch.zeros(rows.shape, dtype=torch.bool)
        for place in range(table.aspect.shape[1]):
            found |= (positions == aspects[:, place : place + 1]).any(dim=1) & (place < n_ids)
        return found

    def _join(self, data: IndexedCorpus, own: Tensor, other: Tensor, before: Tensor, glue: Tensor) -> Copies:
        """Join the sentences at the rows `own` (k,) with those at `other` (k,), which come first where `before` is true.

        A copy has five parts: what precedes the words of its own row, the words of one sentence, the glue, the words of the other
        sentence, and what follows the words of its own row, such as special tokens and the second segment of a pair.
        """
        table, widths = data.table, data.widths
        first, end = table.real.int().argmax(dim=1), table.positions.shape[1] - table.real.int().flip(1).argmax(dim=1)
        left, right = torch.where(before, other, own), torch.where(before, own, other)
        left_end = end[left] - self._ends_with_stop(data, left, end[left] - 1).int()
        n_left = widths[left, 2] - (end[left] - left_end)
        shift_right = n_left + torch.tensor([int(words[-1]) + 1 for words in self.glue_words])[glue]
        # The glues stand below the rows of the corpus, so that every part is a part of a row.
        ids = _stack(table.positions, self.glues, self.padding)
        word_of = _stack(table.word_of, self.glue_words, PADDING)
        n_glue, none = torch.tensor([*map(len, self.glues)])[glue], torch.zeros_like(own)
        rows = torch.stack([own, left, len(data) + glue, right, own], dim=1)
        starts = torch.stack([none, first[left], none, first[right], end[own]], dim=1)
        ends = torch.stack([first[own], left_end, n_glue, end[right], widths[own, 0]], dim=1)
        shifts = torch.stack([none, none, n_left, shift_right, none], dim=1)

        part, place, column = _concatenate(starts, ends)
        copy, row = part // rows.shape[1], rows.flatten()[part]
        word = word_of[row, column]
        is_word = word >= 0
        moved = torch.where(is_word, word + shifts.flatten()[part], word)
        shape = len(own), int(place.max()) + 1
        positions, words = torch.full(shape, self.padding), torch.full(shape, PADDING)
        positions[copy, place], words[copy, place] = ids[row, column], moved
        # Words that may be attended: the instance's own candidates, the glue, the partner's candidates and its aspect.
        open_words = functional.pad(table.candidates, (0, 0, 0, len(self.glues)), value=True)
        row, copy, word, moved = row[is_word], copy[is_word], word[is_word], moved[is_word]
        spans = functional.pad(table.aspect_span, (0, 0, 0, len(self.glues)))[row]
        in_aspect = (row == other[copy]) & (spans[:, 0] <= word) & (word < spans[:, 1])
        candidates = torch.zeros(len(own), int(moved.max()) + 1, dtype=torch.bool)
        candidates[copy, moved] = open_words[row, word] | in_aspect

        shift = torch.where(before, shift_right, 0)
        copies = replace(
            table.take(own),
            positions=positions,
            word_of=words,
            aspect_span=table.aspect_span[own] + shift[:, None],
            candidates=candidates,
            index=torch.arange(len(own)),
        )
        n_words, n_positions = shift_right + widths[right, 2], (ends - starts).sum(dim=1)
        widths_of_copies = torch.stack([n_positions, widths[own, 1], n_words], dim=1)
        kept = torch.where(before, widths[own, 2], n_left)
        return Copies(IndexedCorpus(copies, widths_of_copies, mask_id=0), table.index[own], shift, kept)

    def _ends_with_stop(self, data: IndexedCorpus, rows: Tensor, last: Tensor) -> Tensor:
        """Return whether the `last` position of each row is a full stop, as a word of its own that is not in the aspect."""
        word = data.table.word_of[rows, last]
        is_stop = (data.table.positions[rows, last] == self.glues[_STOP][-1]) & (word == data.widths[rows, 2] - 1)
        return is_stop & (word >= data.table.aspect_span[rows, 1])


def shift_rows(values: Tensor, shift: Tensor, kept: Tensor) -> Tensor:
    """Return (k, N): the `kept` (k,) first values of each row moved to the right by `shift` (k,), with zeros around them."""
    source = torch.arange(values.shape[1], device=values.device) - shift[:, None]
    inside = (source >= 0) & (source < kept[:, None])
    return values.gather(1, source.clamp(0, values.shape[1] - 1)) * inside


def _between(table: Batch, row: int) -> tuple[Tensor, Tensor]:
    """Return ids and words of what stands between the first and the last word of a row."""
    words = table.word_of[row]
    inner = (words > 0) & (words < words.max())
    return table.positions[row, inner], words[inner] - 1


def _stack(table: Tensor, rows: Sequence[Tensor], filler: int) -> Tensor:
    """Return the table with more rows below, all as wide as the widest."""
    width = max(table.shape[1], *map(len, rows))
    return torch.cat([_widen(table, width, filler), *(_widen(row[None], width, filler) for row in rows)])


def _concatenate(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Number the positions of k rows, each of which is joined of P parts with the columns from `starts` to `ends` (k, P).

    Return for each position its part, from 0 to k * P, its place in the row, and the column that it comes from.
    """
    lengths = (ends - starts).flatten()
    part = torch.repeat_interleave(lengths)
    begins = lengths.cumsum(0) - lengths
    every = torch.arange(len(part))
    place = every - begins.view(starts.shape)[:, 0][part // starts.shape[1]]
    return part, place, every - begins[part] + starts.flatten()[part]


def _widen(rows: Tensor, width: int, filler: int) -> Tensor:
    return functional.pad(rows, (0, width - rows.shape[1]), value=filler)


def _topics(data: IndexedCorpus) -> Tensor:
    """Return (n, D) directions of the sentences, by latent semantic analysis of their words or pieces."""
    rows, places = data.table.real.nonzero(as_tuple=True)
    ids = data.table.positions[rows, places]
    known, columns = torch.unique(ids, return_inverse=True)
    counts = _sparse(torch.stack([rows, columns]), torch.ones(len(rows)), (len(data), len(known)))
    rows, columns = counts.indices()
    n_sentences = torch.bincount(columns, minlength=len(known)).float()
    weights = (1 + counts.values().log()) * (len(data) / n_sentences).log()[columns]
    weighted = _sparse(counts.indices(), weights, counts.shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        left, sizes, _ = torch.svd_lowrank(weighted, q=min(_TOPICS, *weighted.shape), niter=4)
    return functional.normalize(left * sizes, dim=1)


def _sparse(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.sparse_coo_tensor(indices, values, shape, check_invariants=True).coalesce()
