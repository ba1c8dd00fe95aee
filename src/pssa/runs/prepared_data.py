"""Training data, prepared once and kept in the run: corpora, and the featurizer of its models.

A resumed run reads these copies, so it continues with the same data even if the user's files have moved or changed. An
encoder's weights are large and are not copied: they must still be where they were, and be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor, nn

from pssa.aspects.find import TAGGERS
from pssa.data.evidence import Evidence
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus
from pssa.data.files import make_folder
from pssa.data.io import read, read_with, write
from pssa.data.opinion_words import evidence_source
from pssa.data.split import folds, hold_out
from pssa.data.tables import Table
from pssa.data.vectors import Coverage
from pssa.errors import InputError, setting
from pssa.models import IndexedCorpus
from pssa.runs import methods
from pssa.runs.calibration import warn_of_few_kept_out
from pssa.runs.directory import RunDirectory, read_tensors, write_tensors
from pssa.runs.featurizer import (
    Featurizer,
    WordFeaturizer,
    choose_window,
    open_featurizer,
    read_start,
    reopen_featurizer,
    save_start,
)
from pssa.runs.resolve import MIN_INSTANCES, check, choose_penalty, resolve
from pssa.runs.settings import Config
from pssa.runs.warm_start import open_warm_start
from pssa.training import Observer

Source = str | Path | Corpus | Table
_CALIBRATION, _START = "calibration.jsonl", "start.safetensors"


@dataclass(frozen=True)
class PreparedData:
    """Everything a training learns from."""

    corpus: Corpus
    dev: Corpus | None
    featurizer: Featurizer
    evidence: Evidence | None  # given by the user instead of mined
    coverage: Coverage | None  # of the corpus by the vector file, where there is one
    calibration: Corpus | None = None  # instances that are kept out of the training to calibrate its probabilities
    start: dict[str, Tensor] | None = None  # weights that models begin with, where they start from a trained run

    @property
    def score(self) -> Callable[[nn.Module, IndexedCorpus], tuple[float, float]] | None:
        """What scores a model on held-out data by two numbers; None: accuracy and macro-F1 do."""
        return None

    def index(self, labels: Sequence[str]) -> IndexedCorpus:
        """Return what is trained on as tensors."""
        return self.featurizer.index(self.corpus, labels)

    def hold_out(self, fraction: float, seed: int) -> tuple[list[int], list[int]]:
        """Return which rows of `index` a search trains on, and which are held out."""
        return hold_out(self.corpus, fraction, seed)

    def save(self, directory: RunDirectory) -> None:
        """Keep a copy in the run."""
        folder = directory.root / "stages"
        make_folder(folder)
        write(self.corpus, folder / "corpus.jsonl")
        if self.dev is not None:
            write(self.dev, folder / "dev.jsonl")
        if self.calibration is not None:
            write(self.calibration, folder / _CALIBRATION)
        if self.start is not None:
            write_tensors(folder / _START, self.start)
        save_start(directory.root, self.featurizer, self.coverage, self.corpus.dropped)
        if self.evidence is not None:
            write_evidence(self.evidence, directory.root / "evidence.jsonl")

    @classmethod
    def load(cls, directory: RunDirectory, config: Config) -> PreparedData:
        """Read back what `save` wrote."""
        folder = directory.root / "stages"
        labels = config.data.labels
        dev_path = folder / "dev.jsonl"
        dropped, coverage, digest = read_start(directory.root)
        corpus = replace(read(folder / "corpus.jsonl", labels=labels), dropped=dropped)
        dev = read(dev_path, labels=labels) if dev_path.is_file() else None
        featurizer = reopen_featurizer(config, directory.root, digest)
        if isinstance(featurizer, WordFeaturizer):
            featurizer = replace(featurizer, max_words=choose_window(corpus))
        evidence_path = directory.root / "evidence.jsonl"
        evidence = read_evidence(evidence_path) if config.supervision.evidence else None
        kept = folder / _CALIBRATION
        calibration = read(kept, labels=labels) if kept.is_file() else None
        start = read_tensors(folder / _START)[0] if config.data.from_pretrained else None
        return cls(corpus, dev, featurizer, evidence, coverage, calibration, start)


def prepare(
    data: Source | None,
    dev: Source | None,
    config: Config,
    observer: Observer | None = None,
    supervised: bool = True,
    cache: Path | None = None,
) -> tuple[Config, PreparedData]:
    """Check settings and data, fill in the defaults that follow from them, and build the featurizer. Nothing is written.

    :param data: None: the file that the configuration names, likewise for `dev`. No test file is ever opened.
    :param supervised: whether a final training follows, so that its settings are checked too.
    :param cache: the folder where rows of vector files are kept for the next run, if any.
    """
    if config.model in TAGGERS:
        raise InputError(f"model {config.model} finds aspects and labels none; choose another model")
    data, train_name = _source(data, config.data.train)
    dev, dev_name = _source(dev, config.data.dev)
    # Development data chooses the number of epochs, even where a fixed one is the default.
    searches = dev is not None and config.training.usual_epochs is None
    training = replace(config.training, usual_epochs=0) if searches else config.training
    given = replace(config, data=replace(config.data, train=train_name, dev=dev_name), training=training)
    config = resolve(given)
    check(config, supervised=supervised)
    if data is None:
        option = setting("data", option="--train")
        raise InputError(f"there is no training data; name a file with {option}, or as data.train in the configuration")
    corpus = _read(data, config)
    dev_corpus = None if dev is None else _read(dev, config)
    evidence_for = evidence_source(config.supervision.evidence) if config.supervision.evidence else None
    corpus, kept = _keep_out(corpus, config)
    # Only now, when every file could be read: it may warn.
    config = resolve(given, corpus)
    _check_corpora(config, corpus, dev_corpus)
    on_vectors, start = (observer or Observer()).on_vectors, None
    if config.data.from_pretrained:
        featurizer, coverage, start = open_warm_start(config, corpus, on_vectors, cache)
    else:
        featurizer, coverage = open_featurizer(config, corpus, on_vectors, cache)
    corpus = _cut(corpus, featurizer)
    dev_corpus, kept = (each and _cut(each, featurizer) for each in (dev_corpus, kept))
    evidence = None if evidence_for is None else evidence_for(corpus)
    if evidence is not None:
        # Words that a person has edited count as much as any.
        mined_by = "" if evidence.header.edits else evidence.header.method
        gamma = choose_penalty(given, mined_by).gamma
        config = replace(config, supervision=replace(config.supervision, gamma=gamma))
    return config, PreparedData(corpus, dev_corpus, featurizer, evidence, coverage, kept, start)


def _cut(corpus: Corpus, featurizer: Featurizer) -> Corpus:
    """Return the corpus with long texts cut to the window that the model reads."""
    return replace(corpus, examples=tuple(featurizer.cut(corpus)))


def _keep_out(corpus: Corpus, config: Config) -> tuple[Corpus, Corpus | None]:
    """Return the instances to train on, and those to calibrate with, where a part is kept out for that."""
    if config.training.calibrate != "held_out":
        return corpus, None
    if config.supervision.evidence:
        how = setting("calibrate", "held_out")
        raise InputError(
            f"{setting('evidence')} covers all of the training data, but {how} holds a part out; leave out one"
        )
    rest, kept = hold_out(corpus, config.training.calibration_fraction, config.seed)
    warn_of_few_kept_out(len(kept), len(corpus))
    return replace(corpus, examples=corpus.select(rest).examples), corpus.select(kept)


def _source(given: Source | None, configured: str | None) -> tuple[Source | None, str | None]:
    """Return what to read, and the file's name for the configuration; None for a value that has none."""
    if given is None:
        return configured, configured
    if isinstance(given, (str, Path)):
        return str(given) or None, str(given) or None
    return given, None


