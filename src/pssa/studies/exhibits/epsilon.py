"""The paper's figure of the entropy threshold: 1.0 to 7.0 bits, judged on held-out data, for each model and both saliencies.

A threshold decides what later rounds see, so the evidence of each is mined from the first round on.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pssa.data.evidence import KINDS
from pssa.experiments.cells import Cell, Mining, Training, settings
from pssa.experiments.comparison import METRICS, Row, gather, mean_and_std
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import (
    Exhibit,
    Figure,
    FormattedValue,
    Part,
    PlotLine,
    Table,
    TableRow,
    Value,
    format_mean,
    format_percent,
    format_scores,
)
from pssa.studies.exhibits._rows import ATTENDING, NAMES
from pssa.studies.paper import EPSILON

__all__ = ["EXHIBIT"]

EPSILONS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
_METHODS = {"aw-as": "+AW-AS", "pg-as": "+PG-AS"}
_SEEDS = 3
_HELD_OUT = "Evaluated on a fifth of train, by sentence, another one for each seed; no test file is opened."
_PAPER = "The paper chose, on validation sets: " + ", ".join(
    f"{NAMES[model]} ({_METHODS[method]}) {chosen:g}" for (model, method), chosen in EPSILON.items()
)
_NOTES = (
    f"{_HELD_OUT} `gain`: mean difference to the same model without evidence on the same seeds, accuracy / macro-F1. "
    "Words are counted per instance, over five rounds; `with active`: share of the instances with an active word.",
    "Where nothing is mined the gain is that of the same training with other random numbers, which is noise.",
)


@dataclass(frozen=True)
class _Sweep:
    """One panel: a model and a mining method over all thresholds."""

    scope: Scope
    model: str
    method: str

    @property
    def name(self) -> str:
        return f"{NAMES[self.model]} ({_METHODS[self.method]})"

    def baselines(self, data: str) -> dict[int, Training]:
        places = self.scope.places(self.model, data, _SEEDS, held_out=True)
        return {place.seed: Training(place) for place in places}

    def minings(self, data: str, epsilon: float) -> dict[int, Mining]:
        baselines = self.baselines(data).items()
        return {seed: Mining(base.place, self.method, settings(epsilon=epsilon)) for seed, base in baselines}

    def trainings(self, data: str, epsilon: float) -> dict[int, Training]:
        minings = self.minings(data, epsilon).items()
        return {seed: Training(mining.place, evidence=(mining,)) for seed, mining in minings}


def _sweeps(scope: Scope) -> list[_Sweep]:
    return [_Sweep(scope, model, method) for model in ATTENDING if scope.has(model) for method in _METHODS]


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield a mining and a training for each threshold."""
    for sweep in _sweeps(scope):
        for data in scope.data:
            yield from sweep.baselines(data).values()
            for epsilon in EPSILONS:
                yield from sweep.minings(data, epsilon).values()
                yield from sweep.trainings(data, epsilon).values()


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return curves of scores and of mined words, the threshold that is best, and the numbers."""
    sweeps = _sweeps(scope)
    scores = [(sweep.name, _lines(sweep, partial(_macro_f1, lookup))) for sweep in sweeps]
    words = [(sweep.name, _lines(sweep, partial(_n_words, lookup))) for sweep in sweeps]
    axis = "epsilon, bits"
    notes = (f"{_HELD_OUT} {_PAPER}.",)
    return [
        Figure("epsilon-scores", "Macro-F1 by threshold", axis, "macro-F1, held out", tuple(scores), notes),
        Figure("epsilon-evidence", "Mined words by threshold", axis, "mined words per instance", tuple(words)),
        _chosen(scope, lookup),
        _numbers(scope, lookup),
    ]


# Mean and standard deviation, which one seed lacks.
_Mean = tuple[float, float | None] | None


def _macro_f1(lookup: RecordLookup, sweep: _Sweep, data: str, epsilon: float) -> _Mean:
    row = gather(lookup, sweep.trainings(data, epsilon))
    return mean_and_std([record["macro_f1"] for record in row.values()]) if row else None


def _n_words(lookup: RecordLookup, sweep: _Sweep, data: str, epsilon: float) -> _Mean:
    """Return mean and standard deviation over seeds of mined words per instance."""
    row = gather(lookup, sweep.minings(data, epsilon))
    counts = [sum(_count(record, kind) for kind in KINDS) for record in row.values()]
    if not counts:
        return None
    return statistics.mean(counts), statistics.stdev(counts) if len(counts) > 1 else None


def _lines(sweep: _Sweep, measure: Callable[[_Sweep, str, float], _Mean]) -> tuple[PlotLine, ...]:
    lines = []
    for data in sweep.scope.data:
        found = {epsilon: measure(sweep, data, epsilon) for epsilon in EPSILONS}
        known = {epsilon: value for epsilon, value in found.items() if value is not None}
        if known:
            means, spreads = zip(*known.values(), strict=True)
            lines.append(PlotLine(data.upper(), tuple(known), means, spreads))
    return tuple(lines)


def _count(record: Record, kind: str) -> float:
    """Return the words of a kind per instance."""
    words: int = sum(found[kind] for found in record["rounds"].values())
    return words / max(1, int(record["instances"]))


def _chosen(scope: Scope, lookup: RecordLookup) -> Table:
    rows = tuple(
        (
            sweep.name,
            EPSILON[sweep.model, sweep.method],
            *(_best(lookup, sweep, data_sets) for data_sets in (scope.data, *((data,) for data in scope.data))),
        )
        for sweep in _sweeps(scope)
    )
    columns = ("model", "paper", "ours", *(data.upper() for data in scope.data))
    note = (
        "The threshold with the highest mean macro-F1 on held-out data, over all data sets and on each, over the seeds that all "
        "thresholds have; the lowest of equals, and none if a threshold was not measured."
    )
    return Table("epsilon-chosen", "The threshold that held-out data chooses", columns, rows, (note,), columns[2:])


def _best(lookup: RecordLookup, sweep: _Sweep, data_sets: Sequence[str]) -> float | None:
    means = [_means(lookup, sweep, data) for data in data_sets]
    known = [each for each in means if each]
    if not known or len(known) < len(means):
        return None
    return max(EPSILONS, key=lambda epsilon: statistics.mean(each[epsilon] for each in known))


def _means(lookup: RecordLookup, sweep: _Sweep, data: str) -> dict[float, float]:
    """Return macro-F1 by threshold, over the seeds that all thresholds have; empty if there is no such seed."""
    rows = {epsilon: gather(lookup, sweep.trainings(data, epsilon)) for epsilon in EPSILONS}
    common = set.intersection(*(set(row) for row in rows.values()))
    if not common:
        return {}
    return {epsilon: statistics.mean(row[seed]["macro_f1"] for seed in common) for epsilon, row in rows.items()}


def _numbers(scope: Scope, lookup: RecordLookup) -> Table:
    rows = tuple(
        (sweep.name, data.upper(), epsilon, *_fields(lookup, sweep, data, epsilon))
        for sweep in _sweeps(scope)
        for data in scope.data
        for epsilon in EPSILONS
    )
    columns = (
        *("model", "data", "epsilon", "seeds", "accuracy", "macro-F1", "gain"),
        *("active words", "misleading words", "with active"),
    )
    return Table("epsilon-numbers", "Scores and evidence by threshold", columns, rows, _NOTES, columns[3:])


def _fields(lookup: RecordLookup, sweep: _Sweep, data: str, epsilon: float) -> TableRow:
    row, mined = (gather(lookup, cells(data, epsilon)) for cells in (sweep.trainings, sweep.minings))
    scores = [format_mean([record[metric] for record in row.values()]) for metric in METRICS]
    words: list[Value] = [None, None, None]
    if mined:
        records = mined.values()
        active, misleading = (statistics.mean(_count(record, kind) for record in records) for kind in KINDS)
        covered = statistics.mean(record["with_active"] / max(1, record["instances"]) for record in records)
        words = [round(active, 2), round(misleading, 2), format_percent(covered)]
    return (len(row), *scores, _gain(row, gather(lookup, sweep.baselines(data))), *words)


def _gain(ours: Row, theirs: Row) -> FormattedValue:
    common = sorted(set(ours) & set(theirs))
    if not common:
        return format_scores(None)
    means = [100 * statistics.mean(ours[seed][name] - theirs[seed][name] for seed in common) for name in METRICS]
    return format_scores(means, "+")


EXHIBIT = Exhibit("epsilon", "The entropy threshold", cells, show)
