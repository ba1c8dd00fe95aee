"""`train` starts a run and `resume` goes on with one; both end with the same files and the same weights."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pssa import models
from pssa.data.evidence_file import write_evidence
from pssa.data.example import Corpus
from pssa.data.files import write_atomically
from pssa.data.formats.hugging_face import PREFIX
from pssa.data.read import read
from pssa.data.split import folds, hold_out
from pssa.errors import InputError, RunError
from pssa.runs import methods
from pssa.runs.card import write_card
from pssa.runs.config import Config
from pssa.runs.defaults import check_mining, check_supervision, mines, resolve
from pssa.runs.device import choose_device
from pssa.runs.directory import RunDirectory, write_json
from pssa.runs.prepared_data import PreparedData, check_training_data
from pssa.runs.run_context import RunContext
from pssa.runs.saved_model import Description, save_ensemble, save_weights
from pssa.runs.unused import warn_of_absent_labels, warn_of_unused
from pssa.training import NullObserver, Observer, best_epoch, team

__all__ = ["prepare", "resume", "train"]

Source = str | Path | Corpus
_CACHE = ".pssa-vectors"  # beside the run


def train(
    data: Source | None,
    out: str | Path,
    *,
    dev: Source | None = None,
    config: Config | None = None,
    observer: Observer | None = None,
    on_vectors: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Path:
    """Train a classifier and leave it in the new directory `out`.

    Inputs are checked before anything is written. Processes that `torchrun` started train together, and the first of them writes.

    :param data: labelled instances, or the file that holds them; None: the file that `config` names.
    :param dev: the same for development data of its own, where there is any.
    :param config: values to start from, by default the defaults.
    :param settings: changes to it by name, such as `model="memnet"`, `vectors="glove.txt"` or `seed=3`; there is a `UserWarning`
        about those that the method makes no use of.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    changed = (config or Config()).updated(settings)
    with team(choose_device(changed.device)) as members:
        if members.is_main:
            RunDirectory.refuse_taken(Path(out))
        warn_of_unused(changed, settings)
        config, prepared_data = prepare(data, dev, changed, on_vectors, cache=Path(out).parent / _CACHE)
        warn_of_absent_labels(prepared_data.corpus)
        if not members.is_main:
            return _help_out(Path(out), RunContext(config, None, prepared_data, NullObserver(), members))

        def begin(directory: RunDirectory) -> None:
            prepared_data.save(directory)
            write_atomically(directory.root / "config.toml", config.to_toml().encode())

        directory = RunDirectory.create(Path(out), begin)
        with directory.locked():
            return _carry_out(
                directory.root, RunContext(config, directory, prepared_data, observer or NullObserver(), members)
            )


def resume(run: str | Path, observer: Observer | None = None) -> Path:
    """Carry an interrupted run through; a finished one is left as it is."""
    directory = RunDirectory.open(Path(run))
    if directory.finished:
        _tidy(directory)
        return directory.root
    if not (directory.root / "config.toml").is_file():
        raise InputError(f"{run} has no config.toml, so it was stopped before it began; start it again")
    config = Config.from_toml(directory.root / "config.toml")
    with team(choose_device(config.device)) as members:
        if not members.is_main:
            if directory.finished:
                return directory.root
            prepared_data = PreparedData.load(directory, config)
            return _help_out(directory.root, RunContext(config, None, prepared_data, NullObserver(), members))
        with directory.locked():
            if directory.finished:  # by another process, since it was looked at
                return directory.root
            prepared_data = PreparedData.load(directory, config)
            return _carry_out(
                directory.root, RunContext(config, directory, prepared_data, observer or NullObserver(), members)
            )


def prepare(
    data: Source | None,
    dev: Source | None,
    config: Config,
    on_vectors: Callable[[int, int], None] | None = None,
    supervised: bool = True,
    cache: Path | None = None,
) -> tuple[Config, PreparedData]:
    """Check the settings, read the files, and fill in what follows from them; nothing is written.

    :param data: None: the file that the configuration names, likewise for `dev`.
    :param supervised: whether a final training follows, so that its settings are checked too.
    :param cache: the folder where rows of vector files are kept for the next run, if any.
    """
    if (dev or config.data.dev) and config.training.usual_epochs < 0:
        # Development data is given to choose the number of epochs, also where a fixed one is usual.
        config = replace(config, training=replace(config.training, usual_epochs=0))
    config = _resolved(config)
    if supervised:
        check_supervision(config)
    data, dev = config.data.train if data is None else data, config.data.dev if dev is None else dev
    if data == "":
        raise InputError(
            "no training data is given; name a file with `data` (--train), or as data.train in the configuration"
        )
    corpus, dev_corpus = _read(data, config), None if dev == "" else _read(dev, config)
    config = _located(replace(config, data=replace(config.data, labels=corpus.labels)), data, dev)
    check_training_data(corpus, config)  # before it is divided, where too few would be told in other words
    _check_division(config, corpus, dev_corpus)
    return config, PreparedData.prepare(config, corpus, dev_corpus, on_vectors, cache)


