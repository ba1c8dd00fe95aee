"""Beyond the paper: 16 to 512 labelled instances. Our models, with the settings that `pssa train` chooses for few labels, and
SetFit's `PolarityModel` on the same instances and, with an encoder, on the same one.

The instances are drawn by the seed, fewer ones among more. A fifth of train is never drawn: it judges the settings, and the test
set is read by those that it chose. Numbers of others come from `few_labels_others.jsonl`, which the scripts named there wrote.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paper.experiments.cells import Setting, Training, settings
from paper.experiments.comparison import METRICS, Row, gather
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import (
    EncoderUse,
    Exhibit,
    Figure,
    FormattedValue,
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


_ENCODER = NAMES["bertabsa_att"]
_PAPERS = f"{_ENCODER}, as in the paper"
# The model and its settings, by name of the row: those that `pssa train` chooses for few labels, and the paper's model.
_ON_ENCODER: dict[str, tuple[str, tuple[Setting, ...]]] = {
    _ENCODER: ("bertabsa_att", settings(**_TEXTS)),
    _PAPERS: ("bertabsa_att", settings(**_PLAIN)),
}
ROWS = {**_ON_ENCODER, NAMES["tnet_att"]: ("tnet_att", ()), NAMES["memnet"]: ("memnet", ())}
# Judged on the held-out part.
TRIED = {
    **_ON_ENCODER,
    f"{_PAPERS}, `head_learning_rate=0.001`, `class_weights=balanced`": (
        "bertabsa_att",
        settings(**_PLAIN | _CLASSES | {"head_learning_rate": 1e-3}),
    ),
}


def _trainings(scope: Scope, name: str, data: str, size: int) -> list[Training]:
    """Return the trainings of a row on `size` instances by seed; none if the scope lacks the model or the data."""
    model, chosen = (ROWS | TRIED)[name]
    places = scope.places(model, data, FEW_SEEDS, tuple(sorted((*_STEPS, *chosen))))
    return [Training(replace(place, instances=size)) for place in places]


_Scores = Mapping[int, Row]  # by size, then by seed


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return scores by size, how far ours are from SetFit's, curves, and what the held-out part says about settings."""

    def ours(name: str, data: str) -> _Scores:
        found = {size: gather(lookup, _trainings(scope, name, data, size)) for size in SIZES}
        return {size: row for size, row in found.items() if row}

    data = [each for each in DATA if each in scope.data]
    found = {each: {name: ours(name, each) for name in ROWS} | others(each) for each in data}
    tried = {name: _pool([ours(name, each) for each in data]) for name in TRIED}
    scores = (_scores(each, rows) for each, rows in found.items())
    return [_aim(found), _figure(found), *scores, _settings(tried)]


_SETFIT = "SetFit"
_OVER = f"{_ENCODER} over SetFit"
_WHERE = (
    "SetFit's numbers were measured by a script (`setfit_few_labels.py`, in the history up to commit 1ac59d27), with the "
    "encoder that the row names. It trains for one epoch of all pairs of instances; a row with a number of steps was stopped "
    "there, after as many as ours take."
)


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


_Found = Mapping[str, Mapping[str, _Scores]]  # by data set and name of the row, ours first


def _aim(found: _Found) -> Table:
    """Return ours on an encoder, and the best of ours, against the best that SetFit reaches, whatever its number of steps."""
    columns = ("data", "instances", "SetFit", _ENCODER, _OVER, "best of ours", "its scores", "it over SetFit")
    rows = tuple(_compare(scores, data, size) for data, scores in found.items() for size in SIZES)
    notes = (
        "Accuracy / macro-F1 in points on the test set, means over the seeds; differences are over the seeds that both have. "
        "`SetFit`: the number of steps with the higher macro-F1 here, so the comparison favours it. `best of ours`: the row "
        f"with the highest macro-F1 on the held-out fifth of train; `{_ENCODER}`: likewise of its rows. "
        "Our aim: at or above SetFit at every size. " + _WHERE,
    )
    return Table("few-labels-aim", "Ours and SetFit", columns, rows, notes, columns[2:])


