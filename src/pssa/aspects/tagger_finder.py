"""`AspectFinder`: a trained tagger that finds the aspects of sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from pssa.aspects.find import find_in_texts, open_tagger
from pssa.aspects.spans import AspectSentence
from pssa.aspects.tagger import as_example, index_sentences, predict_tags, spans_of
from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.data.validation import brief_repr
from pssa.runs.devices import choose_device
from pssa.runs.featurizer import Featurizer, PieceFeaturizer
from pssa.runs.saved_model import Description, load_model

_MAX_WORDS = 200  # of a part; longer sentences are read in several
_SPECIAL = 8  # positions that special tokens may take
_MAX_TABLE_WORDS = 1 << 16  # of the parts that are read together, padding included


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
        examples = [as_example(AspectSentence(text, ())) for text in sentences]
        spans: list[list[Span]] = [[] for _ in sentences]
        parts = cut_parts(examples, self.featurizer)
        for group in _groups(parts):
            chosen = [parts[place] for place in group]
            corpus = index_sentences([part for _, part in chosen], self.featurizer)
            for (row, part), tags in zip(chosen, predict_tags(self.model, corpus), strict=True):
                offset = int(part.id)
                spans[row].extend((start + offset, end + offset) for start, end in spans_of(tags, part.spans))
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
    parts = [
        (number, _part(example, first, min(first + _MAX_WORDS, len(example.spans))))
        for number, example in enumerate(examples)
        for first in range(0, len(example.spans), _MAX_WORDS)
    ]
    return list(_halves(parts, featurizer)) if isinstance(featurizer, PieceFeaturizer) else parts


def _halves(parts: Sequence[tuple[int, Example]], featurizer: PieceFeaturizer) -> Iterator[tuple[int, Example]]:
    """Yield the parts; one that has more pieces than the encoder can read, in halves."""
    most = featurizer.cutter.max_positions
    for number, part in parts:
        n_words = len(part.spans)
        # A piece is a byte or more, or the space before a word, so that few parts need a look.
        n_bytes = len(part.text.encode("utf-8", "replace"))
        may_be_long = n_words > 1 and n_bytes + n_words + _SPECIAL > most
        is_long = may_be_long and featurizer.cutter.count_positions([part])[0] > most
        if not is_long:
            yield number, part
            continue
        half = n_words // 2
        cut = [(number, _part(part, *ends, int(part.id))) for ends in ((0, half), (half, n_words))]
        yield from _halves(cut, featurizer)


def _part(example: Example, first: int, end: int, offset: int = 0) -> Example:
    """Return some words of a sentence as an instance of its own; `offset` is where the example itself begins."""
    begin, close = example.spans[first][0], example.spans[end - 1][1]
    spans = tuple((start - begin, stop - begin) for start, stop in example.spans[first:end])
    return Example(str(offset + begin), example.sentence_id, example.text[begin:close], spans, (0, len(spans)))


def _groups(parts: Sequence[tuple[int, Example]]) -> Iterator[list[int]]:
    """Yield places of parts to be read together, from the shortest to the longest, so that no table is too large."""
    group: list[int] = []
    for place in sorted(range(len(parts)), key=lambda place: len(parts[place][1].spans)):
        if group and (len(group) + 1) * len(parts[place][1].spans) > _MAX_TABLE_WORDS:
            yield group
            group = []
        group.append(place)
    if group:
        yield group
