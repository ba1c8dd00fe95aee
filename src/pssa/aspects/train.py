"""Training of taggers, alone or in the run of a classifier.

`train_aspects` trains a tagger into a new directory, and `resume_aspects` continues a training to the same weights.
`train_with_tagger` trains a classifier, and in `RUN/aspects` a tagger, one after the other; `resume_run` continues both. What the
tagger learns from is in the run before the classifier is trained, so that an interrupted run has all it needs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from pssa import models
from pssa.aspects.find import FOLDER, has_tagger, open_tagger
from pssa.aspects.run import TaggerConfig, write_card
from pssa.aspects.spans import AspectSentence, lists_all_aspects, read_sentences
from pssa.aspects.tagger import PRESENCE, as_example, index_sentences, predict_tags, spans_of, tags_of
from pssa.aspects.tagger_finder import cut_parts
from pssa.data.example import Corpus, Example
from pssa.data.files import make_folder, write_atomically
from pssa.data.split import hold_out
from pssa.data.vectors import CACHE_FOLDER, Coverage
from pssa.errors import InputError, setting
from pssa.evaluation.metrics import score_spans
from pssa.models import IndexedCorpus, Pretrained
from pssa.runs.devices import choose_device
from pssa.runs.directory import FileStore, RunDirectory, write_json, write_tensors
from pssa.runs.featurizer import (
    Featurizer,
    PieceFeaturizer,
    build_word_featurizer,
    read_start,
    reopen_encoder,
    reopen_word_featurizer,
    save_start,
)
from pssa.runs.prepared_data import Source
from pssa.runs.run_names import resolve_start
from pssa.runs.settings import Config, DataConfig
from pssa.runs.training_run import finish_run, write_run
from pssa.runs.warm_start import merge_settings
from pssa.training import (
    CheckpointStore,
    EpochRecord,
    NullObserver,
    Observer,
    Task,
    Team,
    best_epoch,
    fit,
    search_epochs,
)

_MIN_SENTENCES = 10


def train_aspects(
    data: str | Path | Sequence[AspectSentence],
    out: str | Path,
    *,
    observer: Observer | None = None,
    on_vectors: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Path:
    """Train a tagger into the new directory `out`; inputs are checked before anything is written.

    :param data: sentences with all their aspects, or the file that holds them.
    :param settings: fields of `TaggerConfig`, such as `vectors="glove.txt"`, `encoder="FOLDER"`, `epochs=5` or `seed=3`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    RunDirectory.refuse_taken(Path(out))
    sentences = read_sentences(data) if isinstance(data, str | Path) else tuple(data)
    training = prepare_training(sentences, settings, on_vectors, Path(out).parent / CACHE_FOLDER)
    with RunDirectory.created(Path(out)) as directory:
        training.begin(directory)
    directory = RunDirectory(Path(out))
    with directory.locked():
        return training.carry_out(directory, observer or NullObserver())


def resume_aspects(path: str | Path, observer: Observer | None = None) -> Path:
    """Finish an interrupted training; a finished one is left as it is."""
    directory = open_tagger(Path(path))
    with directory.locked():
        if directory.finished:
            return directory.root
        training = TaggerTraining.load(directory.root)
        return training.carry_out(directory, observer or NullObserver())


