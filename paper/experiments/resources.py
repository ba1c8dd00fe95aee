"""Resources of experiments: data sets, human opinion words, word vectors, an encoder; and the device they run on.

    DIR/laptop/train.txt  DIR/laptop/test.txt  DIR/opinion_words/laptop/train.tsv  test.tsv

A cell is identified by the content of these files: executed with other data, it is another cell.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from paper.experiments.cell_key import cell_key
from paper.experiments.cells import Analysis, Cell, Place, Setting
from paper.experiments.ledger import Ledger, Record, RecordLookup
from pssa import models
from pssa.data import Corpus, Example, hold_out, read
from pssa.data.evidence import Evidence
from pssa.data.io import ReadOptions, read_with
from pssa.data.opinion_words import OpinionWords, evidence_from_opinion_words, read_opinion_words
from pssa.errors import InputError
from pssa.runs.devices import choose_device, computes_bfloat16
from pssa.runs.resolve import FEW_LABELS_OPTIONS
from pssa.runs.run_names import resolve_run

DATA_SETS = ("laptop", "rest", "twitter")
# Settings of every training of the paper's data sets: defaults that have changed since the ledger's records were measured.
MEASURED_WITH: Mapping[str, Any] = {"consensus_folds": 5}
_HELD_OUT = 0.2
# Held-out parts of the experiments differ from those in which a training searches its number of epochs.
_FIRST_SEED = 1000
# Files of a folder that decide the outcome: of an encoder, with its tokenizer, or of opinion words.
_DECIDING = (
    *("*.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "*.model", "train.tsv", "test.tsv"),
)
_SUFFIXES = (".txt", ".jsonl", ".csv", ".xml", ".parquet")
_TAGS = {"positive": "/p", "negative": "/n", "neutral": "/0"}


@dataclass(frozen=True)
class DataSource:
    """The files of one data set."""

    train: Path
    test: Path | None = None  # None: there is none, or it must not be opened
    opinion_words: Path | None = None  # folder with train.tsv and test.tsv
    read_options: ReadOptions = field(default_factory=ReadOptions)  # of train

    @classmethod
    def find(cls, folder: Path, name: str) -> DataSource | None:
        """Return the data set `name` in a folder of data sets, if it is there."""
        train, test = (_with_suffix(folder / name / part) for part in ("train", "test"))
        words = folder / "opinion_words" / name
        if train is None:
            return None
        return cls(train, test, words if (words / "train.tsv").is_file() else None)


@dataclass(frozen=True)
class Resources:
    """Everything that cells may read."""

    sources: Mapping[str, DataSource]
    vectors: Path | None = None
    encoder: Path | None = None
    device: str = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)  # of every training, for tests and for one's own data
    encoder_name: str = ""  # of the encoder on the hub, where the folder is a copy from there
    small_encoder: Path | None = None  # of sweeps; None: they run on the encoder too
    small_encoder_name: str = ""

    @classmethod
    def find(
        cls,
        data: Path,
        vectors: Path | None,
        encoder: str | Path | None,
        device: str = "auto",
        small_encoder: str | Path | None = None,
    ) -> Resources:
        """Return the data sets of the paper that are in `data`.

        :param encoder: a folder, or a name on the hub, which is downloaded if needed; likewise the small one.
        :raises InputError: if there is no data set, or a file that is named does not exist.
        """
        if not data.is_dir():
            raise InputError(f"--data {data} is not a folder; expected one with laptop/train.txt etc.")
        if vectors is not None and not vectors.exists():
            raise InputError(f"--vectors {vectors} does not exist; name an existing file, or leave it out")
        # Workers of a cluster may have another working directory.
        found = {name: DataSource.find(data.absolute(), name) for name in DATA_SETS}
        sources = {name: source for name, source in found.items() if source}
        if not sources:
            expected = ", ".join(f"{name}/train.txt" for name in DATA_SETS)
            raise InputError(
                f"--data {data} holds none of {expected}; get the data sets, or name the folder that has them"
            )
        vectors = vectors and vectors.absolute()
        (path, name), (small_path, small_name) = map(_locate_encoder, (encoder, small_encoder))
        return cls(sources, vectors, path, device, MEASURED_WITH, name, small_path, small_name)

    def can_train(self, model: str) -> bool:
        """Return whether the model's word vectors or encoder are there."""
        return getattr(self, self.start_of(model)) is not None

    def start_of(self, model: str) -> str:
        """Return the name of what the model starts from: vectors or encoder."""
        return "encoder" if models.uses_encoder(model) else "vectors"

    def starts_from(self, place: Place) -> dict[str, str]:
        """Return the setting that names the file or folder that the model of a place starts from."""
        name = self.start_of(place.model)
        path = self.small_encoder if place.small_encoder else getattr(self, name)
        return {name: str(path)} if path else {}

    def settings_in(self, place: Place) -> dict[str, Any]:
        """Return the settings of every training in a place."""
        # Like the paper, experiments train the same model for as many epochs at every size of the data.
        chosen: dict[str, Any] = {"model": place.model, "seed": place.seed, "device": self.device, "min_steps": 0}
        usual = models.option_defaults(place.model)
        chosen |= {name: usual[name] for name in FEW_LABELS_OPTIONS.get(place.model, {})}
        if models.uses_encoder(place.model):
            chosen |= {"label_texts": {}, "precision": self._precision(), "share_sentences": False}
        return chosen | {**self.starts_from(place), **self.settings, **dict(place.settings)}

    def _precision(self) -> str:
        """Return the precision of encoders: as on a GPU, also on a processor that computes bfloat16 natively."""
        device = choose_device(self.device)
        return "bfloat16" if device.type == "cpu" and computes_bfloat16(device) else "auto"

    def corpora(self, place: Place) -> tuple[Corpus, Corpus]:
        """Return what a place trains on, and what it is tested on."""
        source = self.sources[place.data]
        train = self._train(place)
        if place.held_out or place.instances:
            taught, judged = hold_out(train, _HELD_OUT, _FIRST_SEED + place.seed)
            few = train.select(_draw(taught, place.instances, place.seed))
            if place.held_out:
                return few, train.select(judged)
            train = few
        if source.test is None:
            raise InputError(f"data set {place.data} has no test file; evaluate it on held-out instances")
        return train, strip_targets(source.test) if place.stripped else read(source.test)

    def human(self, place: Place, corpus: Corpus) -> Evidence | None:
        """Return the words that people marked in the training data of a place, if there are any."""
        rows = self.opinion_rows(place, "train")
        # A part of a data set is looked up among the rows of the whole.
        return None if rows is None else evidence_from_opinion_words(rows, corpus)

    def opinion_rows(self, place: Place, part: str) -> OpinionWords | None:
        """Return the rows of a file of opinion words, `train` or `test`."""
        folder = self.sources[place.data].opinion_words
        return None if folder is None else read_opinion_words(folder / f"{part}.tsv")

    def key(self, cell: Cell) -> str:
        """Return what identifies this cell, with these files and settings."""
        return cell_key(cell, self.files_of(cell), self.settings)

    def lookup_in(self, ledger: Ledger) -> RecordLookup:
        """Return a function that finds the record of a cell in a ledger."""
        keys: dict[Cell, str] = {}

        def lookup(cell: Cell) -> Record | None:
            if not {cell.place.data, getattr(cell, "on", "") or cell.place.data} <= self.sources.keys():
                return None
            if cell not in keys:
                keys[cell] = self.key(cell)
            return ledger.find(keys[cell])

        return lookup

    def files_of(self, cell: Cell) -> dict[str, Any]:
        """Return fingerprints of the files that a cell reads; a file read with other options counts as another file."""
        place = cell.place
        source = self.sources[place.data]
        started, columns = self.starts_from(place), source.read_options.columns
        options = {name: value for name, value in source.read_options.changed.items() if name != "columns"}
        found = {
            "train": _fingerprint(source.train) + (f" {columns}" if columns else ""),
            "test": None if place.held_out or source.test is None else _fingerprint(source.test),
            "words": None if source.opinion_words is None else _fingerprint(source.opinion_words),
            "reading": options,
            **{name: _fingerprint(Path(path)) for name, path in started.items()},
            "start": _fingerprint(resolve_run(start))
            if (start := dict(place.settings).get("from_pretrained"))
            else None,
            **self._files_elsewhere(cell),
        }
        return {name: value for name, value in found.items() if value}

    def _files_elsewhere(self, cell: Cell) -> dict[str, Any]:
        """Return fingerprints of the files of another data set that a cell is tested on."""
        if not isinstance(cell, Analysis) or not cell.on:
            return {}
        source = self.sources[cell.on]
        found = {"other test": source.test, "other words": source.opinion_words}
        return {name: _fingerprint(path) for name, path in found.items() if path is not None}

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of all files by name, for provenance."""
        files = {
            f"{name}/{part}": getattr(source, part)
            for name, source in self.sources.items()
            for part in ("train", "test", "opinion_words")
        }
        files |= {"vectors": self.vectors, "encoder": self.encoder, "small encoder": self.small_encoder}
        return {name: _fingerprint(path) for name, path in files.items() if path is not None}

    def _train(self, place: Place) -> Corpus:
        source = self.sources[place.data]
        corpus = strip_targets(source.train) if place.stripped else read_with(source.read_options, source.train)
        # The files are shuffled: their first instances are as good as random ones, and those that the paper took.
        return corpus if place.share == 1 else corpus.select(range(int(place.share * len(corpus))))


@dataclass(frozen=True)
class Scope:
    """The models, data sets and number of seeds of a study, as far as the resources allow them."""

    resources: Resources
    seeds: int = 5
    models: tuple[str, ...] = ()  # empty: all
    data_sets: tuple[str, ...] = ()  # empty: all that are there
    encoder_seeds: int = 0  # at most, of models on encoders; 0: as many as others
    prefers_small: bool = False  # whether models on encoders start from the small one, if there is one

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets in scope."""
        return tuple(name for name in self.resources.sources if not self.data_sets or name in self.data_sets)

    def has(self, model: str) -> bool:
        """Return whether a model is in scope and can be trained."""
        return (not self.models or model in self.models) and self.resources.can_train(model)

    def has_opinion_words(self, data: str) -> bool:
        """Return whether a data set is in scope and people marked words in it."""
        return data in self.data and self.resources.sources[data].opinion_words is not None

    def places(
        self, model: str, data: str, seeds: int = 0, settings: tuple[Setting, ...] = (), held_out: bool = False
    ) -> tuple[Place, ...]:
        """Return a place per seed, at most `seeds` of them; none if the model or the data is not in scope."""
        if data not in self.data or not self.has(model):
            return ()
        reads_pieces = models.uses_encoder(model)
        n_seeds = min(filter(None, (self.seeds, seeds, reads_pieces and self.encoder_seeds)))
        small = reads_pieces and self.prefers_small and self.resources.small_encoder is not None
        place = Place(data, model, 0, held_out=held_out, settings=settings, small_encoder=small)
        return tuple(replace(place, seed=seed) for seed in range(n_seeds))


