"""What a review is about: evidence, the instances it was made from, evidence to compare with, and the run it lies in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa import models
from pssa.data.evidence import Evidence, ExampleEvidence
from pssa.data.evidence_file import read_evidence
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.read import read
from pssa.errors import InputError
from pssa.runs import Config

__all__ = ["Run", "Sources"]


@dataclass(frozen=True)
class Run:
    """The run in whose directory the evidence lies."""

    path: Path  # of its configuration
    config: Config

    @classmethod
    def beside(cls, evidence: Path, model: str) -> Run | None:
        """The run, if there is one that the evidence can be of."""
        path = evidence.with_name("config.toml")
        try:
            config = Config.from_toml(path)
        except InputError:  # none, or none of ours
            return None
        # Evidence of people names a model that nobody can train.
        return None if model in models.names() and model != config.model else cls(path, config)

    def trained_on(self, corpus: Path) -> bool:
        """Whether the file is the one that its configuration names."""
        train = self.config.data.train
        return bool(train) and train in (str(corpus), str(corpus.resolve()))


@dataclass(frozen=True)
class Sources:
    """What a review is about."""

    evidence: Path
    corpus: Path | None
    second: Path | None  # evidence to compare with
    run: Run | None
    reading: Mapping[str, Any]  # how the corpus is read, as far as anybody has said so
    digest: str  # sha256 of the evidence file
    marks: tuple[Mapping[int, str], ...] | None  # the kind of each word that the second file has, by sentence

    @classmethod
    def read(
        cls, evidence: Path, corpus: Path | None, second: Path | None, reading: Mapping[str, Any]
    ) -> tuple[Sources, Evidence]:
        """Read the files and see that they belong together.

        :param reading: what `pssa.read` takes; None for what is not given.
        """
        found = read_evidence(evidence)
        digest = hashlib.sha256(evidence.read_bytes()).hexdigest()
        run = Run.beside(evidence, found.header.model)
        known = _reading(found, corpus, run) | {name: value for name, value in reading.items() if value is not None}
        if corpus is not None:
            given = {"labels": tuple(sorted({example.label for example in found.examples}))} | known
            _check(evidence, found, read(corpus, **given))
        marks = None if second is None else _marks(found, second)
        return cls(evidence, corpus, second, run, known, digest, marks), found


def _reading(evidence: Evidence, corpus: Path | None, run: Run | None) -> dict[str, Any]:
    """How the corpus was read for mining, as far as the files say: the usual labels are those that are enough."""
    if run is not None:
        data = run.config.data
        known: dict[str, Any] = {"labels": data.labels, "conflict": data.conflict}
        if corpus is not None and run.trained_on(corpus):
            known |= {"format": data.format or None, "columns": data.columns or None}
        return known
    found = {example.label for example in evidence.examples}
    for enough in (DEFAULT_LABELS, (*DEFAULT_LABELS, "conflict")):
        if found.issubset(enough):
            return {"labels": enough}
    return {}


def _check(path: Path, evidence: Evidence, corpus: Corpus) -> None:
    try:
        evidence.check_corpus(corpus)
    except InputError:
        if len(evidence.examples) == len(corpus) and all(map(_is_cut_otherwise, evidence.examples, corpus)):
            what = "its sentences are those of the corpus, cut into other words, as with --unit piece"
            advice = "correct it with pssa evidence edit, or from Python, with Review.open(FILE) without a corpus"
            raise InputError.at(path, None, f"{what}; such evidence cannot be reviewed here: {advice}") from None
        raise


def _is_cut_otherwise(ours: ExampleEvidence, theirs: Example) -> bool:
    texts = tuple(theirs.text[start:end] for start, end in ours.spans)
    aspect = ours.spans[ours.aspect[0]][0], ours.spans[ours.aspect[1] - 1][1]
    return (texts, aspect, ours.label) == (ours.words, theirs.aspect_chars, theirs.label)


def _marks(evidence: Evidence, second: Path) -> tuple[Mapping[int, str], ...]:
    other = read_evidence(second)
    ours, theirs = (
        [(example.spans, example.aspect, example.words) for example in given.examples] for given in (evidence, other)
    )
    if evidence.header.corpus_hash != other.header.corpus_hash or ours != theirs:
        raise InputError.at(second, None, "is of another corpus; compare evidence of the same training file")
    return tuple({finding.word: finding.kind for finding in example.findings} for example in other.examples)
