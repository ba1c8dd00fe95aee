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
        return _Join.of(self, data, rows[found], partners[found], before[found], glue[found]).copies()

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


@dataclass(frozen=True)
class _Join:
    """Pairs of rows on their way to copies; every tensor has one value for each pair.

    A copy consists of what precedes the words of its own row, the words of one part, the glue, the words of the other part, and
    what follows the words of its own row, such as special tokens and the second segment of a pair.
    """

    contrast: Contrast
    table: Batch
    own: Tensor  # rows of the instances
    other: Tensor  # rows of their partners
    before: Tensor  # whether the partner comes first
    glue: Tensor  # number of the glue
    widths: Tensor  # (n, 3) of all rows
    first: Tensor  # (n,) first position of each row's words
    end: Tensor  # (n,) position after the last

    @classmethod
    def of(
        cls, contrast: Contrast, data: IndexedCorpus, own: Tensor, other: Tensor, before: Tensor, glue: Tensor
    ) -> _Join:
        """Find the words of every row."""
        table = data.table
        real = table.real.int()
        end = table.positions.shape[1] - real.flip(1).argmax(dim=1)
        return cls(contrast, table, own, other, before, glue, data.widths, real.argmax(dim=1), end)

    def copies(self) -> Copies:
        """Return the copies."""
        left, right = torch.where(self.before, self.other, self.own), torch.where(self.before, self.own, self.other)
        left_end = self._without_stop(left)
        n_left = self.widths[left, 2] - (self.end[left] - left_end)
        n_glue_words = torch.tensor([int(words[-1]) + 1 for words in self.contrast.glue_words])[self.glue]
        shift_right = n_left + n_glue_words
        shift = torch.where(self.before, shift_right, 0)
        kept = torch.where(self.before, self.widths[self.own, 2], n_left)
        positions, word_of, lengths = self._positions(left, left_end, right, shift_right)
        other = torch.where(self.before, 0, shift_right), torch.where(self.before, n_left, self.widths[self.other, 2])
        candidates = self._candidates(word_of, (shift, kept), other)
        n_words = shift_right + self.widths[right, 2]
        table = replace(
            self.table.take(self.own),
            positions=positions,
            word_of=word_of,
            aspect_span=self.table.aspect_span[self.own] + shift[:, None],
            candidates=candidates,
            index=torch.arange(len(self.own)),
        )
        widths = torch.stack([lengths, self.widths[self.own, 1], n_words], dim=1)
        return Copies(IndexedCorpus(table, widths, mask_id=0), self.table.index[self.own], shift, kept)

    def _positions(
        self, left: Tensor, left_end: Tensor, right: Tensor, shift_right: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids and words (k, P) of the copies, and how long each is."""
        ids, words = self.contrast.glues, self.contrast.glue_words
        glue_ids, glue_words = _stack(ids, self.contrast.padding)[self.glue], _stack(words, 0)[self.glue]
        starts = self._starts(left, left_end, right)
        place = torch.arange(int(starts[-1].max())).expand(len(left), -1)
        part = sum((place >= start[:, None]).long() for start in starts)  # 0 to 5, where 5 is padding
        assert isinstance(part, Tensor)
        # The row that each part is taken from, and how far its columns are from those of the copy.
        rows = torch.stack([self.own, left, left, right, self.own, self.own], dim=1)
        none = torch.zeros_like(left)
        away = torch.stack(
            [
                none,
                self.first[left] - starts[0],
                -starts[1],
                self.first[right] - starts[2],
                self.end[self.own] - starts[3],
                none,
            ],
            dim=1,
        )
        before_glue = shift_right - glue_words.amax(dim=1) - 1
        shifts = torch.stack([none, none, before_glue, shift_right, none, none], dim=1)
        row, column = rows.gather(1, part), place + away.gather(1, part)
        column = column.clamp(min=0, max=self.table.positions.shape[1] - 1)
        positions, word_of = self.table.positions[row, column], self.table.word_of[row, column]
        glue_column = (place - starts[1][:, None]).clamp(min=0, max=glue_ids.shape[1] - 1)
        positions = torch.where(part == 2, glue_ids.gather(1, glue_column), positions)
        word_of = torch.where(part == 2, glue_words.gather(1, glue_column), word_of)
        word_of = torch.where(word_of >= 0, word_of + shifts.gather(1, part), word_of)
        padding = part == 5
        return positions.masked_fill(padding, self.contrast.padding), word_of.masked_fill(padding, PADDING), starts[-1]

    def _starts(self, left: Tensor, left_end: Tensor, right: Tensor) -> list[Tensor]:
        """Return where each part begins in the copy: the left words, the glue, the right words, what follows, the end."""
        n_glue = torch.tensor([len(each) for each in self.contrast.glues])[self.glue]
        starts = [self.first[self.own]]
        for length in (
            left_end - self.first[left],
            n_glue,
            self.end[right] - self.first[right],
            self.widths[self.own, 0] - self.end[self.own],
        ):
            starts.append(starts[-1] + length)
        return starts

    def _without_stop(self, left: Tensor) -> Tensor:
        """Return where the words of the first sentence end, without a full stop that is its last word."""
        last = self.end[left] - 1
        word = self.table.word_of[left, last]
        is_stop = (self.table.positions[left, last] == self.contrast.glues[_STOP][-1]) & (
            word == self.widths[left, 2] - 1
        )
        in_aspect = word < self.table.aspect_span[left, 1]
        return torch.where(is_stop & ~in_aspect, last, last + 1)

    def _candidates(self, word_of: Tensor, own: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
        """Return (k, N): words that are read and may be attended, also the partner's aspect.

        :param own: how far the instance's words are moved, and how many of them there are; `other`: likewise of its partner.
        """
        width = int(word_of.max()) + 1
        word = torch.arange(width).expand(len(word_of), -1)
        start, end = self.table.aspect_span[self.other, :1], self.table.aspect_span[self.other, 1:]
        allowed = torch.ones(word.shape, dtype=torch.bool)
        for rows, (shift, number) in ((self.own, own), (self.other, other)):
            own_word = word - shift[:, None]
            inside = (own_word >= 0) & (own_word < number[:, None])
            known = self.table.candidates[rows].gather(1, own_word.clamp(0, self.table.candidates.shape[1] - 1))
            if rows is self.other:
                known = known | ((own_word >= start) & (own_word < end))
            allowed &= known | ~inside
        read = torch.zeros(len(word_of), width + 1, dtype=torch.bool)
        read.scatter_(1, torch.where(word_of >= 0, word_of, width), value=True)
        return allowed & read[:, :width]


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


def _stack(rows: Sequence[Tensor], filler: int) -> Tensor:
    return torch.stack([_widen(row[None], max(map(len, rows)), filler)[0] for row in rows])


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
