"""`AspectFinder`: a trained tagger that finds the aspects of sentences.

It tags each word as B (an aspect begins), I (it continues) or O (outside). `decode` finds the best sequence of tags in which an I
follows only a B or an I.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from pssa.aspects.find import find_in_texts, open_tagger
from pssa.aspects.spans import AspectSentence, cut_words
from pssa.data.example import Corpus, Example
from pssa.data.features import PADDING
from pssa.data.tokenize import Span
from pssa.data.validation import brief_repr
from pssa.data.vocabulary import Vocabulary
from pssa.models import Batch, IndexedCorpus, Prediction
from pssa.models._taggers import CHARACTERS, MAX_LETTERS
from pssa.runs.devices import choose_device
from pssa.runs.featurizer import Featurizer, PieceFeaturizer, WordFeaturizer
from pssa.runs.saved_model import Description, load_model

TAGS = ("O", "B", "I")
OUTSIDE, BEGIN, INSIDE = range(3)
_UNKNOWN = -1  # tag of padding, and of words whose tag is not known
PRESENCE = ("none", "some")  # whether a sentence has aspects, so that held-out data has the same share
_MAX_WORDS = 200  # of a part; longer sentences are read in several
_SPECIAL = 8  # positions that special tokens may take
_PARTS_TOGETHER = 256  # that are indexed at once, so that no table is too large


def as_example(sentence: AspectSentence) -> Example:
    """Return the sentence as an instance whose aspect is all of it, for what splits and indexes instances."""
    spans = cut_words(sentence.text)
    label = PRESENCE[bool(sentence.aspects)]
    return Example(sentence.id, sentence.sentence_id, sentence.text, spans, (0, len(spans)), label)


def as_corpus(sentences: Iterable[AspectSentence]) -> Corpus:
    """Return sentences as such instances."""
    return Corpus(tuple(map(as_example, sentences)), PRESENCE)


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
    positions = torch.zeros(len(examples), width, 1 + MAX_LETTERS, dtype=torch.long)
    for row, example in enumerate(examples):
        words = example.words
        ids = vocabulary.encode(words)
        rows = []
        for number, word in zip(ids, words, strict=True):
            if len(word) > MAX_LETTERS:
                word = word[: MAX_LETTERS // 2] + word[-MAX_LETTERS // 2 :]
            letters = [min(max(ord(letter), 1), CHARACTERS - 1) for letter in word]
            rows.append([number, *letters, *[0] * (MAX_LETTERS - len(letters))])
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
    forbidden = torch.zeros(len(TAGS), len(TAGS))  # from, to
    forbidden[OUTSIDE, INSIDE] = -torch.inf
    best = scores[:, :, 0].clone()
    best[:, INSIDE] = -torch.inf
    came_from = []
    for word in range(1, n_words):
        values, before = (best[:, :, None] + forbidden).max(dim=1)
        # Beyond the end of a sentence nothing changes.
        real = (word < lengths)[:, None]
        best = torch.where(real, values + scores[:, :, word], best)
        came_from.append(torch.where(real, before, torch.arange(len(TAGS)).expand(n_rows, -1)))
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


@dataclass(frozen=True)
class AspectFinder:
    """A trained tagger and what it reads."""

    model: nn.Module
    featurizer: Featurizer

    def __repr__(self) -> str:
        return brief_repr(self, model=type(self.model).__name__, reads=type(self.featurizer).__name__)

    def find(self, text: str) -> tuple[Span, ...]:
        """Return the character offsets of the aspects of a text, in order and without overlap; it may have several sentences."""
        return self.find_all([text])[0]

    def find_all(self, texts: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the aspects of each text."""
        return [tuple((each.start, each.end) for each in found) for found in find_in_texts(self, texts)]

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the aspects of each text, which is read as one sentence."""
        spans: list[list[Span]] = [[] for _ in sentences]
        parts = cut_parts([as_example(AspectSentence(text, ())) for text in sentences], self.featurizer)
        parts.sort(key=lambda part: len(part[1].spans))
        for first in range(0, len(parts), _PARTS_TOGETHER):
            chosen = parts[first : first + _PARTS_TOGETHER]
            corpus = index_sentences([part for _, part in chosen], self.featurizer)
            for (number, part), tags in zip(chosen, predict_tags(self.model, corpus), strict=True):
                spans[number].extend(spans_of_part(part, tags))
        return [tuple(sorted(each)) for each in spans]


def load_finder(path: str | Path, device: str = "cpu") -> AspectFinder:
    """Load a tagger from its directory, or from the run of a classifier that has one in `aspects/`.

    :param device: cpu, cuda, or auto: the GPU where there is one.
    :raises InputError: if the folder is no tagger, is unfinished, or a file in it is damaged.
    """
    directory = open_tagger(Path(path))
    directory.require_finished()
    root = directory.root
    description = Description.load(root)
    featurizer = description.load_featurizer(root)
    model = load_model(root, root / "model.safetensors", description, featurizer)
    return AspectFinder(model.to(choose_device(device)).eval(), featurizer)


def cut_parts(examples: Sequence[Example], featurizer: Featurizer) -> list[tuple[int, Example]]:
    """Return the sentences in parts that the model can read as a whole, with the number of their sentence.

    A part's id is its offset in the sentence, in characters. A sentence without words has no part.
    """
    return [
        (number, part)
        for number, example in enumerate(examples)
        for first in range(0, len(example.spans), _MAX_WORDS)
        for part in _cut(example, first, min(first + _MAX_WORDS, len(example.spans)), featurizer)
    ]


def _cut(example: Example, first: int, end: int, featurizer: Featurizer) -> Iterator[Example]:
    """Yield some words of a sentence as an instance of its own; in halves if an encoder cannot read all their pieces."""
    begin, close = example.spans[first][0], example.spans[end - 1][1]
    spans = tuple((start - begin, stop - begin) for start, stop in example.spans[first:end])
    part = Example(str(begin), example.sentence_id, example.text[begin:close], spans, (0, len(spans)))
    if len(spans) > 1 and isinstance(featurizer, PieceFeaturizer):
        cutter = featurizer.cutter
        # A piece is a byte or more, or the space before a word, so that few parts need a look.
        n_most = len(part.text.encode("utf-8", "replace")) + len(spans) + _SPECIAL
        if n_most > cutter.max_positions and cutter.count_positions([part])[0] > cutter.max_positions:
            middle = first + len(spans) // 2
            yield from _cut(example, first, middle, featurizer)
            yield from _cut(example, middle, end, featurizer)
            return
    yield part


def spans_of_part(part: Example, tags: Sequence[int]) -> Iterator[Span]:
    """Yield the aspects of a part by their offsets in its sentence."""
    offset = int(part.id)
    for start, end in spans_of(tags, part.spans):
        yield start + offset, end + offset
