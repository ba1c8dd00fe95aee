"""Training of taggers: what they learn from, how it is divided and scored, and their metrics.

A tagger is trained and saved as any run is (`pssa.runs.training_run`), with the models `tagger`, on word vectors, and
`encoder_tagger`. Beside its sentences a run keeps no data in `stages`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from pssa import models
from pssa.aspects.spans import AspectSentence, read_sentences
from pssa.aspects.tagger import TAGS, as_corpus, cut_parts, index_sentences, predict_tags, spans_of_part, tags_of
from pssa.data.example import Example
from pssa.data.files import make_folder, write_atomically
from pssa.data.split import hold_out
from pssa.errors import InputError, setting
from pssa.evaluation.metrics import score_spans
from pssa.models import IndexedCorpus
from pssa.runs.directory import RunDirectory
from pssa.runs.featurizer import WordFeaturizer, open_featurizer, read_start, reopen_featurizer, save_start
from pssa.runs.prepared_data import PreparedData
from pssa.runs.resolve import MIN_INSTANCES, check
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.training import Observer

# Chosen on held-out sentences of LAPTOP and REST (results/aspects.md).
_WORD_TRAINING: dict[str, Any] = {"learning_rate": 0.002, "batch_size": 16, "max_epochs": 20}
_ENCODER_TRAINING: dict[str, Any] = {
    "learning_rate": 5e-5,
    "batch_size": 16,
    "max_epochs": 8,
    "clip_norm": 1.0,
    "warmup": 0.1,
}
_ENCODER_SMOOTHING = 3
_LONG_SEARCH = 5  # parts of a search, of which patience is one at least
# The settings that a tagger has; others mean nothing to it.
_SETTINGS = {
    "": "model device seed epochs",
    "data": "train format columns encoding vectors vector_rows dimension encoder dev_fraction",
    "training": "learning_rate head_learning_rate batch_size max_epochs patience smoothing clip_norm schedule warmup"
    " accumulation bucket_batches precision min_steps graphs",
}
Source = str | Path | Sequence[AspectSentence]


def train_aspects(data: Source, out: str | Path, *, observer: Observer | None = None, **settings: Any) -> Path:
    """Train a tagger into the new directory `out`; inputs are checked before anything is written.

    :param data: sentences with all their aspects, or the file that holds them.
    :param settings: as of `pssa.train`, such as `vectors="glove.txt"`, `encoder="FOLDER"`, `epochs=5` or `seed=3`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    from pssa.runs.training_run import write_run

    return write_run(data, out, observer=observer, progress=False, model="tagger", **settings)


@dataclass(frozen=True)
class TaggerData(PreparedData):
    """What a tagger learns from. The labels of its corpus say whether a sentence has aspects."""

    sentences: tuple[AspectSentence, ...] = ()

    def save(self, directory: RunDirectory) -> None:
        """Keep a copy in the run."""
        make_folder(directory.root / "stages")
        content = "".join(json.dumps(sentence.as_dict(), ensure_ascii=False) + "\n" for sentence in self.sentences)
        write_atomically(directory.root / "stages" / "sentences.jsonl", content.encode())
        save_start(directory.root, self.featurizer, self.coverage)

    @classmethod
    def load(cls, directory: RunDirectory, config: Config) -> TaggerData:
        """Read back what `save` wrote."""
        _, coverage, digest = read_start(directory.root)
        sentences = read_sentences(directory.root / "stages" / "sentences.jsonl")
        featurizer = reopen_featurizer(config, directory.root, digest)
        return cls(as_corpus(sentences), None, featurizer, None, coverage, sentences=sentences)

    def index(self, labels: Sequence[str]) -> IndexedCorpus:
        """Return the sentences as tensors; a long one is in several parts."""
        tags = []
        for number, part in self._parts:
            offset = int(part.id)
            aspects = [(start - offset, end - offset) for start, end in self.sentences[number].aspects]
            tags.append(tags_of(part.spans, aspects))
        return index_sentences([part for _, part in self._parts], self.featurizer, tags)

    def hold_out(self, fraction: float, seed: int) -> tuple[list[int], list[int]]:
        """Return the rows to search with, and those that are held out; the parts of a sentence are on one side."""
        held_out = set(hold_out(self.corpus, fraction, seed)[1])
        sides: tuple[list[int], list[int]] = ([], [])
        for row, (number, _) in enumerate(self._parts):
            sides[number in held_out].append(row)
        return sides

    @property
    def score(self) -> Callable[[nn.Module, IndexedCorpus], tuple[float, float]]:
        """Precision and F1 of exact spans."""
        return self._score

    @cached_property
    def _parts(self) -> list[tuple[int, Example]]:
        """The sentences as the model reads them, with their numbers. The id of a part is where it begins in its sentence."""
        return cut_parts(self.corpus.examples, self.featurizer)

    def _score(self, model: nn.Module, dev: IndexedCorpus) -> tuple[float, float]:
        found: dict[int, list[tuple[int, int]]] = {}
        for row, tags in zip(dev.table.index.tolist(), predict_tags(model, dev), strict=True):
            number, part = self._parts[row]
            found.setdefault(number, []).extend(spans_of_part(part, tags))
        scores = score_spans([self.sentences[number].aspects for number in found], found.values())
        return scores.precision, scores.f1


