"""What training reads, prepared once and kept in the run: corpora, and the words and vectors or the encoder of its models.

A resumed run reads these copies, so it goes on with the same data even if the user's files have moved or changed. An encoder's
weights are large and are not copied: they must still be where they were, and be the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from pssa import models
from pssa.data.evidence import Evidence
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus
from pssa.data.read import read
from pssa.data.validation import format_error
from pssa.data.vector_cache import read_vectors_once
from pssa.data.vectors import Coverage, embedding_matrix, load_matrix, save_matrix
from pssa.data.vocabulary import Vocabulary
from pssa.data.write import write
from pssa.errors import InputError
from pssa.models import Pretrained, WordTable
from pssa.runs.config import Config
from pssa.runs.directory import RunDirectory, read_json, write_json
from pssa.runs.featurizer import Featurizer, PieceFeaturizer, WordFeaturizer

__all__ = ["PreparedData", "check_training_data"]

_LEAST_INSTANCES = 10


@dataclass(frozen=True)
class PreparedData:
    """Everything a training learns from."""

    corpus: Corpus
    dev: Corpus | None
    featurizer: Featurizer
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
    ) -> PreparedData:
        """Check the data, and build or open what its models read; no test file is ever looked at.

        :param observer: is told how many bytes of the vector file are read, of how many.
        :param cache: the folder where rows of vector files are kept for the next run, if any.
        """
        check_training_data(corpus, config)
        if dev is not None:
            _check_labels(dev, config, "development")
        featurizer, coverage = _open_featurizer(config, corpus, observer, cache)
        corpus = replace(corpus, examples=tuple(featurizer.cut(corpus)))
        dev = dev and replace(dev, examples=tuple(featurizer.cut(dev)))
        evidence = None
        if config.supervision.evidence:
            evidence = read_evidence(config.supervision.evidence)
            evidence.check_corpus(corpus)
        return cls(corpus, dev, featurizer, evidence, coverage)

    def save(self, directory: RunDirectory) -> None:
        """Keep a copy in the run."""
        folder = directory.root / "stages"
        folder.mkdir(exist_ok=True)
        write(self.corpus, folder / "corpus.jsonl")
        if self.dev is not None:
            write(self.dev, folder / "dev.jsonl")
        table = self.featurizer.table
        if isinstance(table, WordTable):
            save_matrix(folder / "vectors.safetensors", table.matrix.numpy())
        known = {
            "dropped": dict(self.corpus.dropped),
            "coverage": asdict(self.coverage) if self.coverage else None,
            "encoder": table.digest() if isinstance(table, Pretrained) else None,
        }
        write_json(folder / "materials.json", known)
        if self.evidence is not None:
            write_evidence(self.evidence, directory.root / "evidence.jsonl")
        self.featurizer.save(directory.root)

    @classmethod
    def load(cls, directory: RunDirectory, config: Config) -> PreparedData:
        """Read back what `save` kept."""
        folder = directory.root / "stages"
        labels = config.data.labels
        dev_path = folder / "dev.jsonl"
        known = read_json(folder / "materials.json")
        try:
            dropped = {str(reason): int(count) for reason, count in known["dropped"].items()}
            coverage = Coverage(**known["coverage"]) if known["coverage"] else None
            digest = known.get("encoder")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{folder / 'materials.json'} is damaged: {format_error(error)}; start the run again"
            ) from error
        corpus = replace(read(folder / "corpus.jsonl", labels=labels), dropped=dropped)
        dev = read(dev_path, labels=labels) if dev_path.is_file() else None
        featurizer = _reopen_featurizer(config, directory.root, digest)
        evidence_path = directory.root / "evidence.jsonl"
        evidence = read_evidence(evidence_path) if config.supervision.evidence else None
        return cls(corpus, dev, featurizer, evidence, coverage)


def _open_featurizer(
    config: Config, corpus: Corpus, observer: Callable[[int, int], None] | None, cache: Path | None
) -> tuple[Featurizer, Coverage | None]:
    reads, data = models.reads(config.model), config.data
    if reads != "words":
        featurizer = PieceFeaturizer(Pretrained.open(data.encoder), reads == "pairs", data.max_pieces, data.unit)
        # Weights that are incomplete, or more pieces than the encoder can read, are found now and not in the first stage.
        models.build(config.model, featurizer.table, len(config.data.labels), config.options, config.seed)
        featurizer.table.cutter(featurizer.pair, featurizer.max_pieces)
        return featurizer, None
    words = [word for example in corpus for word in example.words]
    vectors = None
    if data.vectors:
        vectors = read_vectors_once(data.vectors, set(words), cache, extra_rows=data.vector_rows, observer=observer)
    vocabulary = Vocabulary.build(words, vectors.words if vectors else ())
    dimension = vectors.dimension if vectors else data.dimension
    matrix, coverage = embedding_matrix(vocabulary, vectors, dimension, config.seed)
    table = WordTable(torch.from_numpy(matrix), vocabulary.n_trained)
    return WordFeaturizer(vocabulary, table), coverage if vectors else None


def _reopen_featurizer(config: Config, root: Path, digest: str | None) -> Featurizer:
    reads, data = models.reads(config.model), config.data
    if reads == "words":
        vocabulary = Vocabulary.load(root / "vocabulary.json")
        matrix = load_matrix(root / "stages" / "vectors.safetensors")
        return WordFeaturizer(vocabulary, WordTable(torch.from_numpy(matrix), vocabulary.n_trained))
    try:
        found = Pretrained.open(data.encoder)
    except InputError as error:
        raise InputError(f"{root} needs its encoder again to go on, at {data.encoder}: {error}") from error
    if found.digest() != digest:
        raise InputError(f"the weights of {data.encoder} are not those the run began with; put the old ones back")
    featurizer = PieceFeaturizer.load(root, reads == "pairs", data.max_pieces, data.unit)
    return replace(featurizer, table=replace(featurizer.table, weights=found.weights))


def check_training_data(corpus: Corpus, config: Config) -> None:
    """Refuse instances that nothing can be learned from.

    :raises InputError: if they are too few, one of them has no label that is declared, or all have the same.
    """
    if len(corpus) < _LEAST_INSTANCES:
        found = "1 instance" if len(corpus) == 1 else f"{len(corpus)} instances"
        raise InputError(f"the training data has {found}; at least {_LEAST_INSTANCES} are needed")
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
