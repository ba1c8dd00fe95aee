"""A declared grid of settings judged on held-out data: an exhibit of its own, carried out, resumed and written like any other.

OUT/tune.md      every setting with its mean, its spread and its gain over the baseline of the same seeds
OUT/tune.json    the same as values, by seed
OUT/best.toml    the best of them, for: pssa train --config OUT/best.toml
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from pssa import models
from pssa.data.files import write_atomically
from pssa.errors import InputError
from pssa.experiments.cells import Cell, Place, Training
from pssa.experiments.comparison import METRICS
from pssa.experiments.grid import DATA, Study, bare_name, section_of
from pssa.experiments.ledger import LEDGER, Record
from pssa.experiments.resources import HowRead, Resources, Source
from pssa.experiments.schedule import Progress
from pssa.experiments.scope import Findings, Scope
from pssa.studies.exhibit import Exhibit, Part, Prose
from pssa.studies.reproduce import Means, Recorded, Report, reproduce
from pssa.studies.tuning import Judged, Tuning

__all__ = ["Tuned", "exhibit_of", "resources_of", "tune"]


@dataclass(frozen=True)
class Tuned:
    """What was found, and what became of the cells."""

    tuning: Tuning
    report: Report

    def plain(self) -> dict[str, Any]:
        """Values for JSON."""
        study, tuning = self.tuning.study, self.tuning
        best = tuning.best
        return {
            "model": study.model,
            "method": study.method,
            "metric": tuning.metric,
            "seeds": tuning.seeds,
            "fixed": dict(study.fixed),
            "tried": len(tuning.judged),
            "best": None if best is None else _values(best, tuning.metric),
            "honest_gain": tuning.honest_gain,
            "told": tuning.told(),
            "settings": [_values(each, tuning.metric) for each in tuning.judged],
            "cells": self.report.plain()["cells"],
            "failed": self.report.plain()["failed"],
        }


def tune(
    study: Study,
    scope: Scope,
    out: Path,
    means: Means | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Tuned:
    """Carry out what the study needs and is not there yet, then write the table, the values and the best settings.

    :param scope: resources as `resources_of` makes them, and the number of seeds.
    :param command: what was typed, for the provenance.
    :raises InputError: if the file or what the model starts from cannot be used; nothing is trained then.
    :raises RunError: if another process is at work in the folder.
    """
    means = means or Means()
    _check(study, scope.resources)
    report = reproduce([exhibit_of(study)], scope, out, means, progress, command)
    findings = Recorded(means.ledger.read(out / LEDGER), scope.resources)
    tuned = Tuned(Tuning.of(study, scope.seeds, findings), report)
    write_atomically(out / "tune.json", (json.dumps(tuned.plain(), ensure_ascii=False, indent=1) + "\n").encode())
    if tuned.tuning.best is not None:
        write_atomically(out / "best.toml", _best_settings(tuned.tuning, scope.resources).encode())
    return tuned


def exhibit_of(study: Study) -> Exhibit:
    """The study as an exhibit: its cells, and the table of what came of them."""

    def cells(scope: Scope) -> Iterator[Cell]:
        for seed in range(scope.seeds):
            for training in study.cells(seed).values():
                yield Training(training.place)
                yield training

    def show(scope: Scope, findings: Findings) -> Sequence[Part]:
        tuning = Tuning.of(study, scope.seeds, findings)
        return [Prose(tuning.told()), tuning.table()]

    return Exhibit("tune", f"Settings of {study.method} for {study.model}, on held-out data", cells, show, beyond=True)


def resources_of(
    train: Path, vectors: Path | None, encoder: str | None, device: str = "auto", reading: HowRead | None = None
) -> Resources:
    """One file to tune on; there is no test.

    :param encoder: a folder, or a name on the hub, which is fetched where it is not here yet.
    :param reading: how the file is read, where that is not as usual.
    :raises InputError: if a file that is named does not exist.
    """
    for name, path in (("--train", train), ("--vectors", vectors)):
        if path is not None and not path.exists():
            raise InputError(f"{name} {path} does not exist; name a file that does")
    sources = {DATA: Source(train, reading=reading or HowRead())}
    return Resources(sources, vectors, device=device).with_encoder(encoder)


def _check(study: Study, resources: Resources) -> None:
    """Refuse now what every cell would stumble over."""
    reads_words = not models.uses_encoder(study.model)
    if not reads_words and resources.encoder is None:
        raise InputError(f"model {study.model} needs a pretrained encoder; name a folder or a hub name with --encoder")
    needless = resources.encoder_name or resources.encoder if reads_words else resources.vectors
    if needless is not None:
        given, wanted = ("--encoder", "words") if reads_words else ("--vectors", "pieces of words")
        raise InputError(f"{given} {needless} is for other models, and {study.model} reads {wanted}; leave it out")
    resources.corpora(Place(DATA, study.model, 0, held_out=True))


def _values(judged: Judged, metric: str) -> dict[str, Any]:
    def scores(row: dict[int, Record]) -> dict[str, dict[str, float]]:
        return {str(seed): {name: record[name] for name in METRICS} for seed, record in row.items()}

    gains = judged.gains(metric)
    return {
        "settings": dict(judged.point),
        "mean": judged.mean(metric) if judged.scores else None,
        "gain": judged.gain(metric) if gains else None,
        "gains": {str(seed): gain for seed, gain in gains.items()},
        "scores": scores(dict(judged.scores)),
        "baseline": scores(dict(judged.baseline)),
    }


def _best_settings(tuning: Tuning, resources: Resources) -> str:
    """A configuration of the best settings: what `pssa train` is to be told, and nothing else."""
    study, best = tuning.study, tuning.best
    assert best is not None
    config = study.config(best.point)
    table: dict[str, Any] = {"model": study.model, "method": study.method}
    source = resources.sources[DATA]
    files: dict[str, Any] = {"train": str(source.train.resolve()), **source.reading.unusual}
    files |= {name: str(Path(path).resolve()) for name, path in resources.starts_from(study.model).items()}
    if "encoder" in files and resources.encoder_name:
        files["encoder"] = resources.encoder_name
    for name, value in (*files.items(), *study.fixed, *best.point):
        section = section_of(config, name)
        home = table.setdefault(section, {}) if section else table
        home[bare_name(name)] = list(value) if isinstance(value, tuple) else value
    # Keys of the file itself come before its sections.
    ordered = dict(sorted(table.items(), key=lambda item: isinstance(item[1], dict)))
    told = textwrap.fill(tuning.told(), width=118, initial_indent="# ", subsequent_indent="# ")
    return f"{told}\n{tomli_w.dumps(ordered)}"
