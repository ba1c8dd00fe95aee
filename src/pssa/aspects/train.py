"""`train_aspects` trains a tagger into a new directory, `resume_aspects` continues a training to the same weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from pssa import models
from pssa.aspects.find import FOLDER, open_tagger
from pssa.aspects.run import TaggerConfig, save_tagger, with_dimension, write_card
from pssa.aspects.spans import AspectSentence, read_sentences
from pssa.aspects.tagger import PRESENCE, as_example, index_sentences, predict_tags, spans_of, tags_of
from pssa.aspects.tagger_finder import cut_parts
from pssa.data.example import Corpus, Example
from pssa.data.files import make_folder, write_atomically
from pssa.data.split import hold_out
from pssa.data.validation import format_error
from pssa.data.vectors import CACHE_FOLDER, Coverage, save_matrix
from pssa.errors import InputError
from pssa.evaluation.metrics import score_spans
from pssa.models import IndexedCorpus, Pretrained, WordTable
from pssa.runs.devices import choose_device
from pssa.runs.directory import FileStore, RunDirectory, read_json, write_json
from pssa.runs.featurizer import (
    Featurizer,
    PieceFeaturizer,
    build_word_featurizer,
    reopen_encoder,
    reopen_word_featurizer,
)
from pssa.runs.run_names import resolve_start
from pssa.runs.settings import DataConfig
from pssa.training import CheckpointStore, EpochRecord, NullObserver, Observer, Task, best_epoch, fit, search_epochs

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
    directory = RunDirectory.create(Path(out), training.begin)
    with directory.locked():
        return training.carry_out(directory, observer or NullObserver())


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
    config = _config(settings)
    choose_device(config.device)
    config = config.resolve(len(sentences))
    _check(sentences, config)
    featurizer, coverage = _open_featurizer(config, sentences, on_vectors, cache)
    return TaggerTraining(with_dimension(config, featurizer), tuple(sentences), featurizer, coverage)


def resume_aspects(path: str | Path, observer: Observer | None = None) -> Path:
    """Finish an interrupted training; a finished one is left as it is."""
    directory = open_tagger(Path(path))
    with directory.locked():
        if directory.finished:
            return directory.root
        training = TaggerTraining.load(directory.root)
        return training.carry_out(directory, observer or NullObserver())


@dataclass
class TaggerTraining:
    """A training of one tagger, new or resumed."""

    config: TaggerConfig
    sentences: tuple[AspectSentence, ...]
    featurizer: Featurizer
    coverage: Coverage | None  # of the training words by the vector file

    def begin(self, directory: RunDirectory) -> None:
        """Write what a resumed training needs."""
        folder = directory.root / "stages"
        make_folder(folder)
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
        write_atomically(folder / "sentences.jsonl", content.encode())
        table = self.featurizer.table
        if isinstance(table, WordTable):
            save_matrix(folder / "vectors.safetensors", table.matrix.numpy())
        known = {
            "coverage": asdict(self.coverage) if self.coverage else None,
            "encoder": table.digest() if isinstance(table, Pretrained) else None,
        }
        write_json(folder / "materials.json", known)
        self.featurizer.save(directory.root)
        self.config.save(directory.root)

    def begin_within(self, run: RunDirectory) -> None:
        """Write the same into the run of a classifier."""
        make_folder(run.root / FOLDER)
        self.begin(RunDirectory(run.root / FOLDER))

    @classmethod
    def load(cls, root: Path) -> TaggerTraining:
        """Read what `begin` wrote."""
        config, folder = TaggerConfig.load(root), root / "stages"
        known = read_json(folder / "materials.json")
        try:
            coverage = Coverage(**known["coverage"]) if known["coverage"] else None
            digest = known["encoder"]
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{folder / 'materials.json'} is damaged: {format_error(error)}; start the training again"
            ) from error
        sentences = read_sentences(folder / "sentences.jsonl")
        if config.encoder is None:
            return cls(config, sentences, reopen_word_featurizer(root), coverage)
        featurizer = PieceFeaturizer.load(root, pair=False, max_pieces=None, unit="word")
        return cls(config, sentences, reopen_encoder(featurizer, config.encoder, root, digest), coverage)

    def carry_out(self, directory: RunDirectory, observer: Observer) -> Path:
        """Choose the number of epochs, train on all sentences, and write the tagger; `metrics.json` comes last."""
        root, history = directory.root, list[EpochRecord]()
        epochs, horizon = self.config.epochs, 0
        if not epochs:
            store = FileStore(directory.stage_folder("search") / "checkpoint.safetensors")
            epochs, history = self.search(store, observer)
            # A number of epochs that a search found holds under the schedule of the search.
            horizon = self.config.settings.max_epochs
        searched = best_epoch(history, self.config.settings.smoothing) if history else 0
        best = history[searched - 1] if searched else None
        model = self._new_model()
        store = FileStore(directory.stage_folder("final") / "checkpoint.safetensors")
        task = Task(self._corpus, self.config.seed, "final", horizon=horizon)
        history = [*history, *fit(model, task, self.config.settings, epochs, store, observer)]
        observer.on_stage_end("final")
        save_tagger(root, self.config, model, self.featurizer)
        lines = "".join(json.dumps(record.as_dict()) + "\n" for record in history)
        write_atomically(root / "history.jsonl", lines.encode())
        metrics = self._metrics(model, epochs, best)
        write_card(root / "README.md", self.config, metrics)
        write_json(root / "metrics.json", metrics)
        _remove_restart_points(root)
        return root

    def search(
        self, store: CheckpointStore | None = None, observer: Observer | None = None
    ) -> tuple[int, list[EpochRecord]]:
        """Return the number of epochs that is best on held-out sentences, and what was measured after each epoch."""
        trained, held_out = self._division()
        corpus, observer = self._corpus, observer or NullObserver()
        dev = corpus.select(held_out)
        task = Task(corpus.select(trained), self.config.seed, "search", dev=dev, score=self._score)
        found = search_epochs(self._new_model(), task, self.config.settings, store, observer)
        observer.on_stage_end("search")
        return found

    def _new_model(self) -> nn.Module:
        return self.config.build(self.featurizer.table).to(choose_device(self.config.device))

    @cached_property
    def _parts(self) -> list[tuple[int, Example]]:
        """The sentences as the model reads them, with their numbers; a long one is in several parts."""
        examples = [as_example(sentence) for sentence in self.sentences]
        return cut_parts(examples, self.featurizer)

    @cached_property
    def _corpus(self) -> IndexedCorpus:
        tags = []
        for number, part in self._parts:
            offset = _offset(part)
            aspects = [(start - offset, end - offset) for start, end in self.sentences[number].aspects]
            tags.append(tags_of(part.spans, aspects))
        return index_sentences([part for _, part in self._parts], self.featurizer, tags)

    def _division(self) -> tuple[list[int], list[int]]:
        """Return the parts to train on and those that are held out, whole sentences each."""
        examples = tuple(as_example(sentence) for sentence in self.sentences)
        _, held_out = hold_out(Corpus(examples, PRESENCE), self.config.dev_fraction, self.config.seed)
        chosen = set(held_out)
        sides: tuple[list[int], list[int]] = ([], [])
        for row, (number, _) in enumerate(self._parts):
            sides[number in chosen].append(row)
        return sides

    def _score(self, model: nn.Module, dev: IndexedCorpus) -> tuple[float, float]:
        """Return precision and F1 of exact spans on held-out sentences."""
        found: dict[int, list[tuple[int, int]]] = {}
        for row, tags in zip(dev.table.index.tolist(), predict_tags(model, dev), strict=True):
            number, part = self._parts[row]
            offset = _offset(part)
            spans = [(start + offset, end + offset) for start, end in spans_of(tags, part.spans)]
            found.setdefault(number, []).extend(spans)
        scores = score_spans([self.sentences[number].aspects for number in found], found.values())
        return scores.precision, scores.f1

    def _metrics(self, model: nn.Module, epochs: int, best: EpochRecord | None) -> dict[str, Any]:
        digest = hashlib.sha256()
        for sentence in self.sentences:
            digest.update(repr((sentence.text, sentence.aspects)).encode())
        coverage = self.coverage
        return {
            "sentences": len(self.sentences),
            "empty": sum(not sentence.aspects for sentence in self.sentences),
            "aspects": sum(len(sentence.aspects) for sentence in self.sentences),
            "corpus_hash": digest.hexdigest(),
            "epochs": epochs,
            "dev": {"f1": best.dev_macro_f1, "precision": best.dev_accuracy} if best else None,
            "parameters": models.count_parameters(model),
            "vector_coverage": {"types": coverage.type_share, "tokens": coverage.token_share} if coverage else None,
        }


def _remove_restart_points(root: Path) -> None:
    for path in [*root.glob("stages/*/checkpoint.safetensors"), root / "stages" / "vectors.safetensors"]:
        path.unlink(missing_ok=True)
    for folder in (root / "stages" / "search", root / "stages" / "final"):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _config(settings: Mapping[str, Any]) -> TaggerConfig:
    known = [each.name for each in fields(TaggerConfig)]
    if unknown := sorted(set(settings) - set(known)):
        raise InputError(f"unknown setting {unknown[0]!r}; known: {', '.join(known)}")
    config = TaggerConfig(**settings)
    # Full names, so that the training can be resumed from anywhere; a name that is no folder here is one of the hub's.
    vectors = None if config.vectors is None else str(resolve_start(config.vectors).resolve())
    is_folder = config.encoder is not None and Path(config.encoder).is_dir()
    encoder = str(Path(config.encoder or "").resolve()) if is_folder else config.encoder
    return replace(config, vectors=vectors, encoder=encoder)


def _offset(part: Example) -> int:
    """Return where a part begins in its sentence, which `cut_parts` notes in its id."""
    return int(part.id)


def _check(sentences: Sequence[AspectSentence], config: TaggerConfig) -> None:
    """Refuse sentences that nothing can be learned from."""
    filled = [sentence for sentence in sentences if as_example(sentence).spans]
    if len(filled) < _MIN_SENTENCES:
        raise InputError(f"the training data has {len(filled)} sentences; at least {_MIN_SENTENCES} are needed")
    if not any(sentence.aspects for sentence in filled):
        raise InputError("no training sentence has an aspect; at least one is needed")
    if not config.epochs:
        examples = tuple(as_example(sentence) for sentence in sentences)
        hold_out(Corpus(examples, PRESENCE), config.dev_fraction, config.seed)


def _open_featurizer(
    config: TaggerConfig,
    sentences: Sequence[AspectSentence],
    on_vectors: Callable[[int, int], None] | None,
    cache: Path | None,
) -> tuple[Featurizer, Coverage | None]:
    if config.encoder is not None:
        featurizer = PieceFeaturizer(Pretrained.open(config.encoder), pair=False)
        config.build(featurizer.table)  # incomplete weights are found now and not in the first stage
        return featurizer, None
    words = [word for sentence in sentences for word in as_example(sentence).words]
    data = DataConfig(vectors=config.vectors, dimension=config.dimension)
    return build_word_featurizer(words, data, config.seed, on_vectors, cache)
