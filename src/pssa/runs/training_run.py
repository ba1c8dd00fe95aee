"""`train` starts a run and `resume` continues one, to the same files and weights; `mine` stops at the evidence.

`write_run` and `finish_run` do the same without loading the model afterwards.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from pssa import models
from pssa.aspects.find import TAGGERS
from pssa.aspects.train import TaggerData, prepare_tagger, tagger_metrics
from pssa.data.evidence import Evidence
from pssa.data.evidence_file import write_evidence
from pssa.data.files import require_writable, write_atomically
from pssa.data.vectors import CACHE_FOLDER
from pssa.errors import InputError, RunError, setting
from pssa.joint.run import MODEL as JOINT
from pssa.joint.train import is_joint_training, train_reviews
from pssa.runs import methods
from pssa.runs.calibration import Calibration, HeldOut
from pssa.runs.card import write_card, write_tagger_card
from pssa.runs.classifier import Classifier
from pssa.runs.devices import choose_device
from pssa.runs.directory import RunDirectory, TemporaryFolder, write_json
from pssa.runs.evaluate import describe_held_out
from pssa.runs.input_profile import InputProfile
from pssa.runs.loading import load
from pssa.runs.prepared_data import PreparedData, Source, prepare
from pssa.runs.resolve import warn_of_absent_labels, warn_of_unused
from pssa.runs.run_context import RunContext
from pssa.runs.saved_model import Description, save_ensemble, save_weights
from pssa.runs.settings import Config, flatten
from pssa.runs.torch_runtime import TorchRuntime
from pssa.runs.warm_start import merge_settings
from pssa.training import Observer, Team, team
from pssa.training.progress import is_notebook, show_training


def train(
    data: Source | None,
    out: str | Path | None = None,
    *,
    dev: Source | None = None,
    config: Config | None = None,
    observer: Observer | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Classifier:
    """Train a classifier, save it in the new directory `out`, and return it.

    Its `held_out` has its scores on data that it did not learn from, and those of always predicting the most frequent label;
    they are printed too. Inputs are checked before anything is written. Processes started by `torchrun` train together, and
    only the first writes.

    :param data: labelled instances: a file, a pandas or polars frame, a Hugging Face dataset, a list of dicts or of `Example`s,
        or a `Corpus`; None: the file that `config` names.
    :param out: None: a temporary directory, which is deleted with the classifier; `classifier.save` keeps a copy.
    :param dev: separate development data, likewise.
    :param config: the configuration; by default all defaults.
    :param observer: is called after every epoch and every round of mining, such as `LogObserver(trackio.log)`.
    :param progress: None: show progress in a terminal or a notebook; True: write lines elsewhere too; False: be silent.
    :param settings: settings that override `config`, by name, such as `model="memnet"`, `vectors="glove.txt"` or `seed=3`; a
        `UserWarning` names those that the method ignores.
    :raises InputError: if a file, a setting or `out` cannot be used.
    """
    if settings.get("model", (config or Config()).model) in TAGGERS:
        raise InputError("a tagger finds aspects and labels none; train it with `pssa.aspects.train_aspects`")
    process = Team.from_environment()
    scratch = TemporaryFolder() if out is None else None
    if scratch is not None and process.size > 1:
        raise InputError(f"processes that train together need one directory; name it with {setting('out')}")
    out = scratch.path / "run" if scratch else Path(str(out))
    write_run(data, out, dev=dev, config=config, observer=observer, progress=progress, **settings)
    device = str(settings.get("device") or (config or Config()).device)
    classifier = replace(load(out, device), scratch=scratch)
    if progress is not False and process.is_main:
        # A notebook shows standard error as if something had failed.
        (sys.stdout if is_notebook() else sys.stderr).write(f"{describe_held_out(classifier.held_out)}\n")
    return classifier


def resume(run: str | Path, observer: Observer | None = None, *, progress: bool | None = None) -> Classifier:
    """Finish an interrupted run and load it; a finished one is loaded as it is. See `train` for `progress`."""
    return load(finish_run(run, observer, progress=progress))


def write_run(
    data: Source | None,
    out: str | Path,
    *,
    dev: Source | None = None,
    config: Config | None = None,
    observer: Observer | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Path:
    """Train as `train` does, and return the directory; every process returns once it is written."""
    if config is not None and config.model == JOINT:
        usual = Config().flat()
        kept = {name.rpartition(".")[2]: value for name, value in config.flat().items() if value != usual[name]}
        config, settings = None, kept | ({} if data is None else {"train": data}) | settings
    if config is None and is_joint_training(settings):
        with show_training(observer, progress) as observer:
            given = settings if dev is None else {**settings, "dev": dev}
            return train_reviews(settings.get("train", data), out, given, observer)
    config = merge_settings(config or Config(), settings)
    with team(choose_device(config.device)) as members, show_training(observer, progress) as observer:
        if members.is_main:
            RunDirectory.refuse_taken(Path(out))
        cache = Path(out).parent / CACHE_FOLDER
        prepared_data: PreparedData
        if config.model in TAGGERS:
            if dev is not None:
                raise InputError(f"{setting('dev')} is not a setting of the model {config.model}; leave it out")
            config, prepared_data = prepare_tagger(data, config, observer, cache)
        else:
            warn_of_unused(config, settings)
            config, prepared_data = prepare(data, dev, config, observer, cache=cache)
            warn_of_absent_labels(prepared_data.corpus)
        if members.is_main:
            with RunDirectory.created(Path(out)) as directory:
                prepared_data.save(directory)
                write_atomically(directory.root / "config.toml", config.to_toml().encode())
        _carry_out(RunDirectory(Path(out)), config, lambda: prepared_data, observer, members)
        members.share(None)  # the others wait here for the files
    return Path(out)


def finish_run(run: str | Path, observer: Observer | None = None, *, progress: bool | None = None) -> Path:
    """Finish a run as `resume` does, and return its directory."""
    directory = RunDirectory.open(Path(run))
    if directory.finished:
        # A process that was killed after its last file may have left some that a finished run does not need.
        with suppress(RunError, OSError), directory.locked():
            directory.prune()
        return directory.root
    if not (directory.root / "config.toml").is_file():
        raise InputError(f"{run} has no config.toml, so it was stopped before it began; start it again")
    config = Config.from_toml(directory.root / "config.toml")
    config = replace(config, options=models.saved_options(config.model, config.options))
    data = TaggerData if config.model in TAGGERS else PreparedData
    with team(choose_device(config.device)) as members, show_training(observer, progress) as observer:
        _carry_out(directory, config, lambda: data.load(directory, config), observer, members)
    return directory.root


def mine(
    data: Source | None,
    out: str | Path,
    *,
    dev: Source | None = None,
    config: Config | None = None,
    observer: Observer | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Evidence:
    """Mine evidence and write it to the file `out`; the parameters are those of `train`.

    :raises InputError: if a file or a setting cannot be used, or if `out` exists; it is never overwritten.
    """
    if Path(out).exists():
        raise InputError(f"{out} exists already; choose another path for {setting('out')}")
    if not Path(out).parent.is_dir():
        raise InputError(f"{Path(out).parent} is not a directory; {setting('out')} must name a file in one that exists")
    require_writable(out)
    config = merge_settings(config or Config(), settings)
    method = methods.find(config.method)
    if not method.mines:
        raise InputError(f"method {config.method} does not mine; use {', '.join(methods.mining_names())}")
    for section, key in map(config.place_of, flatten(settings)):
        if section == "supervision":
            raise InputError(f"{key} is a setting of the final training, and mining ends before it; leave it out")
    warn_of_unused(config, settings)
    if config.supervision.evidence:
        raise InputError(f"evidence is {config.supervision.evidence}; it is for training, and mining makes its own")
    with team(choose_device(config.device)) as members, show_training(observer, progress) as observer:
        config, prepared_data = prepare(data, dev, config, observer, supervised=False)
        warn_of_absent_labels(prepared_data.corpus)
        context = RunContext(config, None, prepared_data, observer, members)
        evidence = method.mine(context, context.find_epochs())
        if members.is_main:
            write_evidence(evidence, out)
    return evidence


def _carry_out(
    directory: RunDirectory,
    config: Config,
    load_data: Callable[[], PreparedData],
    observer: Observer,
    members: Team,
) -> None:
    """Do this process's part of the trainings of a run; the main process writes it, and no other may meanwhile."""
    with directory.locked() if members.is_main else nullcontext():
        if directory.finished:  # by another process, in the meantime
            return
        if members.is_main:
            _train_and_write(RunContext(config, directory, load_data(), observer, members), directory)
        else:
            methods.find(config.method).train(RunContext(config, None, load_data(), observer, members))


