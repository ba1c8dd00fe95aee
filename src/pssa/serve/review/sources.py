"""Files of a review: evidence, its training data, evidence to compare with, and the run that contains the evidence."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa import models
from pssa.data.evidence import Evidence, ExampleEvidence, Header
from pssa.data.evidence_file import read_evidence
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.io import ReadOptions, read
from pssa.errors import InputError, option_arguments
from pssa.runs import Config
from pssa.runs.read_defaults import repeated_options
from pssa.runs.settings import DataConfig

_CONFIG = "config.toml"  # of a run, beside its evidence
_UNKNOWN_LABELS = ("LABELS",)  # in the training command


@dataclass(frozen=True)
class Sources:
    """Files of a review."""

    evidence: Path
    corpus: Path | None
    second: Path | None  # evidence to compare with
    config: Config | None  # of the run that contains the evidence
    options: ReadOptions  # how to read the corpus, as far as it is known
    digest: str  # sha256 of the evidence file
    second_kinds: tuple[Mapping[int, str], ...] | None  # by sentence, the kind of each word that the second file has

    @classmethod
    def read(
        cls, evidence: Path, corpus: Path | None, second: Path | None, reading: Mapping[str, Any]
    ) -> tuple[Sources, Evidence]:
        """Read the files and check that they belong together.

        :param reading: arguments of `pssa.read`; None for those that are not given.
        """
        found = read_evidence(evidence)
        digest = hashlib.sha256(evidence.read_bytes()).hexdigest()
        config = None  # of the run that contains the evidence, if there is one that can have mined it
        with suppress(InputError):  # there is none, or not one of ours
            config = Config.from_toml(evidence.with_name(_CONFIG))
        # Evidence of people names a model that nobody can train.
        if config is not None and found.header.model in models.names() and found.header.model != config.model:
            config = None
        known = _known_reading(found, corpus, config)
        known |= {name: value for name, value in reading.items() if value is not None}
        if corpus is not None:
            _check_corpus(found, evidence, corpus, known)
        kinds = None
        if second is not None:
            other = read_evidence(second)
            ours, theirs = ([(one.spans, one.aspect, one.words) for one in each.examples] for each in (found, other))
            if found.header.corpus_hash != other.header.corpus_hash or ours != theirs:
                message = "belongs to another corpus; compare evidence of the same training file"
                raise InputError.at(second, None, message)
            kinds = tuple(example.kinds for example in other.examples)
        options = ReadOptions.of(**{"labels": _UNKNOWN_LABELS, **known})
        return cls(evidence, corpus, second, config, options, digest, kinds), found

    def training_command(self, header: Header, path: Path) -> str:
        """Return the command that trains with the evidence at `path`; what is not known is in capital letters."""
        if self.config is not None:
            options = self._options_of_run(self.config)
        else:
            model = header.model if header.model in models.names() else ""  # evidence of people names none
            encoder = "ENCODER" if model and models.uses_encoder(model) else None
            data = DataConfig(train=str(self.corpus or "TRAIN"), encoder=encoder, **self.options.changed)
            options = repeated_options(Config(model, seed=header.seed, data=data))
        return shlex.join(["pssa", "train", *options, "--evidence", str(path), "--out", "RUN"])

    def _options_of_run(self, config: Config) -> list[str]:
        """Return the configuration of the run, and where the corpus differs from it."""
        options = ["--config", str(self.evidence.with_name(_CONFIG)), "--method", "base"]
        if self.corpus is None:
            return options if config.data.train else [*options, "--train", "TRAIN"]
        if not _is_train_file(config, self.corpus):
            options += ["--train", str(self.corpus)]
        ours, theirs = _as_text(self.options), _as_text(config.read_options)
        changed = {name: text for name, text in ours.items() if text != theirs[name]}
        return options + [
            word
            for name, text in changed.items()
            for word in (option_arguments(name, text) if text else [*option_arguments(name), ""])
        ]


def _as_text(options: ReadOptions) -> dict[str, str]:
    """Return the options as the command line takes them."""
    return {
        "format": options.format,
        "columns": str(options.columns) or "text=text",  # names others than those of a configuration, if only the usual
        "labels": ",".join(options.labels),
        "conflict": options.conflict,
        "label_map": ",".join(f"{given}={label}" for given, label in options.label_map),
        "encoding": options.encoding,
        "errors": options.errors,
        "occurrence": options.occurrence,
    }


def _is_train_file(config: Config, corpus: Path) -> bool:
    train = config.data.train
    return bool(train) and train in (str(corpus), str(corpus.resolve()))


def _known_reading(evidence: Evidence, corpus: Path | None, config: Config | None) -> dict[str, Any]:
    """Return how the corpus was read for mining, as far as the files say; else the usual labels if they suffice."""
    if config is not None:
        known: dict[str, Any] = {"labels": config.data.labels, "conflict": config.data.conflict}
        is_same = corpus is not None and _is_train_file(config, corpus)
        return known | (config.read_options.changed if is_same else {})
    found = {example.label for example in evidence.examples}
    usual = (labels for labels in (DEFAULT_LABELS, (*DEFAULT_LABELS, "conflict")) if found.issubset(labels))
    return {"labels": labels} if (labels := next(usual, None)) else {}


def _check_corpus(evidence: Evidence, path: Path, corpus: Path, reading: Mapping[str, Any]) -> None:
    """Refuse evidence of another corpus."""
    labels = tuple(sorted({example.label for example in evidence.examples}))
    examples = read(corpus, **{"labels": labels, **reading})
    try:
        evidence.check_corpus(examples)
    except InputError:
        if len(evidence.examples) == len(examples) and all(map(_is_cut_differently, evidence.examples, examples)):
            what = "its sentences are those of the corpus, cut into other words, as with --set unit=piece"
            advice = "correct it with pssa evidence edit, or from Python, with Review.open(FILE) without a corpus"
            message = f"{what}; such evidence cannot be reviewed here: {advice}"
            raise InputError.at(path, None, message) from None
        raise


def _is_cut_differently(ours: ExampleEvidence, theirs: Example) -> bool:
    texts = tuple(theirs.text[start:end] for start, end in ours.spans)
    aspect = ours.spans[ours.aspect[0]][0], ours.spans[ours.aspect[1] - 1][1]
    return (texts, aspect, ours.label) == (ours.words, theirs.aspect_chars, theirs.label)
