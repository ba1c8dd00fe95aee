"""Beyond the paper: 16 to 512 labelled instances. Our models, with the settings that `pssa train` chooses for few labels, and
SetFit's `PolarityModel` on the same instances and, with an encoder, on the same one.

The instances are drawn by the seed, fewer ones among more. A fifth of train is never drawn: it judges the settings, and the test
set is read by those that it chose. Numbers of others come from `few_labels_others.jsonl`, which the scripts named there wrote.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paper.experiments.cells import Cell, Setting, Training, settings
from paper.experiments.comparison import METRICS, Row, gather
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import (
    EncoderUse,
    Exhibit,
    Figure,
    Part,
    Table,
    TableRow,
    format_count,
    format_scores,
    plot_line,
)
from paper.studies.exhibits._rows import FEW_SEEDS, NAMES, mean_scores
from pssa.data.labels import ENGLISH

__all__ = ["EXHIBIT"]

SIZES = (16, 32, 64, 128, 256, 512)
DATA = ("laptop", "rest")
_OTHERS = Path(__file__).with_name("few_labels_others.jsonl")
_STEPS = settings(min_steps=400)  # of a training at least, as `pssa train` has it by default
# Every setting that few labels may decide has a value here, so that a record stays one of these settings.
_PLAIN: dict[str, Any] = {"class_weights": "none", "head_learning_rate": 2e-5, "learning_rate": 2e-5}
# Without these, the model and its start are the paper's.
_TEXTS: dict[str, Any] = {
    **_PLAIN,
    "context": 3,
    "label_texts": ",".join(f"{label}={text}" for label, text in ENGLISH.items()),
}
_CLASSES: dict[str, Any] = {"class_weights": "balanced"}


@dataclass(frozen=True)
class FewLabelsRow:
    """A model of ours with its settings."""

    name: str
    model: str
    settings: tuple[Setting, ...] = ()

    def trainings(self, scope: Scope, data: str, size: int) -> dict[int, Training]:
        """Return the trainings on `size` instances by seed; none if the scope lacks the model or the data."""
        places = scope.places(self.model, data, FEW_SEEDS, tuple(sorted((*_STEPS, *self.settings))))
        return {place.seed: Training(replace(place, instances=size)) for place in places}


_ENCODER = NAMES["bertabsa_att"]
_PAPERS = f"{_ENCODER}, as in the paper"
_ON_ENCODER = (_ENCODER, _PAPERS)
# With the settings that `pssa train` chooses for few labels, and the paper's model.
ROWS = (
    FewLabelsRow(_ENCODER, "bertabsa_att", settings(**_TEXTS)),
    FewLabelsRow(_PAPERS, "bertabsa_att", settings(**_PLAIN)),
    FewLabelsRow(NAMES["tnet_att"], "tnet_att"),
    FewLabelsRow(NAMES["memnet"], "memnet"),
)
# Judged on the held-out part.
TRIED = (
    FewLabelsRow(_ENCODER, "bertabsa_att", settings(**_TEXTS)),
    FewLabelsRow(_PAPERS, "bertabsa_att", settings(**_PLAIN)),
    FewLabelsRow(
        f"{_PAPERS}, `head_learning_rate=0.001`, `class_weights=balanced`",
        "bertabsa_att",
        settings(**_PLAIN | _CLASSES | {"head_learning_rate": 1e-3}),
    ),
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield the trainings, those with the settings of `pssa train` first."""
    places = ((row, size, data) for row in dict.fromkeys((*ROWS, *TRIED)) for size in SIZES for data in DATA)
    return (cell for row, size, data in places for cell in row.trainings(scope, data, size).values())


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return scores by size, how far ours are from SetFit's, curves, and what the held-out part says about settings."""
    board = _FewLabelsBoard(scope, lookup)
    data = [each for each in DATA if each in scope.data]
    return [_aim(board, data), _figure(board, data), *(_scores(board, each) for each in data), _settings(board, data)]


_Scores = Mapping[int, Row]  # by size, then by seed
_SETFIT = "SetFit"
_OVER = f"{_ENCODER} over SetFit"
_WHERE = (
    "SetFit's numbers were measured by a script (`setfit_few_labels.py`, in the history up to commit 1ac59d27), with the "
    "encoder that the row names. It trains for one epoch of all pairs of instances; a row with a number of steps was stopped "
    "there, after as many as ours take."
)


