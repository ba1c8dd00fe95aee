"""What training reads, prepared once and kept in the run: corpora, vocabulary, word vectors.

A resumed run reads these copies, so it goes on with the same data even if the user's files have moved or changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from pssa.data.evidence import Evidence
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus
from pssa.data.read import read
from pssa.data.vector_cache import read_vectors_once
from pssa.data.vectors import Coverage, embedding_matrix, load_matrix, save_matrix
from pssa.data.vocabulary import Vocabulary
from pssa.data.write import write
from pssa.errors import InputError
from pssa.models import WordTable
from pssa.runs.config import Config
from pssa.runs.directory import RunDirectory, read_json, write_json

__all__ = ["Materials"]

_LEAST_INSTANCES = 10


@dataclass(frozen=True)
class Materials:
    """Everything a training learns from."""

    corpus: Corpus
    dev: Corpus | None
    vocabulary: Vocabulary
    table: WordTable
    evidence: Evidence | None  # given by the user instead of mined
    coverage: Coverage | None  # of the corpus by the vector file, where there is one

    @classmethod
    def prepare(
        cls,
        config: Config,
        corpus: Corpus,
        dev: Corpus | None,
        observer: Callable[[int, int], None] | None = None,
        cache: Path | None = None,
    ) -> Materials:
        """Build vocabulary and embeddings for a corpus; no test file is ever looked at.

        :param observer: is told how many bytes of the vector file are read, of how many.
        :param cache: the folder where rows of vector files are kept for the next run, if any.
        """
        _check(corpus, config)
        if dev is not None:
            _check_labels(dev, config, "development")
        evidence = None
        if config.supervision.evidence:
            evidence = read_evidence(config.supervision.evidence)
            evidence.check_corpus(corpus)
        words = [word for example in corpus for word in example.words]
        vectors = None
        if config.data.vectors:
            rows = config.data.vector_rows
            vectors = read_vectors_once(config.data.vectors, set(words), cache, extra_rows=rows, observer=observer)
        vocabulary = Vocabulary.build(words, vectors.words if vectors else ())
        dimension = vectors.dimension if vectors else config.data.dimension
        matrix, coverage = embedding_matrix(vocabulary, vectors, dimension, config.seed)
        table = WordTable(torch.from_numpy(matrix), vocabulary.n_trained)
        return cls(corpus, dev, vocabulary, table, evidence, coverage if vectors else None)

    def save(self, directory: RunDirectory) -> None:
        """Keep a copy in the run."""
        folder = directory.root / "stages"
        folder.mkdir(exist_ok=True)
        write(self.corpus, folder / "corpus.jsonl")
        if self.dev is not None:
            write(self.dev, folder / "dev.jsonl")
        save_matrix(folder / "vectors.safetensors", self.table.matrix.numpy())
        coverage = asdict(self.coverage) if self.coverage else None
        write_json(folder / "materials.json", {"dropped": dict(self.corpus.dropped), "coverage": coverage})
        if self.evidence is not None:
            write_evidence(self.evidence, directory.root / "evidence.jsonl")
        self.vocabulary.save(directory.root / "vocabulary.json")

    @classmethod
    def load(cls, directory: RunDirectory, config: Config) -> Materials:
        """Read back what `save` kept."""
        folder = directory.root / "stages"
        labels = config.data.labels
        dev_path = folder / "dev.jsonl"
        vocabulary = Vocabulary.load(directory.root / "vocabulary.json")
        matrix = load_matrix(folder / "vectors.safetensors")
        known = read_json(folder / "materials.json")
        corpus = replace(read(folder / "corpus.jsonl", labels=labels), dropped=known["dropped"])
        coverage = Coverage(**known["coverage"]) if known["coverage"] else None
        dev = read(dev_path, labels=labels) if dev_path.is_file() else None
        table = WordTable(torch.from_numpy(matrix), vocabulary.n_trained)
        evidence_path = directory.root / "evidence.jsonl"
        evidence = read_evidence(evidence_path) if config.supervision.evidence else None
        return cls(corpus, dev, vocabulary, table, evidence, coverage)


def _check(corpus: Corpus, config: Config) -> None:
    if len(corpus) < _LEAST_INSTANCES:
        raise InputError(f"the training data has {len(corpus)} instances; at least {_LEAST_INSTANCES} are needed")
    _check_labels(corpus, config, "training")
    if len({example.label for example in corpus}) < 2:
        raise InputError(f"every training instance is {corpus[0].label}; at least two labels must occur")


def _check_labels(corpus: Corpus, config: Config, kind: str) -> None:
    if not corpus:
        raise InputError(f"the {kind} data is empty; at least one instance is needed")
    for example in corpus:
        if example.label is None:
            raise InputError(f"instance {example.id} of the {kind} data has no label; every one needs one")
        if example.label not in config.data.labels:
            known = ", ".join(config.data.labels)
            raise InputError(
                f"instance {example.id} of the {kind} data is {example.label!r}, which is not one of {known}"
            )