def _read(source: Source, config: Config) -> Corpus:
    return source if isinstance(source, Corpus) else read_with(config.read_options, source)


def _check_corpora(config: Config, corpus: Corpus, dev: Corpus | None) -> None:
    """Refuse instances that nothing can be learned from.

    :raises InputError: if they are too few, also for the parts they are divided into, if one has no label that is declared, or
        if all have the same.
    """
    if len(corpus) < MIN_INSTANCES:
        found = "1 instance" if len(corpus) == 1 else f"{len(corpus)} instances"
        raise InputError(f"the training data has {found}; at least {MIN_INSTANCES} are needed")
    _check_labels(corpus, config, "training")
    if len({example.label for example in corpus}) < 2:
        raise InputError(f"every training instance is {corpus[0].label}; at least two labels must occur")
    if dev is not None:
        _check_labels(dev, config, "development")
    elif config.known_epochs == 0:
        hold_out(corpus, config.data.dev_fraction, config.seed)
    if n_folds := methods.find(config.method).n_folds(config):
        folds(corpus, n_folds, config.seed)


def _check_labels(corpus: Corpus, config: Config, kind: str) -> None:
    if not corpus:
        raise InputError(f"the {kind} data is empty; at least one instance is needed")
    for example in corpus:
        if example.label is None:
            raise InputError(f"instance {example.id} of the {kind} data has no label; every instance needs one")
        if example.label not in config.data.labels:
            known = ", ".join(config.data.labels)
            raise InputError(
                f"instance {example.id} of the {kind} data is {example.label!r}, which is not one of {known}"
            )