def _resolved(config: Config) -> Config:
    """The configuration, its names checked and what follows from other values filled in."""
    choose_device(config.device)
    methods.find(config.method)
    check_mining(config)
    models.read_options(config.model, config.options)
    _check_source(config)
    defaults = models.option_defaults(config.model)
    # Random vectors that stay random would carry nothing but the identity of words.
    learned = {"train_embeddings": True} if "train_embeddings" in defaults and not config.data.vectors else {}
    return resolve(replace(config, options={**defaults, **learned, **config.options}))


def _check_source(config: Config) -> None:
    """Refuse word vectors for a model that reads pieces, and an encoder for one that does not."""
    data, reads = config.data, models.reads(config.model)
    if reads == "words" and (data.encoder or data.unit != "word"):
        given = f"encoder {data.encoder}" if data.encoder else f"unit {data.unit}"
        kinds = ", ".join(name for name in models.names() if models.reads(name) != "words")
        raise InputError(f"model {config.model} reads words and takes no {given}; models that do: {kinds}")
    if reads != "words" and not data.encoder:
        raise InputError(
            f"model {config.model} needs a pretrained encoder; name a folder or a hub name with `encoder` (--encoder)"
        )
    if reads != "words" and data.vectors:
        raise InputError(
            f"model {config.model} reads pieces of words with its encoder and takes no `vectors` (--vectors)"
        )


def _located(config: Config, data: Source, dev: Source) -> Config:
    """The configuration with its files by their full names, so that it means the same from every directory."""
    # What is no folder here is a name in a hub.
    encoder = _name(config.data.encoder) if Path(config.data.encoder).is_dir() else config.data.encoder
    sources = replace(
        config.data, train=_name(data), dev=_name(dev), vectors=_name(config.data.vectors), encoder=encoder
    )
    supervision = replace(config.supervision, evidence=_name(config.supervision.evidence))
    return replace(config, data=sources, supervision=supervision)


def _name(source: Source) -> str:
    if isinstance(source, Corpus) or source == "":
        return ""
    # A dataset behind the prefix is a name, not a path.
    return str(source) if str(source).startswith(PREFIX) else str(Path(source).resolve())


def _check_division(config: Config, corpus: Corpus, dev: Corpus | None) -> None:
    """Refuse now, rather than after a first training, what has too few sentences for its parts."""
    if config.known_epochs == 0 and dev is None:
        hold_out(corpus, config.data.dev_fraction, config.seed)
    if mines(config.method):
        needed = config.mining.consensus_folds if config.method == "consensus" else config.mining.folds
        folds(corpus, max(needed, 2), config.seed)


def _read(source: Source, config: Config) -> Corpus:
    if isinstance(source, Corpus):
        return source
    data = config.data
    return read(source, format=data.format or None, columns=data.columns, labels=data.labels, conflict=data.conflict)


def _help_out(root: Path, context: RunContext) -> Path:
    """Do this process's part of the trainings of a run that another one leads and writes."""
    methods.find(context.config.method)(context)
    return root


def _carry_out(root: Path, context: RunContext) -> Path:
    config = context.config
    featurizer = context.prepared_data.featurizer
    description = Description.of(config, featurizer)
    description.save(root)
    outcome = methods.find(config.method)(context)
    if len(outcome.members) == 1:
        save_weights(root, outcome.members[0], description, featurizer)
    else:
        voting = replace(description, vote_weights=outcome.vote_weights)
        save_ensemble(root, outcome.members, voting, featurizer)
    if outcome.evidence is not None:
        write_evidence(outcome.evidence, root / "evidence.jsonl")
    lines = "".join(json.dumps(record.as_dict()) + "\n" for record in context.history)
    write_atomically(root / "history.jsonl", lines.encode())
    metrics = _metrics(context, outcome)
    write_card(root / "README.md", config, metrics)
    RunDirectory(root).require_whole()
    write_json(root / "metrics.json", metrics)
    _prune(root)
    return root


def _metrics(context: RunContext, outcome: methods.Trained) -> dict[str, Any]:
    corpus, coverage, evidence = context.prepared_data.corpus, context.prepared_data.coverage, outcome.evidence
    search = [record for record in context.history if record.stage == "search"]
    best = search[best_epoch(search, context.settings.smoothing) - 1] if search else None
    return {
        "instances": len(corpus),
        "labels": corpus.label_counts(),
        "dropped": dict(corpus.dropped),
        "corpus_hash": corpus.hash(),
        "epochs": best.epoch if best else context.config.known_epochs,
        "dev": {"accuracy": best.dev_accuracy, "macro_f1": best.dev_macro_f1} if best else None,
        "parameters": models.count_parameters(outcome.members[0]),
        "members": len(outcome.members),
        "mining": [asdict(report) for report in evidence.header.rounds] if evidence else None,
        "vector_coverage": {"types": coverage.type_share, "tokens": coverage.token_share} if coverage else None,
    }


def _tidy(directory: RunDirectory) -> None:
    """The process may have been killed after its last file and before this; where nothing can be written, or another is at
    it, a finished run needs it not.
    """
    with suppress(RunError, OSError), directory.locked():
        _prune(directory.root)


def _prune(root: Path) -> None:
    """Drop what only an unfinished run needs: optimiser states and the copy of the vectors."""
    for path in [*root.glob("stages/*/checkpoint.safetensors"), root / "stages" / "vectors.safetensors"]:
        path.unlink(missing_ok=True)
    for folder in (path for path in root.glob("stages/*") if path.is_dir() and not os.listdir(path)):
        folder.rmdir()
