"""Tuning on held-out data: a grid search as an exhibit of its own, executed, resumed and written like any other.

OUT/tune.md      every setting with its mean, its standard deviation and its gain over the baseline of the same seeds
OUT/tune.json    the same as values, by seed
OUT/best.toml    the best of them, for: pssa train --config OUT/best.toml
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from pssa import models
from pssa.data.files import write_atomically
from pssa.data.read_options import ReadOptions
from pssa.errors import InputError, setting
from pssa.experiments.cells import Cell, Place, Training
from pssa.experiments.comparison import METRICS, Row
from pssa.experiments.ledger import LEDGER, Ledger, Record, RecordLookup
from pssa.experiments.resources import DataSource, Resources, Scope
from pssa.experiments.schedule import Progress
from pssa.experiments.tuning import DATA, TIE, GridResult, GridSearch, Point, PointResult, bare_name, section_of
from pssa.studies.exhibit import Exhibit, Part, Table, TableRow, format_count, format_mean, not_measured
from pssa.studies.reproduce import ExecutionOptions, Reproduction, reproduce

_NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1"}  # of the metrics


def summary(result: GridResult, reproduction: Reproduction) -> dict[str, Any]:
    """Return the result of a grid search, and what became of its cells, as values for JSON."""
    search, best, cells = result.search, result.best, reproduction.as_dict()
    return {
        "model": search.model,
        "method": search.method,
        "metric": result.metric,
        "seeds": result.seeds,
        "fixed": dict(search.fixed),
        "tried": len(result.points),
        "best": None if best is None else _values(best, result.metric),
        "honest_gain": result.honest_gain,
        "told": describe(result),
        "settings": [_values(each, result.metric) for each in result.points],
        "cells": cells["cells"],
        "failed": cells["failed"],
    }


def tune(
    search: GridSearch,
    scope: Scope,
    out: Path,
    options: ExecutionOptions | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> tuple[GridResult, Reproduction]:
    """Execute the missing cells of a search, then write the table, the values and the best settings.

    :param scope: resources as `tuning_resources` makes them, and the number of seeds.
    :param command: the command line, for the provenance.
    :raises InputError: if a file cannot be used; nothing is trained then.
    :raises RunError: if another process uses the folder.
    """
    options = options or ExecutionOptions()
    _check(search, scope.resources)
    reproduction = reproduce([exhibit_of(search)], scope, out, options, progress, command)
    ledger = Ledger.read(out / LEDGER, options.accepts)
    result = GridResult.of(search, scope.seeds, scope.resources.lookup_in(ledger))
    text = json.dumps(summary(result, reproduction), ensure_ascii=False, indent=1) + "\n"
    write_atomically(out / "tune.json", text.encode())
    if result.best is not None:
        write_atomically(out / "best.toml", _best_settings(result, scope.resources).encode())
    return result, reproduction


def exhibit_of(search: GridSearch) -> Exhibit:
    """Return the search as an exhibit: its cells, and the table of their records."""

    def cells(scope: Scope) -> Iterator[Cell]:
        for seed in range(scope.seeds):
            for training in search.cells(seed).values():
                yield Training(training.place)
                yield training

    def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
        result = GridResult.of(search, scope.seeds, lookup)
        return [describe(result), settings_table(result)]

    title = f"Settings of {search.method} for {search.model}, on held-out data"
    return Exhibit("tune", title, cells, show, beyond=True)


def tuning_resources(
    train: Path,
    vectors: Path | None,
    encoder: str | None,
    device: str = "auto",
    read_options: ReadOptions | None = None,
) -> Resources:
    """Return the resources of a search: one file to tune on, and no test file.

    :param encoder: a folder, or a name on the hub, which is downloaded if needed.
    :raises InputError: if a file that is named does not exist.
    """
    for name, path in (("train", train), ("vectors", vectors)):
        if path is not None and not path.exists():
            raise InputError(f"{setting(name)} {path} does not exist; name an existing file")
    sources = {DATA: DataSource(train, read_options=read_options or ReadOptions())}
    return Resources(sources, vectors, device=device).with_encoder(encoder)


def _check(search: GridSearch, resources: Resources) -> None:
    """Refuse at once what would make every cell fail."""
    reads_words = not models.uses_encoder(search.model)
    if not reads_words and resources.encoder is None:
        raise InputError(
            f"model {search.model} needs a pretrained encoder; name a folder or a hub name with {setting('encoder')}"
        )
    unused = resources.encoder_name or resources.encoder if reads_words else resources.vectors
    if unused is not None:
        given, read = ("encoder", "words") if reads_words else ("vectors", "pieces of words")
        raise InputError(
            f"{setting(given)} {unused} is for other models, and {search.model} reads {read}; leave it out"
        )
    resources.corpora(Place(DATA, search.model, 0, held_out=True))


def describe(result: GridResult) -> str:
    """Return the outcome of a search, and how far to trust it, as text."""
    tried = f"{len(result.points)} settings were" if len(result.points) > 1 else "One setting was"
    how = (
        f"{tried} tried with {result.seeds} {'seed' if result.seeds == 1 else 'seeds'} and evaluated on a fifth of train, held "
        "out by sentence, another fifth for each seed; no test file was opened."
    )
    best = result.best
    if best is None:
        return f"{how} None of them has an outcome for every seed."
    score = format_mean([record[result.metric] for record in best.scores.values()])
    gains = best.gains(result.metric).values()
    found = (
        f"Best by {_NAMES[result.metric]}: {_typed(best.point)}, {score}, {best.gain(result.metric):+.2f} over "
        f"the baseline, better than it with {sum(gain > 0 for gain in gains)} of {len(gains)} seeds."
    )
    return " ".join([how, found, *_reservations(result)])


def _reservations(result: GridResult) -> Iterator[str]:
    """Yield reasons not to trust the best setting."""
    if result.n_best > 1:
        yield f"{result.n_best} settings share this mean."
    if all(each.gain(result.metric) <= TIE for each in result.complete):
        yield "No setting beats its baseline on average."
    if result.honest_gain is None:
        yield "One seed decides little." if result.seeds == 1 else "Test it before you trust it."
    else:
        yield (
            "The best of many is optimistic: chosen without one seed and evaluated on that one, the gain is "
            f"{result.honest_gain:+.2f} on average. Only a test set shows what is left of it."
        )


def settings_table(result: GridResult) -> Table:
    """Return the baselines, then every point, the best first and incomplete ones last."""
    complete = sorted(result.complete, key=lambda each: -each.mean(result.metric))
    others = [each for each in result.points if each not in complete]
    places = {each.place: each for each in result.points}
    rows = [_row(result, each.place, each.baseline, None) for each in places.values()]
    rows += [_row(result, each.point, each.scores, each) for each in (*complete, *others)]
    columns = (*result.search.axes, "seeds", *(_NAMES[metric] for metric in METRICS), "gain", "better with")
    note = (
        f"Mean ± standard deviation over the seeds, in points. `gain`: of {_NAMES[result.metric]} over the baseline of the same "
        "seeds; `better with`: seeds with a gain. An empty field of a setting: its default."
    )
    return Table("settings", "Settings", ("", *columns), tuple(rows), (note,))


def _row(result: GridResult, point: Point, scores: Row, of_point: PointResult | None) -> TableRow:
    chosen = dict(point)
    axes = map(bare_name, result.search.axes)
    values = (_text(chosen[axis]) if axis in chosen else None for axis in axes)
    means = [format_mean([record[metric] for record in scores.values()]) for metric in METRICS]
    gains = list(of_point.gains(result.metric).values()) if of_point else []
    better = format_count(sum(gain > 0 for gain in gains), len(gains)) if gains else not_measured("count", "of")
    name = ("best" if of_point is result.best else "") if of_point else "baseline"
    return (name, *values, len(scores), *means, format_mean([gain / 100 for gain in gains], "+"), better)


def _typed(point: Point) -> str:
    """Return the point as a person would type it."""
    return " ".join(f"{name}={_text(value)}" for name, value in point)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "+".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _values(result: PointResult, metric: str) -> dict[str, Any]:
    def scores(row: dict[int, Record]) -> dict[str, dict[str, float]]:
        return {str(seed): {name: record[name] for name in METRICS} for seed, record in row.items()}

    gains = result.gains(metric)
    return {
        "settings": dict(result.point),
        "mean": result.mean(metric) if result.scores else None,
        "gain": result.gain(metric) if gains else None,
        "gains": {str(seed): gain for seed, gain in gains.items()},
        "scores": scores(dict(result.scores)),
        "baseline": scores(dict(result.baseline)),
    }


def _best_settings(result: GridResult, resources: Resources) -> str:
    """Return a configuration file with the best settings, and nothing else."""
    search, best = result.search, result.best
    assert best is not None
    config = search.config(best.point)
    table: dict[str, Any] = {"model": search.model, "method": search.method}
    source = resources.sources[DATA]
    files: dict[str, Any] = {"train": str(source.train.resolve()), **source.read_options.changed}
    files |= {
        name: str(Path(path).resolve()) for name, path in resources.starts_from(Place("", search.model, 0)).items()
    }
    if "encoder" in files and resources.encoder_name:
        files["encoder"] = resources.encoder_name
    for name, value in (*files.items(), *search.fixed, *best.point):
        section = section_of(config, name)
        home = table.setdefault(section, {}) if section else table
        home[bare_name(name)] = list(value) if isinstance(value, tuple) else value
    # Keys of the file itself come before its sections.
    ordered = dict(sorted(table.items(), key=lambda item: isinstance(item[1], dict)))
    comment = textwrap.fill(describe(result), width=118, initial_indent="# ", subsequent_indent="# ")
    return f"{comment}\n{tomli_w.dumps(ordered)}"
