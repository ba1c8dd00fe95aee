"""The paper's figure of the entropy threshold: 1.0 to 7.0 bits, judged on held-out data, for each model and both saliencies.

A threshold decides what later rounds see, so the evidence of each is mined from the first round on.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pssa.data.evidence import KINDS
from pssa.experiments.cells import Cell, Mining, Training, settings
from pssa.experiments.comparison import METRICS, Row, gather, mean_and_std
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import (
    Exhibit,
    Figure,
    FormattedValue,
    Panel,
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
_WAYS = {"aw-as": "+AW-AS", "pg-as": "+PG-AS"}
_SEEDS = 3
_HELD_OUT = "Evaluated on a fifth of train, by sentence, another one for each seed; no test file is opened."
_PAPER = "The paper chose, on validation sets: " + ", ".join(
    f"{NAMES[model]} ({_WAYS[way]}) {chosen:g}" for (model, way), chosen in EPSILON.items()
)
_NOTES = (
    f"{_HELD_OUT} `gain`: mean difference to the same model without evidence on the same seeds, accuracy / macro-F1. "
    "Words are counted per instance, over five rounds; `with active`: share of the instances with an active word.",
    "Where nothing is mined the gain is that of the same training with other random numbers, which is noise.",
)


@dataclass(frozen=True)
class _Sweep:
    """One panel: a model and a mining method."""

    model: str
    way: str

    @property
    def name(self) -> str:
        return f"{NAMES[self.model]} ({_WAYS[self.way]})"

    def minings(self, scope: Scope, data: str, epsilon: float) -> dict[int, Mining]:
        places = scope.places(self.model, data, _SEEDS, held_out=True)
        return {place.seed: Mining(place, self.way, settings(epsilon=epsilon)) for place in places}

    def trainings(self, scope: Scope, data: str, epsilon: float) -> dict[int, Training]:
        minings = self.minings(scope, data, epsilon)
        return {seed: Training(mining.place, evidence=(mining,)) for seed, mining in minings.items()}

    def bases(self, scope: Scope, data: str) -> dict[int, Training]:
        places = scope.places(self.model, data, _SEEDS, held_out=True)
        return {place.seed: Training(place) for place in places}


# Mean and standard deviation, which one seed lacks.
_Measure = Callable[[_Sweep, str, float], tuple[float, float | None] | None]
_SWEEPS = tuple(_Sweep(model, way) for model in ATTENDING for way in _WAYS)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield a mining and a training for each threshold."""
    for sweep in _SWEEPS:
        for data in scope.data:
            yield from sweep.bases(scope, data).values()
            for epsilon in EPSILONS:
                yield from sweep.minings(scope, data, epsilon).values()
                yield from sweep.trainings(scope, data, epsilon).values()


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return curves of scores and of mined words, the threshold that is best, and the numbers."""
    found = _SweepRecords(scope, lookup)
    sweeps = [sweep for sweep in _SWEEPS if scope.has(sweep.model)]
    scores = [Panel(sweep.name, found.lines(sweep, found.macro_f1)) for sweep in sweeps]
    words = [Panel(sweep.name, found.lines(sweep, found.words)) for sweep in sweeps]
    axis = "epsilon, bits"
    notes = (f"{_HELD_OUT} {_PAPER}.",)
    return [
        Figure("epsilon-scores", "Macro-F1 by threshold", axis, "macro-F1, held out", tuple(scores), notes),
        Figure("epsilon-evidence", "Mined words by threshold", axis, "mined words per instance", tuple(words)),
        _chosen(scope, found, sweeps),
        _numbers(scope, found, sweeps),
    ]


class _SweepRecords:
    """Records by sweep, data set and threshold."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self._scope, self._lookup = scope, lookup

    def trained(self, sweep: _Sweep, data: str, epsilon: float) -> Row:
        return gather(self._lookup, sweep.trainings(self._scope, data, epsilon))

    def mined(self, sweep: _Sweep, data: str, epsilon: float) -> Row:
        return gather(self._lookup, sweep.minings(self._scope, data, epsilon))

    def macro_f1(self, sweep: _Sweep, data: str, epsilon: float) -> tuple[float, float | None] | None:
        row = self.trained(sweep, data, epsilon)
        return mean_and_std([record["macro_f1"] for record in row.values()]) if row else None

    def means(self, sweep: _Sweep, data: str) -> dict[float, float] | None:
        """Return macro-F1 by threshold, over the seeds that all thresholds have; None if there is no such seed."""
        rows = {epsilon: self.trained(sweep, data, epsilon) for epsilon in EPSILONS}
        common = set.intersection(*(set(row) for row in rows.values()))
        if not common:
            return None
        return {epsilon: statistics.mean(row[seed]["macro_f1"] for seed in common) for epsilon, row in rows.items()}

    def words(self, sweep: _Sweep, data: str, epsilon: float) -> tuple[float, float | None] | None:
        """Return mean and standard deviation over seeds of mined words per instance."""
        row = self.mined(sweep, data, epsilon)
        counts = [sum(_count(record, kind) for kind in KINDS) for record in row.values()]
        if not counts:
            return None
        return statistics.mean(counts), statistics.stdev(counts) if len(counts) > 1 else None

    def lines(self, sweep: _Sweep, measure: _Measure) -> tuple[PlotLine, ...]:
        lines = []
        for data in self._scope.data:
            found = {epsilon: measure(sweep, data, epsilon) for epsilon in EPSILONS}
            known = {epsilon: value for epsilon, value in found.items() if value is not None}
            if known:
                means, spreads = zip(*known.values(), strict=True)
                lines.append(PlotLine(data.upper(), tuple(known), means, spreads))
        return tuple(lines)

    def gain(self, sweep: _Sweep, data: str, epsilon: float) -> FormattedValue:
        ours, theirs = self.trained(sweep, data, epsilon), gather(self._lookup, sweep.bases(self._scope, data))
        common = sorted(set(ours) & set(theirs))
        if not common:
            return format_scores(None)
        means = [100 * statistics.mean(ours[seed][name] - theirs[seed][name] for seed in common) for name in METRICS]
        return format_scores(means, "+")