def _draw(positions: list[int], count: int, seed: int) -> list[int]:
    """Return `count` of the positions, by the seed; the smaller of two counts draws a part of the larger. 0: all."""
    if not count:
        return positions
    shuffled = list(positions)
    random.Random(seed).shuffle(shuffled)
    return sorted(shuffled[:count])


def strip_targets(path: Path) -> Corpus:
    """Read a tagged file with its targets damaged by `strip`, as TNet's released code does (the paper's footnote)."""
    corpus = read(path)
    return replace(corpus, examples=tuple(strip_target(example) for example in corpus))


def strip_target(example: Example) -> Example:
    """Return the example with every target word stripped of the tag's two characters on both sides.

    `"nicki/n".strip("/n")` is `"icki"`: letters of the word are lost. A word that would become empty stays whole.
    """
    tag = _TAGS[example.label or "neutral"]
    start, end = example.aspect
    words = list(example.words)
    words[start:end] = [(word + tag).strip(tag) or word for word in words[start:end]]
    spans, place = [], 0
    for word in words:
        spans.append((place, place + len(word)))
        place += len(word) + 1
    return replace(example, text=" ".join(words), spans=tuple(spans))


def _locate_encoder(given: str | Path | None) -> tuple[Path | None, str]:
    """Return the folder of an encoder, and its name on the hub if it comes from there."""
    if not given or Path(given).is_dir():
        return (Path(given).absolute() if given else None), ""
    # Cells are identified by the content of the encoder's files, so all of them read its local copy.
    return Path(models.Pretrained.open(str(given)).weights), str(given)


def _with_suffix(path: Path) -> Path | None:
    found = (path.with_suffix(suffix) for suffix in _SUFFIXES)
    return next((candidate for candidate in found if candidate.is_file()), None)


def _fingerprint(path: Path) -> str:
    """Return a digest of a file's content, or of the files in a folder that decide the outcome."""
    if path.is_dir():
        files = [each for kind in _DECIDING for each in path.glob(kind)]
        return hashlib.sha256("".join(_fingerprint(each) for each in sorted(files)).encode()).hexdigest()[:16]
    state = path.stat()
    return _digest(path, state.st_size, state.st_mtime_ns)


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()[:16]
