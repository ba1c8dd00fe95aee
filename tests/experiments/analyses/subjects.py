"""Subjects of looks: scripted models that attend as they are told, on sentences about a screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tests.mining.toys import scripted

from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.opinion_words import OpinionRow, read_opinion_words
from pssa.data.vocabulary import Vocabulary
from pssa.experiments.analyses import Subject
from pssa.models import WordTable
from pssa.runs.classifier import Classifier
from pssa.runs.featurizer import WordFeaturizer


def corpus(*sentences: str, labels: Sequence[str] = ()) -> Corpus:
    """Every aspect is the word `screen`; all are positive unless said otherwise."""
    given = labels or ["positive"] * len(sentences)
    return Corpus(
        tuple(
            Example.from_text(text, (text.index("screen"), text.index("screen") + 6), label=label, id=str(number))
            for number, (text, label) in enumerate(zip(sentences, given, strict=True))
        )
    )


def classifier(attention: Sequence[Sequence[float]], classes: Sequence[int], *corpora: Corpus) -> Classifier:
    """A model that attends and answers by the place of an example in its corpus."""
    words = Vocabulary.build([word for each in corpora for example in each for word in example.words])
    featurizer = WordFeaturizer(words, WordTable(torch.zeros(len(words), 1), words.n_trained))
    return Classifier("memnet", DEFAULT_LABELS, featurizer, (scripted(attention, classes),), (1.0,))


def subject(
    train: Corpus, test: Corpus, model: Classifier, opinion_rows: Sequence[OpinionRow] | None = None
) -> Subject:
    return Subject(model, train, test, opinion_rows)


def opinion_rows(folder: Path, given: Corpus, *marked: Sequence[str]) -> tuple[OpinionRow, ...]:
    """A row for each sentence, in which these words are marked."""
    return read_opinion_words(write_opinion_words(folder / "words.tsv", given, *marked))


def write_opinion_words(path: Path, given: Corpus, *marked: Sequence[str]) -> Path:
    """The same as a file."""
    lines = ["s_id\tsentence\ttarget_tags\topinion_words_tags"]
    for example, words in zip(given, marked, strict=True):
        aspect = [place in range(*example.aspect) for place in range(len(example.words))]
        tags = (
            " ".join(f"{word}\\{'B' if mark else 'O'}" for word, mark in zip(example.words, marks, strict=True))
            for marks in (aspect, [word in words for word in example.words])
        )
        lines.append("\t".join(["1", " ".join(example.words), *tags]))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
