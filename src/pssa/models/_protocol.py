"""The protocol of a model: a `Batch` goes in, an `Encoding` and a `Prediction` come out of its two calls.

The cut between `encode` and `classify` is placed so that gradients and noise apply to `Encoding.words`: a saliency runs only the
small head, not the encoder. Where an encoder's self-attention is refined, the encoder's top layer belongs to the head.

The tensors of a batch are those of `Features`. An `IndexedCorpus`, a corpus as tensors, is cut into batches that are bucketed by
length, so that little of a batch is padding; none is wider than its longest row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from pssa.data.example import Example
from pssa.data.features import PADDING, SECOND, Features, word_features
from pssa.data.vocabulary import Vocabulary

# Number of batches whose rows are sorted by length together: enough for little padding, few enough to keep epochs shuffled.
BUCKET_BATCHES = 16


@dataclass(frozen=True)
class Batch:
    """Padded tensors of B examples, P positions and N words."""

    positions: Tensor  # (B, P) ids
    word_of: Tensor  # (B, P) the word of each position; PADDING, SPECIAL or SECOND if it has none
    aspect: Tensor  # (B, M) ids of the aspect's words or pieces, then the padding id: 0 for words
    aspect_span: Tensor  # (B, 2) word offsets, half-open
    candidates: Tensor  # (B, N) words that may be attended or mined: not padding, aspect or hidden
    labels: Tensor  # (B,) class of each example, or (B, N) of each word for a tagger; -1 if unknown
    index: Tensor  # (B,) position of each example in its corpus

    @property
    def real(self) -> Tensor:
        """(B, P) positions that belong to a word."""
        return self.word_of >= 0

    @property
    def present(self) -> Tensor:
        """(B, P) positions that are not padding: an encoder's attention mask."""
        return self.word_of != PADDING

    @property
    def second(self) -> Tensor:
        """(B, P) positions of the second segment: token type 1."""
        return self.word_of == SECOND

    @property
    def lengths(self) -> Tensor:
        """(B,) number of words that are read; rows of words may begin after the first."""
        return self.word_of.amax(dim=1) + 1 - self.word_of[:, 0].clamp(min=0)

    @property
    def aspect_positions(self) -> Tensor:
        """(B, P) positions of the aspect's words."""
        return self._near_aspect(0)

    def aspect_in_context(self, n_words: int) -> Tensor:
        """Return (B, P): positions of the aspect's words, and of the candidates among the `n_words` on either side of it."""
        if not n_words:
            return self.aspect_positions
        return self.aspect_positions | (self._near_aspect(n_words) & self.candidate_positions)

    def _near_aspect(self, n_words: int) -> Tensor:
        first, end = self.aspect_span[:, :1] - n_words, self.aspect_span[:, 1:] + n_words
        return (self.word_of >= first) & (self.word_of < end)

    @property
    def candidate_positions(self) -> Tensor:
        """(B, P) positions of the candidate words."""
        return self._at_positions(self.candidates)

    @property
    def repeats(self) -> Tensor:
        """(B,) rows in which an encoder reads the same as in the row before."""
        ids, present = self.positions, self.present
        same = ((ids[1:] == ids[:-1]) & (present[1:] == present[:-1])).all(dim=1)
        return torch.cat([same.new_zeros(1), same])

    def to(self, device: torch.device) -> Batch:
        """Return the batch on `device`."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=True))

    def take(self, rows: Tensor | slice) -> Batch:
        """Return some rows of the batch, as wide as it is."""
        return self._map(lambda tensor: tensor[rows])

    def crop(self, positions: int, aspect: int, words: int) -> Batch:
        """Return the first columns of the tensors."""
        return replace(
            self,
            positions=self.positions[:, :positions],
            word_of=self.word_of[:, :positions],
            aspect=self.aspect[:, :aspect],
            candidates=self.candidates[:, :words],
            labels=self.labels[:, :words] if self.labels.dim() > 1 else self.labels,
        )

    def hide(self, words: Tensor, mask_id: int) -> Batch:
        """Return the batch with `words` (B, N) hidden: replaced by the mask token and removed from the candidates."""
        ids = self.positions.masked_fill(self._at_positions(words), mask_id)
        return replace(self, positions=ids, candidates=self.candidates & ~words)

    def _at_positions(self, words: Tensor) -> Tensor:
        return words.gather(1, self.word_of.clamp(min=0)) & self.real

    def repeat(self, times: int) -> Batch:
        """Return the batch stacked `times` times: rows 0..B-1, then again."""
        return self._map(lambda tensor: tensor.repeat(times, *([1] * (tensor.dim() - 1))))

    def _map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        return Batch(**{f.name: change(getattr(self, f.name)) for f in fields(self)})


# The arguments of an encoder's top layer besides its input, `Encoding.words`: masks, relative positions and the like, by place
# and by name. The first value is B of the batch that was encoded.
TopLayer = tuple[int, tuple[Any, ...], Mapping[str, Any]]


@dataclass(frozen=True)
class Encoding:
    """The representations of a batch: h(x), v(t) and, in a memory network, m."""

    words: Tensor  # (B, P, D) h(x); the top layer's input where there is a `top`
    aspect: Tensor  # (B, D) v(t)
    memory: Tensor | None = None  # (B, P, D) m, where the attention reads other vectors than it returns
    top: TopLayer | None = None  # where self-attention is refined: `classify` runs the top layer

    def with_words(self, words: Tensor, memory: Tensor | None) -> Encoding:
        """Return the same with other word vectors."""
        return replace(self, words=words, memory=memory)


@dataclass(frozen=True)
class Heads:
    """The top layer's self-attention, as part of the graph that leads to the logits."""

    weights: Tensor  # (B, H, P, P) of each head, from the row's position to the column's
    rows: Tensor  # (B, P) positions whose rows count: the aspect's, or [CLS]
    share: Tensor  # (B, H) how the heads that are refined are mixed; a row sums to one


