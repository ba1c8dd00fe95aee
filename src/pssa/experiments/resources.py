"""What experiments read: data sets, human opinion words, word vectors, an encoder; and the device they run on.

    DIR/laptop/train.txt  DIR/laptop/test.txt  DIR/opinion_words/laptop/train.tsv  test.tsv

Fingerprints tell outcomes of other files apart: a cell that was carried out with other data is another cell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pssa import models
from pssa.data import Corpus, hold_out, read
from pssa.data.evidence import Evidence
from pssa.data.example import DEFAULT_LABELS
from pssa.data.opinion_words import OpinionRow, evidence_from_opinion_words, read_opinion_words
from pssa.data.read import Columns
from pssa.errors import InputError
from pssa.experiments.cell_key import cell_key
from pssa.experiments.cells import Cell, Place
from pssa.experiments.strip_bug import strip_targets

__all__ = ["DATA_SETS", "HowRead", "Resources", "Source"]

DATA_SETS = ("laptop", "rest", "twitter")
_HELD_OUT = 0.2
# Held-out parts of the experiments differ from those in which a training searches its number of epochs.
_FIRST_SEED = 1000
# Files of a folder that decide what comes out: of an encoder, with its tokenizer, or of opinion words.
_DECIDING = (
    *("*.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "*.model", "train.tsv", "test.tsv"),
)
_SUFFIXES = (".txt", ".jsonl", ".csv", ".xml", ".parquet")


@dataclass(frozen=True)
class HowRead:
    """How a file of instances is read."""

    format: str = ""  # empty: recognised
    columns: Columns = field(default_factory=Columns)
    labels: tuple[str, ...] = DEFAULT_LABELS
    conflict: str = "drop"

    def read(self, path: Path) -> Corpus:
        """The instances."""
        columns = dict(self.columns.pairs)
        return read(path, format=self.format or None, columns=columns, labels=self.labels, conflict=self.conflict)

    @property
    def unusual(self) -> dict[str, Any]:
        """What is not as usual, by the names of the configuration and with its values."""
        chosen = {"format": self.format, "labels": self.labels, "conflict": self.conflict}
        usual = {each.name: each.default for each in fields(self)}
        columns = {"columns": dict(self.columns.pairs)} if self.columns else {}
        return {name: value for name, value in chosen.items() if value != usual[name]} | columns


@dataclass(frozen=True)
class Source:
    """The files of one data set."""

    train: Path
    test: Path | None = None  # None: there is none, or it must not be opened
    opinion_words: Path | None = None  # folder with train.tsv and test.tsv
    reading: HowRead = HowRead()  # of train

    def absolute(self) -> Source:
        """The same, wherever it is looked for from."""
        test, words = (path and path.absolute() for path in (self.test, self.opinion_words))
        return replace(self, train=self.train.absolute(), test=test, opinion_words=words)

    @classmethod
    def find(cls, folder: Path, name: str) -> Source | None:
        """The data set `name` in a folder of data sets."""
        train, test = (_with_suffix(folder / name / part) for part in ("train", "test"))
        words = folder / "opinion_words" / name
        if train is None:
            return None
        return cls(train, test, words if (words / "train.tsv").is_file() else None)


@dataclass(frozen=True)
class Resources:
    """Everything that cells may read."""

    sources: Mapping[str, Source]
    vectors: Path | None = None
    encoder: Path | None = None
    device: str = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)  # of every training, for tests and for one's own data
    encoder_name: str = ""  # of the encoder on the hub, where the folder is a copy from there

    @classmethod
    def find(cls, data: Path, vectors: Path | None, encoder: str | Path | None, device: str = "auto") -> Resources:
        """The data sets of the paper that are in `data`.

        :param encoder: a folder, or a name on the hub, which is fetched where it is not here yet.
        :raises InputError: if there is none, or a file that is named does not exist.
        """
        if not data.is_dir():
            raise InputError(f"--data {data} is not a folder; expected one with laptop/train.txt and the like")
        if vectors is not None and not vectors.exists():
            raise InputError(f"--vectors {vectors} does not exist; name a file that does, or leave it out")
        found = {name: Source.find(data, name) for name in DATA_SETS}
        sources = {name: source for name, source in found.items() if source}
        if not sources:
            wanted = ", ".join(f"{name}/train.txt" for name in DATA_SETS)
            raise InputError(
                f"--data {data} holds none of {wanted}; get the data sets, or name the folder that has them"
            )
        return cls(sources, vectors, device=device).with_encoder(encoder)

    def with_encoder(self, given: str | Path | None) -> Resources:
        """The same with this encoder: a folder, or a name on the hub, which is fetched where it is not here yet.

        :raises InputError: if it is neither, or cannot be fetched.
        """
        if not given or Path(given).is_dir():
            return replace(self, encoder=Path(given) if given else None, encoder_name="")
        # Cells are told apart by what is in the encoder's files, so its copy here is what all of them read.
        return replace(self, encoder=Path(models.Pretrained.open(str(given)).weights), encoder_name=str(given))

    def can_train(self, model: str) -> bool:
        """Whether what the model starts from is there."""
        return getattr(self, self.start_of(model)) is not None

    def start_of(self, model: str) -> str:
        """The name of what the model starts from: vectors or encoder."""
        return "encoder" if models.uses_encoder(model) else "vectors"

    def starts_from(self, model: str) -> dict[str, str]:
        """The setting that names what the model starts from."""
        name = self.start_of(model)
        path = getattr(self, name)
        return {name: str(path)} if path else {}

    def settings_in(self, place: Place) -> dict[str, Any]:
        """What every training in a place is told."""
        wanted: dict[str, Any] = {"model": place.model, "seed": place.seed, "device": self.device}
        return wanted | {**self.starts_from(place.model), **self.settings, **dict(place.settings)}

    def corpora(self, place: Place) -> tuple[Corpus, Corpus]:
        """What a place trains on, and what judges it."""
        source = self.sources[place.data]
        train = self._train(place)
        if place.held_out:
            taught, judged = hold_out(train, _HELD_OUT, _FIRST_SEED + place.seed)
            return train.select(taught), train.select(judged)
        if source.test is None:
            raise InputError(f"data set {place.data} has no test file; judge it on held-out instances")
        return train, strip_targets(source.test) if place.stripped else read(source.test)

    def human(self, place: Place, corpus: Corpus) -> Evidence | None:
        """The words that people marked in what a place trains on, where they did."""
        rows = self.opinion_rows(place, "train")
        # A part of a data set is looked up among the rows of the whole.
        return None if rows is None else evidence_from_opinion_words(rows, corpus).evidence

    def opinion_rows(self, place: Place, part: str) -> list[OpinionRow] | None:
        """The rows of a file of opinion words, `train` or `test`."""
        folder = self.sources[place.data].opinion_words
        return None if folder is None else list(read_opinion_words(folder / f"{part}.tsv"))

    def key(self, cell: Cell) -> str:
        """Return what tells this cell apart from every other, with these files and settings."""
        return cell_key(cell, self.files_of(cell), self.settings)

    def files_of(self, cell: Cell) -> dict[str, Any]:
        """Return fingerprints of the files that a cell reads; a file read in an unusual way counts as another file."""
        place = cell.place
        source = self.sources[place.data]
        started, columns = self.starts_from(place.model), source.reading.columns
        reading = {name: value for name, value in source.reading.unusual.items() if name != "columns"}
        found = {
            "train": _fingerprint(source.train) + (f" {columns}" if columns else ""),
            "test": None if place.held_out or source.test is None else _fingerprint(source.test),
            "words": None if source.opinion_words is None else _fingerprint(source.opinion_words),
            "reading": reading,
            **{name: _fingerprint(Path(path)) for name, path in started.items()},
        }
        return {name: value for name, value in found.items() if value}

    def fingerprints(self) -> dict[str, str]:
        """The files by name, for provenance."""
        files = {
            f"{name}/{part}": getattr(source, part)
            for name, source in self.sources.items()
            for part in ("train", "test", "opinion_words")
        }
        files |= {"vectors": self.vectors, "encoder": self.encoder}
        return {name: _fingerprint(path) for name, path in files.items() if path is not None}

    def _train(self, place: Place) -> Corpus:
        source = self.sources[place.data]
        corpus = strip_targets(source.train) if place.stripped else source.reading.read(source.train)
        # The files are shuffled: their first instances are as good as random ones, and those that the paper took.
        return corpus if place.share == 1 else corpus.select(range(int(place.share * len(corpus))))


def _with_suffix(path: Path) -> Path | None:
    found = (path.with_suffix(suffix) for suffix in _SUFFIXES)
    return next((candidate for candidate in found if candidate.is_file()), None)


def _fingerprint(path: Path) -> str:
    """Of a file's content, or of the files in a folder that decide what comes out."""
    if path.is_dir():
        files = [each for kind in _DECIDING for each in path.glob(kind)]
        return hashlib.sha256("".join(_fingerprint(each) for each in sorted(files)).encode()).hexdigest()[:16]
    state = path.stat()
    return _digest(path, state.st_size, state.st_mtime_ns)


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()[:16]