def _train_and_write(context: RunContext, directory: RunDirectory) -> None:
    """Train, and write the run's files; `metrics.json` comes last."""
    config, root = context.config, directory.root
    featurizer = context.prepared_data.featurizer
    description = Description.of(config, featurizer)
    description.save(root)
    outcome = methods.find(config.method).train(context)
    if len(outcome.members) == 1:
        save_weights(root, outcome.members[0], description, featurizer)
    else:
        save_ensemble(root, outcome.members, replace(description, vote_weights=outcome.vote_weights), featurizer)
    if outcome.evidence is not None:
        write_evidence(outcome.evidence, root / "evidence.jsonl")
    lines = "".join(json.dumps(record.as_dict()) + "\n" for record in context.history)
    write_atomically(root / "history.jsonl", lines.encode())
    if isinstance(context.prepared_data, TaggerData):
        metrics = tagger_metrics(context, context.prepared_data, outcome.members[0])
        write_tagger_card(root / "README.md", config, metrics)
    else:
        metrics = _describe_classifier(context, outcome, root)
        write_card(root / "README.md", config, metrics)
    directory.require_whole()
    write_json(root / "metrics.json", metrics)
    directory.prune()
    context.observer.on_finish(metrics, outcome.evidence)


def _describe_classifier(context: RunContext, outcome: methods.Trained, root: Path) -> dict[str, Any]:
    """Calibrate a new classifier, describe what it has read, and return its metrics."""
    config, prepared, evidence, best = context.config, context.prepared_data, outcome.evidence, context.best
    corpus, coverage, held_out = prepared.corpus, prepared.coverage, _held_out(context, outcome)
    calibration = Calibration.of(held_out) if held_out and config.training.calibrate != "none" else None
    if calibration is not None:
        calibration.save(root)
    profile = InputProfile.of(corpus)
    profile.save(root)
    return {
        "instances": len(corpus),
        "labels": corpus.label_counts(),
        "dropped": dict(corpus.dropped),
        "corpus_hash": corpus.hash(),
        "epochs": best.epoch if best else config.known_epochs,
        "dev": {"accuracy": best.dev_accuracy, "macro_f1": best.dev_macro_f1} if best else None,
        "parameters": models.count_parameters(outcome.members[0]),
        "members": len(outcome.members),
        "mining": [asdict(report) for report in evidence.header.rounds] if evidence else None,
        **({"gate": outcome.gate.as_dict()} if outcome.gate else {}),
        "vector_coverage": {"types": coverage.type_share, "tokens": coverage.token_share} if coverage else None,
        "languages": list(profile.languages),
        "calibration": calibration.summary() if calibration else None,
        "held_out": held_out.confusion(config.data.labels) if held_out else None,
    }


def _held_out(context: RunContext, outcome: methods.Trained) -> HeldOut | None:
    """Return predictions about instances that are new to the models that made them, if there are any.

    Those of the final classifier are best, where instances were kept out of its training. Else those of models like it serve.
    """
    prepared, config = context.prepared_data, context.config
    kept, source = prepared.calibration, "instances kept out for calibration"
    if kept is None:
        kept, source = prepared.dev, "separate development data"
    if kept is not None:
        runtime = TorchRuntime(
            config.model, config.data.labels, prepared.featurizer, outcome.members, outcome.vote_weights
        )
        places = {label: number for number, label in enumerate(config.data.labels)}
        gold = torch.tensor([places[example.label or ""] for example in kept])
        return HeldOut(runtime.probabilities(kept)[None], gold, source, kept_out=True)
    return context.held_out if methods.find(config.method).resembles_search else None