def _compare(rows: Mapping[str, _Scores], data: str, size: int) -> TableRow:
    at_size = {name: scores[size] for name, scores in rows.items() if size in scores}
    ours = {name: row for name, row in at_size.items() if not name.startswith(_SETFIT)}
    rival = max((row for name, row in at_size.items() if name not in ours), key=_mean_f1, default={})
    best, on_encoder = _best(ours), _best({name: row for name, row in ours.items() if name in _ON_ENCODER})
    model, chosen = ours.get(on_encoder, {}), ours.get(best, {})
    scores = (mean_scores(rival), mean_scores(model), _gap(model, rival))
    return (data.upper(), size, *scores, best or None, mean_scores(chosen), _gap(chosen, rival))


def _best(rows: Mapping[str, Row]) -> str:
    """Return the name of the row with the highest macro-F1 on the held-out part."""
    return max(rows, key=lambda name: _mean_f1(_held_out_part(rows[name])), default="")


def _mean_f1(row: Row) -> float:
    return statistics.mean(float(record["macro_f1"]) for record in row.values())


def _held_out_part(row: Row) -> Row:
    return {seed: record["held_out"] for seed, record in row.items()}


def _gap(ours: Row, theirs: Row) -> FormattedValue | None:
    """Return the mean difference of accuracy and macro-F1 over the seeds that both have, in points."""
    seeds = ours.keys() & theirs.keys()
    gaps = [100 * statistics.mean(ours[seed][one] - theirs[seed][one] for seed in seeds) for one in METRICS if seeds]
    return format_scores(gaps or None, "+")


def _scores(data: str, found: Mapping[str, _Scores]) -> Table:
    columns = ("model", "seeds", *map(str, SIZES))
    rows = tuple((name, min(map(len, scores.values()), default=0), *_by_size(scores)) for name, scores in found.items())
    notes = (
        "Accuracy / macro-F1 in points on the test set, means over the seeds, by number of labelled instances; `seeds`: the "
        "fewest of them. Models on an encoder have the one that SetFit has; `as in the paper`: without `label_texts` and "
        "`context`, which `pssa train` has for few labels. MN and TNet-ATT start from word vectors. `pssa train` without options "
        "goes on from the starter, which has seen reviews of many products, and of restaurants in MAMS without the sentences of "
        f"REST's test set; it was measured by `benchmarks/few_labels.py`. {_WHERE}",
    )
    return Table(f"few-labels-{data}", data.upper(), columns, rows, notes, columns[2:])


def _by_size(scores: _Scores) -> TableRow:
    return tuple(mean_scores(scores.get(size, {})) for size in SIZES)


def _pool(found: Sequence[_Scores]) -> _Scores:
    """Return held-out scores by size; data sets count as further seeds."""
    pooled: dict[int, dict[int, Record]] = {}
    for number, scores in enumerate(found):
        for size, row in scores.items():
            known = {len(DATA) * seed + number: record for seed, record in _held_out_part(row).items()}
            pooled.setdefault(size, {}).update(known)
    return pooled


def _settings(tried: Mapping[str, _Scores]) -> Table:
    rows: list[TableRow] = []
    for name, scores in tried.items():
        every = [record for row in scores.values() for record in row.values()]
        measured = format_count(len(every), len(SIZES) * len(DATA) * FEW_SEEDS)
        whole = mean_scores(dict(enumerate(every))) if len(scores) == len(SIZES) else None
        rows.append((name, measured, *_by_size(scores), whole))
    columns = ("settings", "measured", *map(str, SIZES), "mean")
    notes = (
        "Accuracy / macro-F1 in points on the fifth of train that is held out, means over seeds and data sets, by number of "
        "labelled instances. `mean`: over all sizes, where all are measured. The first row of each model is the default.",
    )
    return Table("few-labels-settings", "Which settings, on held-out data", columns, tuple(rows), notes, columns[2:])


def _figure(found: _Found) -> Figure:
    panels = []
    for data, rows in found.items():
        lines = (
            plot_line(
                name.replace("`", ""),
                {
                    at: [record["macro_f1"] for record in scores.get(size, {}).values()]
                    for at, size in enumerate(SIZES, 1)
                },
            )
            for name, scores in rows.items()
            if scores
        )
        panels.append((data.upper(), tuple(lines)))
    title, places = "Macro-F1 by number of labelled instances", tuple(map(str, SIZES))
    return Figure("few-labels", title, "labelled instances", "macro-F1", tuple(panels), places=places)


EXHIBIT = Exhibit("few-labels", "Few labels", show, encoders=EncoderUse(seeds=FEW_SEEDS, small=True))
