"""From raw text to aspects that can be judged.

`find_in_texts` splits each text into sentences, asks a `Finder` for the aspects of each, and returns them with the sentence that
a classifier reads and with their offsets in the text. There are two finders: `AspectFinder`, a trained tagger
(`pssa.aspects.tagger_finder`), and `NameFinder` (`pssa.aspects.names`), which finds given names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Protocol

from pssa.aspects.sentences import split_sentences
from pssa.data.example import Example, sentence_key
from pssa.data.tokenize import Span, cut_at, tokenize
from pssa.errors import setting

FILE = "tagger.json"
FOLDER = "aspects"  # of the tagger within the run of a classifier
FIND_ADVICE = (
    f"to find aspects, name a tagger with {setting('aspects_from', 'DIR')}, use the one that comes with the package with"
    f" {setting('aspects_from', 'starter')}, or name aspects with {setting('aspects', 'food,wifi')}"
)
Place = tuple[int, int, int]  # number of a text, and where a sentence of it begins and ends


def has_tagger(run: Path) -> bool:
    """Return whether the run of a classifier has a tagger, finished or not."""
    return (run / FOLDER / FILE).is_file()


class Finder(Protocol):
    """Finds aspects in sentences."""

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        """Return the character offsets of the aspects of each sentence, in order and without overlap."""
        ...


@dataclass(frozen=True, slots=True)
class FoundAspect:
    """An aspect that was found in a text."""

    aspect: str  # as it stands in the text
    start: int  # character offsets in the text
    end: int
    sentence: str  # the sentence that holds it, which is what a classifier reads
    sentence_start: int  # its offset in the text

    def as_example(self) -> Example:
        """Return the instance to classify: the aspect in its sentence."""
        return examples_of([self])[0]


def find_in_texts(finder: Finder, texts: Sequence[str]) -> list[tuple[FoundAspect, ...]]:
    """Return the aspects of each text, in order and without overlap; a text may have several sentences, or none."""
    places = [(row, start, end) for row, text in enumerate(texts) for start, end in split_sentences(text)]
    found: list[list[FoundAspect]] = [[] for _ in texts]
    for row, aspect in find_at(finder, texts, places):
        found[row].append(aspect)
    return [tuple(each) for each in found]


def find_at(finder: Finder, texts: Sequence[str], places: Sequence[Place]) -> Iterator[tuple[int, FoundAspect]]:
    """Yield the aspects of some sentences, each with the number of its text."""
    sentences = [texts[row][start:end] for row, start, end in places]
    for (row, offset, _), sentence, spans in zip(places, sentences, finder.find_in_sentences(sentences), strict=True):
        for start, end in spans:
            yield row, FoundAspect(sentence[start:end], start + offset, end + offset, sentence, offset)


def examples_of(found: Sequence[FoundAspect]) -> list[Example]:
    """Return the instances to classify; those of one sentence share its words, as a review may have many."""
    examples = []
    for sentence, inside in groupby(found, key=lambda each: each.sentence):
        spans, key = tokenize(sentence), sentence_key(sentence)
        for each in inside:
            aspect = each.start - each.sentence_start, each.end - each.sentence_start
            words = cut_at(spans, aspect)
            examples.append(Example.from_spans(sentence, words, aspect, label=None, id="0", sentence_id=key))
    return examples