class _FewLabelsBoard:
    """Records by row, data set and size."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self._scope, self._lookup = scope, lookup

    def ours(self, row: FewLabelsRow, data: str) -> _Scores:
        """Return the records of a row of ours."""
        found = {size: gather(self._lookup, row.trainings(self._scope, data, size)) for size in SIZES}
        return {size: records for size, records in found.items() if records}

    def all(self, data: str) -> dict[str, _Scores]:
        """Return the records of all rows by name, ours first."""
        return {row.name: self.ours(row, data) for row in ROWS} | others(data)


def others(data: str) -> dict[str, _Scores]:
    """Return the scores on the test set that scripts measured, by name of the row."""
    found: dict[str, dict[int, dict[int, Record]]] = {}
    for record in map(json.loads, _OTHERS.read_text("utf-8").splitlines()):
        if record["data"] == data:
            steps = record.get("max_steps")
            name = f"{record['name']} on {record['encoder']}" + (f", {steps} steps" if steps else "")
            by_size = found.setdefault(name, {})
            by_size.setdefault(record["size"], {})[record["seed"]] = {**record["test"], "held_out": record["held_out"]}
    return {name: dict(by_size) for name, by_size in found.items()}


def _aim(board: _FewLabelsBoard, data: Sequence[str]) -> Table:
    """Return ours on an encoder, and the best of ours, against the best that SetFit reaches, whatever its number of steps."""
    columns = ("data", "instances", "SetFit", _ENCODER, _OVER, "best of ours", "its scores", "it over SetFit")
    rows = [_compare(board.all(each), each, size) for each in data for size in SIZES]
    notes = (
        "Accuracy / macro-F1 in points on the test set, means over the seeds; differences are over the seeds that both have. "
        "`SetFit`: the number of steps with the higher macro-F1 here, so the comparison favours it. `best of ours`: the row "
        f"with the highest macro-F1 on the held-out fifth of train; `{_ENCODER}`: likewise of its rows. "
        "Our aim: at or above SetFit at every size. " + _WHERE,
    )
    return Table("few-labels-aim", "Ours and SetFit", columns, tuple(rows), notes, columns[2:])


def _compare(rows: Mapping[str, _Scores], data: str, size: int) -> TableRow:
    at_size = {name: scores[size] for name, scores in rows.items() if size in scores}
    ours = {name: row for name, row in at_size.items() if not name.startswith(_SETFIT)}
    rival = max((row for name, row in at_size.items() if name not in ours), key=_macro_f1, default={})
    best = _best(ours)
    on_encoder = _best({name: row for name, row in ours.items() if name in _ON_ENCODER})
    model, chosen = ours.get(on_encoder, {}), ours.get(best, {})
    gaps = (format_scores(_gap(row, rival), "+") for row in (model, chosen))
    first, second = gaps
    return (
        data.upper(),
        size,
        mean_scores(rival),
        mean_scores(model),
        first,
        best or None,
        mean_scores(chosen),
        second,
    )


def _best(rows: Mapping[str, Row]) -> str:
    """Return the name of the row with the highest macro-F1 on the held-out part."""
    return max(rows, key=lambda name: _macro_f1(_held_out_part(rows[name])), default="")


def _macro_f1(row: Row) -> float:
    return statistics.mean(_scored(row))


def _scored(row: Row) -> list[float]:
    return [record["macro_f1"] for record in row.values()]


def _held_out_part(row: Row) -> Row:
    return {seed: record["held_out"] for seed, record in row.items()}


def _gap(ours: Row, theirs: Row) -> list[float] | None:
    """Return the mean difference of accuracy and macro-F1 over the seeds that both have, in points."""
    seeds = ours.keys() & theirs.keys()
    if not seeds:
        return None
    return [100 * statistics.mean(ours[seed][one] - theirs[seed][one] for seed in seeds) for one in METRICS]


def _scores(board: _FewLabelsBoard, data: str) -> Table:
    columns = ("model", "seeds", *map(str, SIZES))
    rows = tuple(_row(name, scores) for name, scores in board.all(data).items())
    notes = (
        "Accuracy / macro-F1 in points on the test set, means over the seeds, by number of labelled instances; `seeds`: the "
        "fewest of them. Models on an encoder have the one that SetFit has; `as in the paper`: without `label_texts` and "
        "`context`, which `pssa train` has for few labels. MN and TNet-ATT start from word vectors. `pssa train` without options "
        "goes on from the starter, which has seen reviews of many products, and of restaurants in MAMS without the sentences of "
        f"REST's test set; it was measured by `benchmarks/few_labels.py`. {_WHERE}",
    )
    return Table(f"few-labels-{data}", data.upper(), columns, rows, notes, columns[2:])


def _row(name: str, scores: _Scores) -> TableRow:
    seeds = min((len(row) for row in scores.values()), default=0)
    return (name, seeds, *(mean_scores(scores.get(size, {})) for size in SIZES))


def _settings(board: _FewLabelsBoard, data: Sequence[str]) -> Table:
    columns = ("settings", "measured", *map(str, SIZES), "mean")
    rows = tuple(_tried(name, each) for name, each in _held_out(board, data).items())
    notes = (
        "Accuracy / macro-F1 in points on the fifth of train that is held out, means over seeds and data sets, by number of "
        "labelled instances. `mean`: over all sizes, where all are measured. The first row of each model is the default.",
    )
    return Table("few-labels-settings", "Which settings, on held-out data", columns, rows, notes, columns[2:])


def _held_out(board: _FewLabelsBoard, data: Sequence[str]) -> dict[str, dict[int, Row]]:
    """Return held-out scores by name of the tried settings and by size; data sets count as further seeds."""
    found: dict[str, dict[int, Row]] = {}
    for row in TRIED:
        by_size = found.setdefault(row.name, {})
        for number, each in enumerate(data):
            for size, records in board.ours(row, each).items():
                judged = _held_out_part(records)
                known = {len(DATA) * seed + number: record for seed, record in judged.items()}
                by_size[size] = {**by_size.get(size, {}), **known}
    return found


def _tried(name: str, scores: _Scores) -> TableRow:
    measured = format_count(sum(map(len, scores.values())), len(SIZES) * len(DATA) * FEW_SEEDS)
    every = dict(enumerate(record for row in scores.values() for record in row.values()))
    whole = mean_scores(every) if len(scores) == len(SIZES) else None
    return (name, measured, *(mean_scores(scores.get(size, {})) for size in SIZES), whole)


def _figure(board: _FewLabelsBoard, data: Sequence[str]) -> Figure:
    panels = [
        (
            each.upper(),
            tuple(
                plot_line(name.replace("`", ""), {SIZES.index(size) + 1: _scored(row) for size, row in scores.items()})
                for name, scores in board.all(each).items()
                if scores
            ),
        )
        for each in data
    ]
    title = "Macro-F1 by number of labelled instances"
    places = tuple(map(str, SIZES))
    return Figure("few-labels", title, "labelled instances", "macro-F1", tuple(panels), places=places)


EXHIBIT = Exhibit("few-labels", "Few labels", cells, show, encoders=EncoderUse(seeds=FEW_SEEDS, small=True))
