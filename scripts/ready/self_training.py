"""Self-training: teachers label raw sentences of many domains, and the model learns from their mean.

The teachers are larger models, trained on the annotations with different seeds. The model learns their probabilities of tags and
labels, and their attention.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pssa.aspects.sentences import split_sentences
from pssa.joint.model import TAGS, JointModel
from pssa.joint.pieces import SPECIAL, PieceSentence, WordPieces
from pssa.joint.runtime import Floats, spans_of, with_mentions
from pssa.joint.training import UNKNOWN, JointExample, outputs

DOMAINS = ("book", "electronics", "fashion", "grocery", "home", "pet", "toy")
_LENGTHS = range(3, 41)  # words of a sentence
_CHUNK = 4000  # sentences whose probabilities are held at a time
_EASILY = -1.0  # bias on O: labels are learned of aspects that are likely, not only of those that are found


@dataclass(frozen=True)
class Teacher:
    """A trained model and what cuts its words into pieces."""

    model: JointModel
    pieces: WordPieces


def raw_sentences(folder: Path, n_each: int = 40_000, seed: int = 0) -> list[str]:
    """Return sentences of raw reviews, at most so many of each domain."""
    found: list[str] = []
    for domain in DOMAINS:
        with gzip.open(folder / f"{domain}.txt.gz", "rt", encoding="utf-8") as file:
            reviews = [line.partition("####")[2].strip() for line in file]
        random.Random(seed).shuffle(reviews)
        inside = (text[start:end] for text in reviews for start, end in split_sentences(text))
        short = (sentence for sentence in inside if len(sentence.split()) in _LENGTHS)
        found += [sentence for sentence, _ in zip(short, range(n_each), strict=False)]
    return found


def teach(teachers: Sequence[Teacher], sentences: Sequence[str], pieces: WordPieces) -> Iterator[JointExample]:
    """Yield the mean of the teachers' probabilities and attention for each sentence.

    :param pieces: of the model that learns.
    """
    for start in range(0, len(sentences), _CHUNK):
        chunk = sentences[start : start + _CHUNK]
        read = [teacher.pieces.read(chunk) for teacher in teachers]
        nothing: list[tuple[tuple[int, int], ...]] = [()] * len(chunk)
        tags = [[row[0] for row in _said(each, own, nothing)] for each, own in zip(teachers, read, strict=True)]
        mean_tags = [np.mean(each, axis=0) for each in zip(*tags, strict=True)]
        aspects = [_aspects(each) for each in mean_tags]
        rest = [[row[1:] for row in _said(each, own, aspects)] for each, own in zip(teachers, read, strict=True)]
        for number, sentence in enumerate(pieces.read(chunk)):
            if len(mean_tags[number]) == len(sentence.words) and (sentence.piece_words != SPECIAL).any():
                labels, overall, attention = (
                    np.mean(each, axis=0) for each in zip(*(row[number] for row in rest), strict=True)
                )
                yield JointExample(sentence, mean_tags[number], aspects[number], labels, attention, overall)


def _aspects(tags: Floats) -> tuple[tuple[int, int], ...]:
    if not len(tags):
        return ()
    logs = np.log(tags.clip(1e-9))
    opinions = np.stack([logs[:, 0], logs[:, 1], np.logaddexp.reduce(logs[:, 2:], axis=1)], 1)
    return tuple(sorted({*spans_of(opinions, _EASILY), *spans_of(with_mentions(logs), 0.0)}))


def _said(
    teacher: Teacher, sentences: Sequence[PieceSentence], aspects: Sequence[tuple[tuple[int, int], ...]]
) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """Return what `outputs` does of these sentences and aspects."""
    asked = []
    for sentence, inside in zip(sentences, aspects, strict=True):
        tags = np.ones((len(sentence.words), len(TAGS)), dtype=bool)
        asked.append(JointExample(sentence, tags, inside, (UNKNOWN,) * len(inside), ((),) * (len(inside) + 1), UNKNOWN))
    return outputs(teacher.model, asked)