@dataclass(frozen=True)
class Prediction:
    """Class scores and, where the model attends, the weight of each position."""

    logits: Tensor  # (B, C); of a tagger (B, C, N)
    attention: Tensor | None  # (B, P), sums to one over the attended positions; to less in self-attention
    heads: Heads | None = None  # where self-attention is refined


@runtime_checkable
class AspectModel(Protocol):
    """A classifier of (sentence, aspect) pairs."""

    def encode(self, batch: Batch) -> Encoding:
        """Represent the words and the aspect."""

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Predict from the representations."""


@dataclass(frozen=True)
class IndexedCorpus:
    """A corpus as tensors at its full width; `batch` takes rows and crops them to the longest."""

    table: Batch
    widths: Tensor  # (n, 3) positions, aspect words and words of each row
    mask_id: int  # the token in place of a hidden word

    @classmethod
    def of(cls, features: Features) -> IndexedCorpus:
        """Return arrays as tensors."""
        names = ("positions", "word_of", "aspect", "aspect_span", "candidates", "labels")
        tensors = {name: torch.from_numpy(getattr(features, name)) for name in names}
        table = Batch(**tensors, index=torch.arange(len(features)))
        return cls(table, torch.from_numpy(features.widths), features.mask_id)

    def __len__(self) -> int:
        return len(self.table.labels)

    @property
    def labels(self) -> Tensor:
        """(n,) classes."""
        return self.table.labels

    @property
    def features(self) -> Features:
        """The arrays of tensors on the CPU."""
        table = {each.name: getattr(self.table, each.name).numpy() for each in fields(Batch) if each.name != "index"}
        return Features(**table, widths=self.widths.numpy(), mask_id=self.mask_id)

    @cached_property
    def sentences(self) -> Tensor:
        """(n,) a number for the sentence of each row as an encoder sees it, from the longest to the shortest."""
        ids, widths = self.table.positions.cpu().numpy(), self.widths[:, 0].tolist()
        numbers: dict[bytes, int] = {}
        found = [0] * len(self)
        for row in self.length_order().tolist():
            found[row] = numbers.setdefault(ids[row, : widths[row]].tobytes(), len(numbers))
        return torch.tensor(found)

    def to(self, device: torch.device) -> IndexedCorpus:
        """Return the corpus on `device`, so that batches need no copy; widths stay on the CPU, which decides how to crop."""
        return replace(self, table=self.table.to(device))

    def batch(self, rows: Tensor, multiple: int = 1) -> Batch:
        """Return the examples at `rows` (on the CPU), as wide as needed, rounded up to a `multiple` so that few shapes occur."""
        needed = self.widths[rows].amax(dim=0)
        # Slices end with the table, which need not be as wide as the multiple.
        columns = (needed + (-needed) % multiple).tolist()
        rows = rows.to(self.table.labels.device, non_blocking=True)
        return self.table.take(rows).crop(*columns)

    def select(self, rows: Sequence[int] | Tensor) -> IndexedCorpus:
        """Return the corpus of these rows; `index` still refers to this corpus."""
        rows = torch.as_tensor(rows, dtype=torch.long)
        return IndexedCorpus(self.table.take(rows), self.widths[rows], self.mask_id)

    def hide(self, words: Tensor) -> IndexedCorpus:
        """Return the corpus with `words` (n, N) hidden."""
        return replace(self, table=self.table.hide(words, self.mask_id))

    def length_order(self) -> Tensor:
        """Return (n,): rows from the longest to the shortest, for batches with little padding."""
        return self.widths[:, 0].argsort(descending=True, stable=True)

    def shuffled_batches(
        self,
        size: int,
        generator: torch.Generator,
        multiple: int = 1,
        bucket_batches: int = BUCKET_BATCHES,
        by_sentence: bool = False,
    ) -> Iterator[Batch]:
        """Yield every example once, in random batches of rows of similar length; `multiple` as in `batch`.

        :param bucket_batches: batches whose rows are sorted by length together; 1: rows are shuffled alone.
        :param by_sentence: keep the rows of a sentence together; batches then have about `size` rows, and are as many.
        """
        order = torch.randperm(int(self.sentences.max()) + 1 if by_sentence else len(self), generator=generator)
        shuffled = iter((order[self.sentences].argsort(stable=True) if by_sentence else order).tolist())
        batches: list[Tensor] = []
        while bucket := list(islice(shuffled, size * bucket_batches)):
            rows = torch.tensor(bucket)
            rows = rows[self.widths[rows, 0].argsort(stable=True)]
            batches.extend(self._split_between_sentences(rows, size) if by_sentence else torch.split(rows, size))
        for place in torch.randperm(len(batches), generator=generator).tolist():
            yield self.batch(batches[place], multiple)

    def _split_between_sentences(self, rows: Tensor, size: int) -> Sequence[Tensor]:
        """Split rows where the sentence changes, nearest to each multiple of `size`; there, if none is near."""
        sentences = self.sentences[rows]
        changes = torch.cat([torch.tensor([0]), (sentences[1:] != sentences[:-1]).nonzero().squeeze(1) + 1])
        ends = torch.arange(1, -(-len(rows) // size)) * size
        nearest = changes[(changes - ends[:, None]).abs().argmin(dim=1)]
        return rows.tensor_split(torch.where(2 * (nearest - ends).abs() < size, nearest, ends))


def index_words(
    examples: Sequence[Example], vocabulary: Vocabulary, labels: Sequence[str], max_words: int = sys.maxsize
) -> IndexedCorpus:
    """Turn examples into tensors for models whose positions are words; see `word_features`."""
    return IndexedCorpus.of(word_features(examples, vocabulary, labels, max_words))
