"""Beyond the paper: its central claim, measured. Supervision should help where the opinion words of a sentence are rare.

Test instances are divided by the training frequency of the rarest opinion word that people marked in them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from paper.experiments.analyses import FREQUENCY_BUCKETS
from paper.experiments.comparison import Row, gather_found
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, Figure, FormattedValue, Part, Table, TableRow, format_mean, plot_line
from paper.studies.exhibits._rows import ANALYSED_ROWS, NAMES, analyses_of, marked_places, row_name

__all__ = ["EXHIBIT"]

_MEASURES = {"right": "accuracy", "mass": "attention on opinion words"}  # the sum, and the name of its mean
_GROUPS = {"rare (at most 10)": ("0", "1-2", "3-10"), "common (more than 10)": ("11-50", "> 50")}
_NOTES = (
    "Only test instances in which people marked an opinion word, by the training frequency of the rarest of these words "
    "(lower-cased; a sentence counts once for each of its aspects). Means over seeds, in points.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return gains on rare and on common words, then every bucket as tables and figures."""
    places = {
        (data, model): {
            row: gather_found(lookup, analyses_of(scope, "rare_words", row, model, data)) for row in ANALYSED_ROWS
        }
        for data, model in marked_places(scope)
    }
    tables = [_table(data, model, found) for (data, model), found in places.items()]
    return [_gains(places), *tables, *(_figure(measure, places) for measure in _MEASURES)]


_Sums = Mapping[str, Row]  # sums of each bucket by method and seed


def _table(data: str, model: str, found: _Sums) -> Table:
    """Return a table of buckets by methods."""
    some = next((record for each in found.values() for record in each.values()), None)
    rows = [
        (
            bucket,
            some[bucket]["instances"] if some else None,
            *(_mean_points(_shares(found[row], (bucket,), sums)) for sums in _MEASURES for row in ANALYSED_ROWS),
            _mean_points(
                [some[bucket]["even"] / some[bucket]["instances"]] if some and some[bucket]["instances"] else []
            ),
        )
        for bucket in FREQUENCY_BUCKETS
    ]
    columns = (
        "training frequency",
        "instances",
        *(f"{name}, {row or 'plain'}" for name in ("accuracy", "attention") for row in ANALYSED_ROWS),
        "attention, even",
    )
    title = f"{NAMES[model]} on {data.upper()}"
    return Table(f"rare-words-{data}-{model}", title, columns, tuple(rows), _NOTES, columns[2:])


def _gains(places: Mapping[tuple[str, str], _Sums]) -> Table:
    """Return differences to the plain model on rare and on common words, over the seeds that both have."""
    rows: list[TableRow] = []
    for (data, model), found in places.items():
        for method in ANALYSED_ROWS[1:]:
            common = sorted(set(found[""]) & set(found[method]))
            ours, plain = ({seed: found[row][seed] for seed in common} for row in (method, ""))
            gains = [_gain(ours, plain, buckets, sums) for sums in _MEASURES for buckets in _GROUPS.values()]
            rows.append((row_name(model, method), data.upper(), len(common), *gains))
    columns = ("model", "data", "seeds", *(f"{name}: {group}" for name in _MEASURES.values() for group in _GROUPS))
    note = (
        "Difference to the plain model of the same seeds, in points, ± standard deviation if there are several seeds."
    )
    title = "Gains where opinion words are rare, and where not"
    return Table("rare-words-gains", title, columns, tuple(rows), (note,), ("seeds",))


def _figure(measure: str, places: Mapping[tuple[str, str], _Sums]) -> Figure:
    """Return a figure with a panel per model and data set and a line per method."""
    panels = []
    for (data, model), found in places.items():
        lines = [
            plot_line(
                method or "plain",
                {at: _shares(found[method], (each,), measure) for at, each in enumerate(FREQUENCY_BUCKETS, start=1)},
            )
            for method in ANALYSED_ROWS
        ]
        panels.append((f"{NAMES[model]}, {data.upper()}", tuple(line for line in lines if line.x)))
    title = f"{_MEASURES[measure].capitalize()} by training frequency"
    name, label = f"rare-words-{_MEASURES[measure].split()[0]}", f"{_MEASURES[measure]} (%)"
    below = "training frequency of the rarest opinion word"
    return Figure(name, title, below, label, tuple(panels), places=tuple(FREQUENCY_BUCKETS))


def _shares(found: Row, buckets: Sequence[str], sums: str) -> list[float]:
    """Return means over the instances of some buckets, by seed; none without an instance."""
    counts = [sum(each[bucket]["instances"] for bucket in buckets) for each in found.values()]
    return [
        sum(each[bucket][sums] for bucket in buckets) / count
        for each, count in zip(found.values(), counts, strict=True)
        if count
    ]


def _gain(ours: Row, theirs: Row, buckets: Sequence[str], sums: str) -> FormattedValue | None:
    pairs = zip(_shares(ours, buckets, sums), _shares(theirs, buckets, sums), strict=True)
    return format_mean([one - other for one, other in pairs], "+")


def _mean_points(shares: Sequence[float]) -> float | None:
    return 100 * statistics.mean(shares) if shares else None


_TITLE = "Gains by how rare opinion words are in training"
EXHIBIT = Exhibit("rare-words", _TITLE, show, needs=("opinion_words",), encoders=SWEEP)
