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
from typing import TypeAlias

import numpy as np

from pssa.aspects.sentences import split_sentences
from pssa.joint.model import TAGS, JointModel
from pssa.joint.pieces import SPECIAL, WordPieces
from pssa.joint.runtime import Floats, spans_of, with_mentions
from pssa.joint.training import UNKNOWN, JointExample, outputs, read_states

DOMAINS = ("book", "electronics", "fashion", "grocery", "home", "pet", "toy")
_LENGTHS = range(3, 41)  # words of a sentence
_CHUNK = 4000  # sentences whose probabilities are held at a time
_Spans: TypeAlias = tuple[tuple[int, int], ...]
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
        readings = [_Reading(teacher, chunk) for teacher in teachers]
        tags = [[said[0] for said in reading.say([()] * len(chunk))] for reading in readings]
        mean_tags = [np.mean(each, axis=0) for each in zip(*tags, strict=True)]
        aspects = [_aspects(each) for each in mean_tags]
        rest = [[said[1:] for said in reading.say(aspects)] for reading in readings]
        for number, sentence in enumerate(pieces.read(chunk)):
            if len(mean_tags[number]) == len(sentence.words) and (sentence.piece_words != SPECIAL).any():
                labels, overall, attention = (
                    np.mean(each, axis=0) for each in zip(*(row[number] for row in rest), strict=True)
                )
                yield JointExample(sentence, mean_tags[number], aspects[number], labels, attention, overall)


class _Reading:
    """What a teacher says of sentences that its encoder reads once."""

    def __init__(self, teacher: Teacher, texts: Sequence[str]) -> None:
        self._model, self._sentences = teacher.model, teacher.pieces.read(texts)
        self._states = read_states(self._model, self._asked([()] * len(texts)))

    def say(self, aspects: Sequence[_Spans]) -> list[tuple[Floats, Floats, Floats, Floats]]:
        """Return what `outputs` does of the sentences and these aspects of them."""
        return outputs(self._model, self._asked(aspects), self._states)

    def _asked(self, aspects: Sequence[_Spans]) -> list[JointExample]:
        asked = []
        for sentence, spans in zip(self._sentences, aspects, strict=True):
            tags, n = np.ones((len(sentence.words), len(TAGS)), dtype=bool), len(spans)
            asked.append(JointExample(sentence, tags, spans, (UNKNOWN,) * n, ((),) * (n + 1), UNKNOWN))
        return asked


def _aspects(tags: Floats) -> _Spans:
    if not len(tags):
        return ()
    logs = np.log(tags.clip(1e-9))
    opinions = np.stack([logs[:, 0], logs[:, 1], np.logaddexp.reduce(logs[:, 2:], axis=1)], 1)
    return tuple(sorted({*spans_of(opinions, _EASILY), *spans_of(with_mentions(logs), 0.0)}))
