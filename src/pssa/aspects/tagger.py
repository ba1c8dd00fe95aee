"""Taggers: models that give each word of a sentence a tag, B (an aspect begins), I (it continues) or O (outside).

Both kinds have the two calls of a classifier, `encode` and `classify`, so `pssa.training.fit` trains them; their logits are
(B, 3, N), a column for each word. `decode` finds the best sequence of tags in which an I follows only a B or an I.

- `WordTagger`: word vectors and a convolution over the characters of each word (Ma and Hovy 2016), then a Bi-LSTM.
- `EncoderTagger`: a pretrained encoder; a word is represented by its first piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa.aspects.spans import AspectSentence, cut_words
from pssa.data.example import Example
from pssa.data.features import PADDING
from pssa.data.tokenize import Span
from pssa.data.vocabulary import Vocabulary
from pssa.models import (
    Batch,
    Encoding,
    IndexedCorpus,
    Prediction,
    Pretrained,
    WordTable,
    check_options,
    dropout,
    lookup,
    reset_parameters,
)
from pssa.models._encoder import PieceEncoder, draw_linear
from pssa.models._tnet import BidirectionalLSTM
from pssa.runs.featurizer import Featurizer, WordFeaturizer

OUTSIDE, BEGIN, INSIDE = range(3)
N_TAGS = 3
_UNKNOWN = -1  # tag of padding, and of words whose tag is not known
_MAX_LETTERS = 20  # of a word that are read: its first and its last
_CHARACTERS = 256  # ids: 0 is padding, the last is shared by all characters that are not ASCII or Latin
PRESENCE = ("none", "some")  # whether a sentence has aspects, so that held-out data has the same share


@dataclass(frozen=True)
class WordTaggerOptions:
    """What can be chosen about `WordTagger`."""

    hidden: int = 100  # LSTM units per direction
    letter_width: int = 30  # of a character's vector
    letter_filters: int = 50  # of the convolution over characters
    dropout: float = 0.5  # on what enters the LSTM and on what leaves it
    initial_bound: float = 0.1  # LSTM and output start uniformly in [-bound, bound]

    def __post_init__(self) -> None:
        positive = ("hidden", "letter_width", "letter_filters", "initial_bound")
        check_options(self, shares=("dropout",), positive=positive)


class WordTagger(nn.Module):
    """A Bi-LSTM on word vectors, which stay as they are, and on the characters of each word."""

    def __init__(self, table: WordTable, options: WordTaggerOptions, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        width = table.dimension + options.letter_filters
        # Without values of its own: drawing them on the device "meta", where a saved model is measured, loads torch's compiler.
        empty = torch.empty(_CHARACTERS, options.letter_width)
        self.letters = nn.Embedding(_CHARACTERS, options.letter_width, _weight=empty)
        self.shapes = nn.Conv1d(options.letter_width, options.letter_filters, 3, padding=1)
        self.context = BidirectionalLSTM(width, options.hidden, tied=False)
        self.output = nn.Linear(2 * options.hidden, N_TAGS)
        reset_parameters(self, options.initial_bound, generator)
        start, unseen = table.divide(trainable=False)
        self.words = nn.Parameter(start)
        self.register_buffer("unseen", unseen)
        self.dropout = options.dropout

    def encode(self, batch: Batch) -> Encoding:
        """Represent each word by its context."""
        ids, letters = batch.positions[..., 0], batch.positions[..., 1:]
        rows = lookup(self.words, self.get_buffer("unseen"), ids)
        n_rows, n_words, n_letters = letters.shape
        vectors = self.letters(letters.reshape(n_rows * n_words, n_letters)).transpose(1, 2)
        # The strongest answer of each filter anywhere in a word.
        shapes = functional.relu(self.shapes(vectors)).amax(dim=2).view(n_rows, n_words, -1)
        rows = torch.cat([rows, shapes], dim=-1)
        states, last = self.context(dropout(rows, self.dropout, self.training), batch.lengths)
        return Encoding(dropout(states, self.dropout, self.training), last)

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Score the tags of each word."""
        return Prediction(self.output(encoding.words).transpose(1, 2), None)