def train_with_tagger(
    data: Source | None,
    out: str | Path,
    *,
    aspects_train: str | Path | Sequence[AspectSentence] | None = None,
    tagger: Mapping[str, Any] | None = None,
    config: Config | None = None,
    **settings: Any,
) -> Path:
    """Train a classifier into the new directory `out`, as `pssa.train` does, and a tagger into `out/aspects`.

    Both start from the same encoder or the same vectors. `resume_run` finishes an interrupted run.

    :param aspects_train: sentences with all their aspects, or the file that holds them; None: the training file of the
        classifier, which must list all aspects of each sentence.
    :param tagger: settings of the tagger, such as `{"epochs": 5}`; see `train_aspects`.
    :param settings: those of `pssa.train`.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    RunDirectory.refuse_taken(Path(out))
    watch = {name: settings.pop(name) for name in ("dev", "observer", "on_vectors", "progress") if name in settings}
    whole = merge_settings(config or Config(), settings)
    file = data if isinstance(data, str | Path) else whole.data.train if data is None else None
    training = prepare_tagger(whole, aspects_train, file, Path(out), tagger)
    write_run(data, out, config=config, on_begin=training.begin_within, **watch, **settings)
    if Team.from_environment().is_main:
        resume_aspects(Path(out) / FOLDER, watch.get("observer"))
    return Path(out)


def resume_run(run: str | Path, observer: Observer | None = None) -> Path:
    """Finish an interrupted run, and the tagger in it if it has one."""
    root = finish_run(run, observer)
    if has_tagger(root) and Team.from_environment().is_main:
        resume_aspects(root / FOLDER, observer)
    return root


def prepare_tagger(
    config: Config,
    aspects_train: str | Path | Sequence[AspectSentence] | None,
    file: str | Path | None,
    out: Path,
    settings: Mapping[str, Any] | None = None,
) -> TaggerTraining:
    """Prepare the tagger of a new run; nothing is written but the cache.

    :param config: of the classifier.
    :param file: the training data of the classifier, if that is a file.
    :raises InputError: if the file may leave out aspects, or something cannot be used.
    """
    data = config.data
    if isinstance(aspects_train, str | Path):
        sentences = read_sentences(aspects_train)
    elif aspects_train is not None:
        sentences = tuple(aspects_train)
    elif file is not None and lists_all_aspects(file, data.format):
        sentences = read_sentences(file, format=data.format, encoding=data.encoding)
    else:
        what = "a tagger learns from sentences with all their aspects, which these data may not have"
        if file is not None:
            what = f"{file}: has one aspect a line and may leave some out, so no tagger can learn from it"
        alone = setting("pssa.aspects.train_aspects", option="pssa aspects train")
        named = setting("aspects_train", "FILE", option="--find-aspects FILE")
        advice = f"name a file that does with {named}, or train a tagger on its own with {alone}"
        raise InputError(f"{what}; {advice}")
    start = {"encoder": data.encoder} if models.uses_encoder(config.model) else {"vectors": data.vectors}
    known = {**start, "seed": config.seed, "device": config.device, "dimension": data.dimension}
    return prepare_training(sentences, known | dict(settings or {}), cache=out.parent / CACHE_FOLDER)


def prepare_training(
    sentences: Sequence[AspectSentence],
    settings: Mapping[str, Any],
    on_vectors: Callable[[int, int], None] | None = None,
    cache: Path | None = None,
) -> TaggerTraining:
    """Check the sentences and the settings, and open the encoder or the vectors; nothing is written but the cache.

    :param cache: folder of the vectors that were read before; None: a temporary one.
    :raises InputError: if they cannot be used.
    """
    known = [each.name for each in fields(TaggerConfig)]
    if unknown := sorted(set(settings) - set(known)):
        raise InputError(f"unknown setting {unknown[0]!r}; known: {', '.join(known)}")
    config = TaggerConfig(**settings)
    choose_device(config.device)
    examples = tuple(map(as_example, sentences))
    if (n_filled := sum(bool(example.spans) for example in examples)) < _MIN_SENTENCES:
        raise InputError(f"the training data has {n_filled} sentences; at least {_MIN_SENTENCES} are needed")
    if not any(sentence.aspects for sentence in sentences):
        raise InputError("no training sentence has an aspect; at least one is needed")
    config = config.resolve(len(sentences))
    if not config.epochs:
        hold_out(Corpus(examples, PRESENCE), config.dev_fraction, config.seed)
    featurizer: Featurizer
    # Full names, so that the training can be resumed from anywhere; a name that is no folder here is one of the hub's.
    if config.encoder is not None:
        if Path(config.encoder).is_dir():
            config = replace(config, encoder=str(Path(config.encoder).resolve()))
        featurizer, coverage = PieceFeaturizer(Pretrained.open(config.encoder or ""), pair=False), None
        config.build(featurizer.table)  # incomplete weights are found now and not in the first stage
    else:
        vectors = None if config.vectors is None else str(resolve_start(config.vectors).resolve())
        words = [word for example in examples for word in example.words]
        data = DataConfig(vectors=vectors, dimension=config.dimension)
        featurizer, coverage = build_word_featurizer(words, data, config.seed, on_vectors, cache)
        config = replace(config, vectors=vectors, dimension=featurizer.table.dimension)
    return TaggerTraining(config, tuple(sentences), featurizer, coverage)


@dataclass
class TaggerTraining:
    """A training of one tagger, new or resumed."""

    config: TaggerConfig
    sentences: tuple[AspectSentence, ...]
    featurizer: Featurizer
    coverage: Coverage | None  # of the training words by the vector file

    def begin(self, directory: RunDirectory) -> None:
        """Write what a resumed training needs."""
        make_folder(directory.root / "stages")
        lines = (
            {
                "id": sentence.id,
                "sentence_id": sentence.sentence_id,
                "text": sentence.text,
                "aspects": [{"from": start, "to": end} for start, end in sentence.aspects],
            }
            for sentence in self.sentences
        )
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_atomically(directory.root / "stages" / "sentences.jsonl", content.encode())
        save_start(directory.root, self.featurizer, self.coverage)
        self.config.save(directory.root)

    def begin_within(self, run: RunDirectory) -> None:
        """Write the same into the run of a classifier."""
        make_folder(run.root / FOLDER)
        self.begin(RunDirectory(run.root / FOLDER))

    @classmethod
    def load(cls, root: Path) -> TaggerTraining:
        """Read what `begin` wrote."""
        config = TaggerConfig.load(root)
        _, coverage, digest = read_start(root)
        sentences = read_sentences(root / "stages" / "sentences.jsonl")
        if config.encoder is None:
            return cls(config, sentences, reopen_word_featurizer(root), coverage)
        featurizer = PieceFeaturizer.load(root, pair=False, max_pieces=None, unit="word")
        return cls(config, sentences, reopen_encoder(featurizer, config.encoder, root, digest), coverage)

    def carry_out(self, directory: RunDirectory, observer: Observer) -> Path:
        """Choose the number of epochs, train on all sentences, and write the tagger; `metrics.json` comes last."""
        root, config, history = directory.root, self.config, list[EpochRecord]()
        epochs, horizon = config.epochs, 0
        if not epochs:
            store = FileStore(directory.stage_folder("search") / "checkpoint.safetensors")
            epochs, history = self.search(store, observer)
            # A number of epochs that a search found holds under the schedule of the search.
            horizon = config.settings.max_epochs
        best = history[best_epoch(history, config.settings.smoothing) - 1] if history else None
        model = self._new_model()
        store = FileStore(directory.stage_folder("final") / "checkpoint.safetensors")
        task = Task(self._corpus, config.seed, "final", horizon=horizon)
        history = [*history, *fit(model, task, config.settings, epochs, store, observer)]
        observer.on_stage_end("final")
        self.featurizer.save(root)
        config.save(root)
        write_tensors(root / "model.safetensors", dict(model.state_dict()))
        lines = "".join(json.dumps(record.as_dict()) + "\n" for record in history)
        write_atomically(root / "history.jsonl", lines.encode())
        digest = hashlib.sha256()
        for sentence in self.sentences:
            digest.update(repr((sentence.text, sentence.aspects)).encode())
        coverage = self.coverage
        metrics = {
            "sentences": len(self.sentences),
            "empty": sum(not sentence.aspects for sentence in self.sentences),
            "aspects": sum(len(sentence.aspects) for sentence in self.sentences),
            "corpus_hash": digest.hexdigest(),
            "epochs": epochs,
            "dev": {"f1": best.dev_macro_f1, "precision": best.dev_accuracy} if best else None,
            "parameters": models.count_parameters(model),
            "vector_coverage": {"types": coverage.type_share, "tokens": coverage.token_share} if coverage else None,
        }
        write_card(root / "README.md", config, metrics)
        write_json(root / "metrics.json", metrics)
        directory.prune()
        return root

    def search(
        self, store: CheckpointStore | None = None, observer: Observer | None = None
    ) -> tuple[int, list[EpochRecord]]:
        """Return the number of epochs that is best on held-out sentences, and what was measured after each epoch."""
        observer = observer or NullObserver()
        examples = tuple(map(as_example, self.sentences))
        held_out = set(hold_out(Corpus(examples, PRESENCE), self.config.dev_fraction, self.config.seed)[1])
        # The parts of a sentence are on one side.
        sides: tuple[list[int], list[int]] = ([], [])
        for row, (number, _) in enumerate(self._parts):
            sides[number in held_out].append(row)
        train, dev = (self._corpus.select(rows) for rows in sides)
        task = Task(train, self.config.seed, "search", dev=dev, score=self._score)
        found = search_epochs(self._new_model(), task, self.config.settings, store, observer)
        observer.on_stage_end("search")
        return found

    def _new_model(self) -> nn.Module:
        return self.config.build(self.featurizer.table).to(choose_device(self.config.device))

    @cached_property
    def _parts(self) -> list[tuple[int, Example]]:
        """The sentences as the model reads them, with their numbers; a long one is in several parts.

        The id of a part is where it begins in its sentence.
        """
        return cut_parts([as_example(sentence) for sentence in self.sentences], self.featurizer)

    @cached_property
    def _corpus(self) -> IndexedCorpus:
        tags = []
        for number, part in self._parts:
            offset = int(part.id)
            aspects = [(start - offset, end - offset) for start, end in self.sentences[number].aspects]
            tags.append(tags_of(part.spans, aspects))
        return index_sentences([part for _, part in self._parts], self.featurizer, tags)

    def _score(self, model: nn.Module, dev: IndexedCorpus) -> tuple[float, float]:
        """Return precision and F1 of exact spans on held-out sentences."""
        found: dict[int, list[tuple[int, int]]] = {}
        for row, tags in zip(dev.table.index.tolist(), predict_tags(model, dev), strict=True):
            number, part = self._parts[row]
            offset = int(part.id)
            spans = [(start + offset, end + offset) for start, end in spans_of(tags, part.spans)]
            found.setdefault(number, []).extend(spans)
        scores = score_spans([self.sentences[number].aspects for number in found], found.values())
        return scores.precision, scores.f1