def prepare_tagger(
    data: Any,
    config: Config,
    observer: Observer,
    cache: Path | None = None,
) -> tuple[Config, TaggerData]:
    """Check sentences and settings, fill in the defaults, and open the encoder or the vectors; only the cache is written.

    :param data: sentences, or the file that holds them; None: the file that the configuration names.
    :raises InputError: if they cannot be used.
    """
    if config.model == "tagger" and config.data.encoder:
        config = replace(config, model="encoder_tagger")
    if config.data.from_pretrained:
        start = setting("from_pretrained", option="--from")
        raise InputError(f"a tagger starts from word vectors or an encoder, and not from a run; leave out {start}")
    usual, flat = Config().flat(), config.flat()
    known = {f"{section}.{name}".strip(".") for section, names in _SETTINGS.items() for name in names.split()}
    for name in sorted(flat.keys() & usual.keys() - known):
        if flat[name] not in (usual[name], TAGS):
            raise InputError(f"{name} is not a setting of the model {config.model}; leave it out")
    source = config.data.train if data is None else data
    if source is None:
        raise InputError(f"there is no training data; name a file with {setting('data', option='--train')}")
    file = str(Path(source).resolve()) if isinstance(source, str | Path) else None
    if file is not None:
        read = config.data
        source = read_sentences(file, format=read.format, columns=read.columns, encoding=read.encoding)
    sentences = tuple(source)
    if not all(isinstance(each, AspectSentence) for each in sentences):
        raise InputError("a tagger learns from sentences with all their aspects; give a file, or `AspectSentence`s")
    corpus = as_corpus(sentences)
    if (n_filled := sum(bool(example.spans) for example in corpus)) < MIN_INSTANCES:
        raise InputError(f"the training data has {n_filled} sentences; at least {MIN_INSTANCES} are needed")
    if not any(sentence.aspects for sentence in sentences):
        raise InputError("no training sentence has an aspect; at least one is needed")
    check(config, supervised=False)
    encoder, vectors = config.data.encoder, config.data.vectors
    # Full names, so that the training can be resumed from anywhere; a name that is no folder here is one of the hub's.
    files = replace(
        config.data,
        labels=TAGS,
        train=file,
        encoder=str(Path(encoder).resolve()) if encoder and Path(encoder).is_dir() else encoder,
        vectors=str(Path(vectors).resolve()) if vectors else None,
    )
    options = models.option_defaults(config.model) | config.options
    config = replace(_with_training(config, len(sentences)), data=files, options=options)
    if not config.epochs:
        hold_out(corpus, config.data.dev_fraction, config.seed)
    featurizer, coverage = open_featurizer(config, corpus, observer.on_vectors, cache)
    if isinstance(featurizer, WordFeaturizer):
        featurizer = replace(featurizer, max_words=0)  # long sentences are read in parts
    return config, TaggerData(corpus, None, featurizer, None, coverage, sentences=sentences)


def _with_training(config: Config, n_sentences: int) -> Config:
    """Return the configuration with the defaults of its training; few sentences are seen more often, for enough steps."""
    given, uses_encoder = config.training, models.uses_encoder(config.model)
    usual = {**(_ENCODER_TRAINING if uses_encoder else _WORD_TRAINING), "schedule": "linear"}
    values = {name: value for name, value in usual.items() if getattr(given, name) is None}
    if given.max_epochs is None:
        steps = math.ceil(n_sentences / (given.batch_size or values["batch_size"]))
        values["max_epochs"] = max(math.ceil(given.min_steps / steps), values["max_epochs"])
    patience = max(given.patience, (given.max_epochs or values["max_epochs"]) // _LONG_SEARCH)
    smoothing = min(given.smoothing, _ENCODER_SMOOTHING) if uses_encoder else given.smoothing
    return replace(config, training=replace(given, **values, patience=patience, smoothing=smoothing, graphs=False))


def tagger_metrics(context: RunContext, data: TaggerData, model: nn.Module) -> dict[str, Any]:
    """Return the metrics of a finished training."""
    digest = hashlib.sha256()
    for sentence in data.sentences:
        digest.update(repr((sentence.text, sentence.aspects)).encode())
    best, coverage = context.best, data.coverage
    return {
        "sentences": len(data.sentences),
        "empty": sum(not sentence.aspects for sentence in data.sentences),
        "aspects": sum(len(sentence.aspects) for sentence in data.sentences),
        "corpus_hash": digest.hexdigest(),
        "epochs": best.epoch if best else context.config.known_epochs,
        "dev": {"f1": best.dev_macro_f1, "precision": best.dev_accuracy} if best else None,
        "parameters": models.count_parameters(model),
        "vector_coverage": {"types": coverage.type_share, "tokens": coverage.token_share} if coverage else None,
    }
