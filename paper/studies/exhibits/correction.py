"""Beyond the paper: what correcting mined evidence buys.

Training starts from the words of a consensus. A simulated person corrects 25 to 400 instances, or all, in random order or the
most useful first: the words that people marked take the place of the mined ones. Then the model is trained again, and scored on
its own test set, on that of the other domain and on variants.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paper.experiments.cells import CORRECTED, Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.comparison import gather
from paper.experiments.corrections import ALL, ORDERS
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import (
    Exhibit,
    Figure,
    FormattedValue,
    Part,
    Table,
    TableRow,
    format_mean,
    plot_line,
)
from paper.studies.exhibits._rows import FEW_SEEDS, FULL_GAMMA, METHODS, NAMES
from pssa.stress.variants import VERSION

__all__ = ["EXHIBIT"]

_MODELS = ("memnet", "tnet_att")
_OTHER_DOMAIN = {"laptop": "rest", "rest": "laptop"}
_COUNTS = (25, 50, 100, 200, 400)
_LINES = {"random": "random order", "useful": "most useful first"}
_POINTS: tuple[int | str, ...] = (0, *_COUNTS, ALL)
_NOTES = (
    "Means over seeds ± standard deviation, in points. `in domain` and `other domain`: macro-F1 on the test sets of the training "
    "data and of the other domain; `all right`: instances right in the original and every variant. Instances are chosen among "
    "those in which people marked a word; their words replace the mined ones. `all`: every such instance, in either order.",
)
_ORDER_NOTES = (
    "Means over 25, 50, 100, 200 and 400 corrections, places and seeds, in points, ± standard error over places and seeds. "
    "`over none`: compared with the same models without a correction. `useful at n - random at 2n`: over 25, 50, 100 and 200; "
    "zero or more means that the order halves the work, if so many corrections gain anything at all.",
    "We measured models on word vectors only: what corrections buy on an encoder is not known. Each number of corrections costs "
    "one training with evidence, on top of the consensus, which is mined once.",
)


@dataclass(frozen=True)
class _Measure:
    """A score of a trained model: the cell that has it, and where in its record."""

    name: str
    label: str  # of the axis
    cell: Callable[[Training], Cell]
    value: Callable[[Record], float]


_MEASURES = (
    _Measure("in domain", "macro-F1 at home", lambda training: training, lambda record: float(record["macro_f1"])),
    _Measure(
        "other domain",
        "macro-F1 in the other domain",
        lambda training: Analysis(training, "scores", on=_OTHER_DOMAIN[training.place.data]),
        lambda record: float(record["found"]["macro_f1"]),
    ),
    _Measure(
        "all right",
        "right in every variant",
        lambda training: Analysis(training, "stress", settings(version=VERSION)),
        lambda record: float(record["found"]["all_right"]),
    ),
)


def _places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield models and data sets in which people marked words, as far as the other domain is there too."""
    for data, other in _OTHER_DOMAIN.items():
        if scope.has_opinion_words(data) and other in scope.data:
            yield from ((model, data) for model in _MODELS if scope.has(model))


def _training(place: Place, count: int | str, order: str) -> Training:
    if count == 0:
        return METHODS[FULL_GAMMA].training_in(place)  # as corrected words have it
    chosen = settings(sentences=count, order="random" if count == ALL else order)
    return Training(place, evidence=Mining(place, CORRECTED, chosen))


_PointScores = Callable[[str, str, int | str, str, _Measure], Mapping[int, float]]  # by seed


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a comparison of the orders, a figure for each score, and a table for each place."""

    def scores(model: str, data: str, count: int | str, order: str, measure: _Measure) -> dict[int, float]:
        each = scope.places(model, data, FEW_SEEDS)
        found = gather(lookup, [measure.cell(_training(place, count, order)) for place in each])
        return {seed: measure.value(record) for seed, record in found.items()}

    places = list(_places(scope))
    figures = [_figure(scores, places, measure) for measure in _MEASURES]
    return [_order_table(scores, places), *figures, *(_place_table(scores, model, data) for model, data in places)]


_Point = tuple[int | str, str]  # a number of corrections and their order


def _order_table(scores: _PointScores, places: Sequence[tuple[str, str]]) -> Table:
    none, last = (0, "random"), (ALL, "random")
    comparisons: dict[str, list[tuple[_Point, _Point]]] = {
        "random over none": [((count, "random"), none) for count in _COUNTS],
        "useful over none": [((count, "useful"), none) for count in _COUNTS],
        "useful - random": [((count, "useful"), (count, "random")) for count in _COUNTS],
        "useful at n - random at 2n": [((count, "useful"), (2 * count, "random")) for count in _COUNTS[:-1]],
        "all over none": [(last, none)],
    }
    rows: list[TableRow] = [
        (measure.name, *(_mean_difference(scores, places, pairs, measure) for pairs in comparisons.values()))
        for measure in _MEASURES
    ]
    title = "Does the order of corrections matter?"
    columns = ("score", *comparisons)
    return Table("correction-orders", title, columns, tuple(rows), _ORDER_NOTES, columns[1:])


def _mean_difference(
    scores: _PointScores, places: Sequence[tuple[str, str]], pairs: Sequence[tuple[_Point, _Point]], measure: _Measure
) -> FormattedValue | None:
    """Return the mean difference of pairs of points over places and seeds, with its standard error."""
    found: list[float] = []
    for model, data in places:
        both = [tuple(scores(model, data, *point, measure) for point in pair) for pair in pairs]
        seeds = set.intersection(*({*one} & {*other} for one, other in both))
        found += [100 * statistics.mean(one[seed] - other[seed] for one, other in both) for seed in sorted(seeds)]
    if len(found) < 2:
        return None
    mean, error = statistics.mean(found), statistics.stdev(found) / math.sqrt(len(found))
    return FormattedValue(f"{mean:+.2f} ± {error:.2f}", {"mean": mean, "error": error})


def _figure(scores: _PointScores, places: Sequence[tuple[str, str]], measure: _Measure) -> Figure:
    panels = []
    for model, data in places:
        lines = []
        for order in ORDERS:
            found = {at: scores(model, data, count, order, measure) for at, count in enumerate(_POINTS, start=1)}
            lines.append(plot_line(_LINES[order], {at: list(values.values()) for at, values in found.items()}))
        panels.append((f"{NAMES[model]}, {data.upper()}", tuple(line for line in lines if line.x)))
    name = f"correction-{measure.name.replace(' ', '-')}"
    names = tuple(str(count) for count in _POINTS)
    title = f"{measure.label[:1].upper()}{measure.label[1:]}, by number of corrected instances"
    return Figure(name, title, "corrected instances", f"{measure.label} (%)", tuple(panels), places=names)


def _place_table(scores: _PointScores, model: str, data: str) -> Table:
    rows: list[TableRow] = []
    for count in _POINTS:
        for order in ORDERS[:1] if count in (0, ALL) else ORDERS:
            found = [scores(model, data, count, order, measure) for measure in _MEASURES]
            shown = "" if count in (0, ALL) else order
            rows.append((str(count), shown, len(found[0]), *(format_mean(list(each.values())) for each in found)))
    columns = ("corrected", "order", "seeds", *(measure.name for measure in _MEASURES))
    title = f"{NAMES[model]} trained on {data.upper()}"
    return Table(f"correction-{data}-{model}", title, columns, tuple(rows), _NOTES, ("seeds",))


EXHIBIT = Exhibit("correction", "What correcting evidence buys", show, needs=("opinion_words", "vectors"))