class EncoderTagger(nn.Module):
    """A linear layer on a pretrained encoder."""

    def __init__(self, pretrained: Pretrained, seed: int, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.encoder = PieceEncoder(pretrained, dropout_rate, "none", seed)
        self.output = draw_linear(pretrained.dimension, N_TAGS, torch.Generator().manual_seed(seed))
        self.dropout = dropout_rate

    def encode(self, batch: Batch) -> Encoding:
        """Represent each piece."""
        states, _ = self.encoder(batch)
        return Encoding(states, states[:, 0])

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        """Score the tags of each word by its first piece."""
        first = _first_positions(batch.word_of, batch.candidates.shape[1])
        states = encoding.words.gather(1, first.unsqueeze(-1).expand(-1, -1, encoding.words.shape[-1]))
        return Prediction(self.output(dropout(states, self.dropout, self.training)).transpose(1, 2), None)


def _first_positions(word_of: Tensor, n_words: int) -> Tensor:
    """(B, N) the first position of each word; 0 for a word without any."""
    n_rows, n_positions = word_of.shape
    places = torch.arange(n_positions, device=word_of.device).expand(n_rows, -1)
    first = torch.full((n_rows, n_words + 1), n_positions, device=word_of.device)
    # Positions of no word are collected in a column of their own.
    first = first.scatter_reduce(1, torch.where(word_of >= 0, word_of, n_words), places, "amin")[:, :n_words]
    return first.masked_fill(first == n_positions, 0)


def as_example(sentence: AspectSentence) -> Example:
    """Return the sentence as an instance whose aspect is all of it, for what splits and indexes instances."""
    spans = cut_words(sentence.text)
    label = PRESENCE[bool(sentence.aspects)]
    return Example(sentence.id, sentence.sentence_id, sentence.text, spans, (0, len(spans)), label)


def tags_of(spans: Sequence[Span], aspects: Iterable[Span]) -> list[int]:
    """Return the tag of each word; a word belongs to an aspect if they share a character."""
    tags = [OUTSIDE] * len(spans)
    for start, end in aspects:
        inside = [place for place, (first, last) in enumerate(spans) if first < end and start < last]
        for place in inside:
            tags[place] = INSIDE if place > inside[0] else BEGIN
    return tags


def spans_of(tags: Sequence[int], spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the character offsets of the aspects that a valid sequence of tags marks."""
    found: list[Span] = []
    for tag, (start, end) in zip(tags, spans, strict=True):
        if tag == BEGIN:
            found.append((start, end))
        elif tag == INSIDE:
            found[-1] = (found[-1][0], end)
    return tuple(found)


def index_sentences(
    examples: Sequence[Example], featurizer: Featurizer, tags: Sequence[Sequence[int]] | None = None
) -> IndexedCorpus:
    """Return sentences as tensors; each must have a word.

    :param tags: of the words of each sentence, where they are known; they become the labels.
    """
    if isinstance(featurizer, WordFeaturizer):
        corpus = _index_words(examples, featurizer.vocabulary)
    else:
        corpus = featurizer.index([replace(example, label=None) for example in examples], ())
    if tags is None:
        return corpus
    labels = torch.full((len(examples), corpus.table.candidates.shape[1]), _UNKNOWN)
    for row, known in enumerate(tags):
        labels[row, : len(known)] = torch.tensor(known)
    return replace(corpus, table=replace(corpus.table, labels=labels))


def _index_words(examples: Sequence[Example], vocabulary: Vocabulary) -> IndexedCorpus:
    """Return tensors whose positions are (n, N, 1 + letters): the word's id, then its characters."""
    lengths = torch.tensor([len(example.spans) for example in examples])
    width = int(lengths.max())
    positions = torch.zeros(len(examples), width, 1 + _MAX_LETTERS, dtype=torch.long)
    for row, example in enumerate(examples):
        words = example.words
        ids = vocabulary.encode(words)
        rows = []
        for number, word in zip(ids, words, strict=True):
            if len(word) > _MAX_LETTERS:
                word = word[: _MAX_LETTERS // 2] + word[-_MAX_LETTERS // 2 :]
            letters = [min(max(ord(letter), 1), _CHARACTERS - 1) for letter in word]
            rows.append([number, *letters, *[0] * (_MAX_LETTERS - len(letters))])
        positions[row, : len(rows)] = torch.tensor(rows)
    places = torch.arange(width).expand(len(examples), -1)
    real = places < lengths[:, None]
    table = Batch(
        positions=positions,
        word_of=places.masked_fill(~real, PADDING),
        aspect=torch.zeros(len(examples), 1, dtype=torch.long),
        aspect_span=torch.stack([torch.zeros_like(lengths), lengths], dim=1),
        candidates=real,
        labels=torch.full((len(examples),), _UNKNOWN),
        index=torch.arange(len(examples)),
    )
    ones = torch.ones_like(lengths)
    return IndexedCorpus(table, torch.stack([lengths, ones, lengths], dim=1), vocabulary.mask_id)


def decode(logits: Tensor, lengths: Tensor) -> list[list[int]]:
    """Return the most probable valid tags of each sentence (Viterbi): no I at the beginning or after an O.

    :param logits: (B, 3, N) scores of the tags.
    :param lengths: (B,) words of each sentence.
    """
    scores = logits.float().log_softmax(dim=1).cpu()
    n_rows, _, n_words = scores.shape
    lengths = lengths.cpu()
    forbidden = torch.zeros(N_TAGS, N_TAGS)  # from, to
    forbidden[OUTSIDE, INSIDE] = -torch.inf
    best = scores[:, :, 0].clone()
    best[:, INSIDE] = -torch.inf
    came_from = []
    for word in range(1, n_words):
        values, before = (best[:, :, None] + forbidden).max(dim=1)
        # Beyond the end of a sentence nothing changes.
        real = (word < lengths)[:, None]
        best = torch.where(real, values + scores[:, :, word], best)
        came_from.append(torch.where(real, before, torch.arange(N_TAGS).expand(n_rows, -1)))
    tag = best.argmax(dim=1)
    path = [tag]
    for before in reversed(came_from):
        tag = before.gather(1, tag[:, None]).squeeze(1)
        path.append(tag)
    tags = torch.stack(path[::-1], dim=1).tolist()
    return [row[:length] for row, length in zip(tags, lengths.tolist(), strict=True)]


@torch.no_grad()
def predict_tags(model: nn.Module, corpus: IndexedCorpus, batch_size: int = 64) -> list[list[int]]:
    """Return the valid tags of every word, in the order of the corpus."""
    model.eval()
    corpus = corpus.to(next(model.parameters()).device)
    found: list[list[int]] = [[]] * len(corpus)
    for rows in torch.split(corpus.length_order(), batch_size):
        batch = corpus.batch(rows)
        prediction: Prediction = model.classify(model.encode(batch), batch)  # type: ignore[operator]
        for row, tags in zip(rows.tolist(), decode(prediction.logits, corpus.widths[rows, 2]), strict=True):
            found[row] = tags
    return found