def _count(record: Record, kind: str) -> float:
    """Return the words of a kind per instance."""
    words: int = sum(found[kind] for found in record["rounds"].values())
    return words / max(1, int(record["instances"]))


def _chosen(scope: Scope, found: _SweepRecords, sweeps: Sequence[_Sweep]) -> Table:
    rows = tuple(
        (
            sweep.name,
            EPSILON[sweep.model, sweep.way],
            _best(found, sweep, scope.data),
            *(_best(found, sweep, (data,)) for data in scope.data),
        )
        for sweep in sweeps
    )
    columns = ("model", "paper", "ours", *(data.upper() for data in scope.data))
    note = (
        "The threshold with the highest mean macro-F1 on held-out data, over all data sets and on each, over the seeds that all "
        "thresholds have; the lowest of equals, and none if a threshold was not measured."
    )
    return Table("epsilon-chosen", "The threshold that held-out data chooses", columns, rows, (note,), columns[2:])


def _best(found: _SweepRecords, sweep: _Sweep, data_sets: Sequence[str]) -> float | None:
    means = [found.means(sweep, data) for data in data_sets]
    known = [each for each in means if each is not None]
    if not known or len(known) < len(means):
        return None
    return max(EPSILONS, key=lambda epsilon: statistics.mean(each[epsilon] for each in known))


def _numbers(scope: Scope, found: _SweepRecords, sweeps: Sequence[_Sweep]) -> Table:
    rows = tuple(
        (sweep.name, data.upper(), epsilon, *_fields(found, sweep, data, epsilon))
        for sweep in sweeps
        for data in scope.data
        for epsilon in EPSILONS
    )
    columns = (
        *("model", "data", "epsilon", "seeds", "accuracy", "macro-F1", "gain"),
        *("active words", "misleading words", "with active"),
    )
    return Table("epsilon-numbers", "Scores and evidence by threshold", columns, rows, _NOTES, columns[3:])


def _fields(found: _SweepRecords, sweep: _Sweep, data: str, epsilon: float) -> TableRow:
    row, mined = found.trained(sweep, data, epsilon), found.mined(sweep, data, epsilon)
    scores = [format_mean([record[metric] for record in row.values()]) for metric in METRICS]
    words: list[Value] = [None, None, None]
    if mined:
        records = mined.values()
        active, misleading = (statistics.mean(_count(record, kind) for record in records) for kind in KINDS)
        covered = statistics.mean(record["with_active"] / max(1, record["instances"]) for record in records)
        words = [round(active, 2), round(misleading, 2), format_percent(covered)]
    return (len(row), *scores, found.gain(sweep, data, epsilon), *words)


EXHIBIT = Exhibit("epsilon", "The entropy threshold", cells, show)
