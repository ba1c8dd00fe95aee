"""Self-training: two teachers label raw sentences of many domains, and the model learns from what they are sure of.

The teachers are the model itself, trained on the annotations alone, and a larger one. The small one finds aspects and reasons
better, the large one labels better; the mean of both finds best.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pssa.aspects.sentences import split_sentences
from pssa.joint.pieces import SPECIAL, WordPieces
from pssa.joint.runtime import Floats, FoundSpan, JointRuntime, SentencePart, spans_of
from pssa.joint.training import UNKNOWN, JointExample
from pssa.runs.answers import Question

DOMAINS = ("book", "electronics", "fashion", "grocery", "home", "pet", "toy")
_LABEL_SHARE = 0.7  # of the large teacher in labels
_SURE_TAG, _SURE_SPAN, _SURE_LABEL = 0.65, 0.4, 0.75
_REASON = 0.15  # least attention of a word to be evidence
_LENGTHS = range(3, 41)  # words of a sentence
_CHUNK = 1500


def raw_sentences(folder: Path, n_each: int = 3000, seed: int = 0) -> list[str]:
    """Return sentences of raw reviews, so many of each domain."""
    found: list[str] = []
    for domain in DOMAINS:
        with gzip.open(folder / f"{domain}.txt.gz", "rt", encoding="utf-8") as file:
            reviews = [line.partition("####")[2].strip() for line in file]
        random.Random(seed).shuffle(reviews)
        inside = (text[start:end] for text in reviews for start, end in split_sentences(text))
        short = (sentence for sentence in inside if len(sentence.split()) in _LENGTHS)
        found += [sentence for sentence, _ in zip(short, range(n_each), strict=False)]
    return found


def teach(
    small: JointRuntime, large: JointRuntime, sentences: Sequence[str], pieces: WordPieces
) -> Iterator[JointExample]:
    """Yield what the teachers are sure of in each sentence; a word that they are not sure of may be anything.

    :param pieces: of the model that learns.
    """
    for first in range(0, len(sentences), _CHUNK):
        chunk = sentences[first : first + _CHUNK]
        states = [_states(teacher, chunk) for teacher in (small, large)]
        for row, read in enumerate(pieces.read(chunk)):
            if row not in states[0] or row not in states[1] or not (read.piece_words != SPECIAL).any():
                continue
            ours, theirs = states[0][row], states[1][row]
            # A sentence that a teacher cuts in two is left out.
            if read.words == ours[0].sentence.words == theirs[0].sentence.words:
                example = _taught(small, large, ours[1:], theirs[1:])
                yield JointExample(read, *example)


def _states(teacher: JointRuntime, sentences: Sequence[str]) -> dict[int, tuple[SentencePart, Floats, Floats]]:
    parts = teacher.parts([Question(sentence) for sentence in sentences])
    return {part.question: (part, states, words) for part, states, words in teacher.states(parts, 48)}


def _taught(
    small: JointRuntime, large: JointRuntime, ours: tuple[Floats, Floats], theirs: tuple[Floats, Floats]
) -> tuple[np.ndarray, tuple[tuple[int, int], ...], tuple[int, ...], tuple[tuple[int, ...], ...], int]:
    """Return the fields of an example, from the states of the pieces and of the words by each teacher."""
    powers = (np.exp(small.tag_chances(ours[1])[1]) + np.exp(large.tag_chances(theirs[1])[1])) / 2
    tags = np.ones((len(powers), 5), dtype=bool)
    is_sure, kind = powers.max(1) >= _SURE_TAG, powers.argmax(1)
    tags[is_sure] = False
    tags[is_sure & (kind == 0), 0] = True
    tags[is_sure & (kind == 1), 1] = True
    tags[is_sure & (kind == 2), 2:] = True
    found = [FoundSpan(*each) for each in spans_of(np.log(powers), 0.0)]
    attention = small.label(found, ours[1])[1]
    chances = _mixed(small.label(found, ours[1])[0], large.label(found, theirs[1])[0])
    kept = [
        number
        for number, each in enumerate(found)
        if powers[each.first, 0] >= _SURE_SPAN and chances[number].max() >= _SURE_LABEL
    ]
    about, weights = small.overall(ours[0][0], ours[1])
    whole = _mixed(about, large.overall(theirs[0][0], theirs[1])[0])
    overall = int(whole.argmax()) if whole.max() >= _SURE_LABEL else UNKNOWN
    implied = _reasons(weights) if 0 <= overall < len(whole) - 1 else ()
    return (
        tags,
        tuple((found[number].first, found[number].end) for number in kept),
        tuple(int(chances[number].argmax()) for number in kept),
        (*(_reasons(attention[number]) for number in kept), implied),
        overall,
    )


def _mixed(small: Floats, large: Floats) -> Floats:
    return np.asarray((1 - _LABEL_SHARE) * small + _LABEL_SHARE * large, np.float32)


def _reasons(weights: Floats) -> tuple[int, ...]:
    return tuple(np.flatnonzero(weights >= _REASON).tolist())
