"""What the starter learns from: MAMS train and the embedded corpus, and sentences without aspects for its tagger.

MAMS keeps only sentences with several aspects, so a tagger that reads nothing else finds aspects everywhere. Three sources show
it text without any: `no_aspects.txt`, written for this purpose; sentences of the embedded corpus' texts; and pieces of
MAMS sentences between two commas or the like. MAMS leaves some aspects unmarked, so a piece counts as free of aspects only if
none of its words is often part of an aspect.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from pssa.aspects import AspectSentence, read_sentences
from pssa.aspects.sentences import split_sentences
from pssa.aspects.spans import cut_words
from pssa.aspects.tagger import OUTSIDE, tags_of
from pssa.data import embedded
from pssa.data.example import Corpus, Example
from pssa.data.io import read

__all__ = ["classifier_corpus", "common_texts", "tagger_sentences"]

_WRITTEN = Path(__file__).parent / "no_aspects.txt"
_JOINT = re.compile(r"[,;:()]|\s[-–—]+\s|[.!?]\s|\b(?:but|because|although|though|and|so|which)\b")
_LEAST_WORDS = 4  # of a piece
_ASPECT_SHARE = 0.1  # of a word's occurrences that are part of an aspect
_NOT_LETTERS = re.compile(r"\W+")


def common_texts(mams: Path, test: Path) -> set[str]:
    """Return the texts of a file that are in a test set too, whatever their spacing, case and punctuation."""
    tested = {_normalise(example.text) for example in read(test)}
    return {example.text for example in read(mams) if _normalise(example.text) in tested}


def _normalise(text: str) -> str:
    return _NOT_LETTERS.sub("", text.lower())


def classifier_corpus(mams: Path, left_out: Collection[str]) -> Corpus:
    """Return the instances to train the classifier on, without those of some texts."""
    examples = [example for example in read(mams) if example.text not in left_out]
    # Both corpora count their sentences from one.
    own = [replace(example, sentence_id=f"embedded-{example.sentence_id}") for example in embedded.load("train")]
    return Corpus((*examples, *own))


def tagger_sentences(mams: Path, left_out: Collection[str]) -> tuple[AspectSentence, ...]:
    """Return the sentences to train the tagger on, a part of them without aspects."""
    marked = [sentence for sentence in read_sentences(mams) if sentence.text not in left_out]
    own = list(_embedded_sentences(embedded.load("train")))
    words = _aspect_words((*marked, *own))
    pieces = [piece for sentence in marked for piece in _free_pieces(sentence, words)]
    written = [line for line in _WRITTEN.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    free = dict.fromkeys((*written, *pieces))
    empty = [AspectSentence.build(text, (), f"free-{number}") for number, text in enumerate(free)]
    return (*marked, *own, *empty)


def _embedded_sentences(corpus: Sequence[Example]) -> Iterator[AspectSentence]:
    """Yield each sentence of the corpus, whose texts may have two, with all its aspects."""
    aspects: dict[str, list[tuple[int, int]]] = {}
    for example in corpus:
        aspects.setdefault(example.text, []).append(example.aspect_chars)
    for number, (text, spans) in enumerate(aspects.items()):
        for start, end in split_sentences(text):
            inside = [(first - start, last - start) for first, last in spans if start <= first and last <= end]
            yield AspectSentence.build(text[start:end], inside, f"embedded-{number}-{start}", f"embedded-{number}")


def _aspect_words(sentences: Iterable[AspectSentence]) -> set[str]:
    """Return the words, in lower case, that are often part of an aspect."""
    inside: Counter[str] = Counter()
    anywhere: Counter[str] = Counter()
    for sentence in sentences:
        spans = cut_words(sentence.text)
        words = [sentence.text[start:end].lower() for start, end in spans]
        tags = tags_of(spans, sentence.aspects)
        anywhere.update(words)
        inside.update(word for word, tag in zip(words, tags, strict=True) if tag != OUTSIDE)
    return {word for word, count in inside.items() if count >= _ASPECT_SHARE * anywhere[word]}


def _free_pieces(sentence: AspectSentence, aspect_words: set[str]) -> Iterator[str]:
    """Yield the pieces of a sentence that have no word of an aspect."""
    text = sentence.text
    places = [0, *(found.start() for found in _JOINT.finditer(text)), len(text)]
    for start, end in pairwise(places):
        piece = text[start:end].strip(" ,;:()-–—.!?")
        words = [piece[first:last].lower() for first, last in cut_words(piece)]
        if len(words) >= _LEAST_WORDS and not aspect_words.intersection(words):
            yield piece
