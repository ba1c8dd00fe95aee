"""Beyond the paper: its central claim, measured. Supervision should help where the opinion words of a sentence are rare.

Test instances are divided by the training frequency of the rarest opinion word that people marked in them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from pssa.experiments.analyses import FREQUENCY_BUCKETS
from pssa.experiments.cells import Cell
from pssa.experiments.comparison import gather, mean_and_std
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import Exhibit, Figure, FormattedValue, Panel, Part, PlotLine, Table, TableRow, format_mean
from pssa.studies.exhibits._rows import ANALYSED_ROWS, NAMES, analyses_of, marked_places, row_name

__all__ = ["EXHIBIT"]

_MEASURES = {"right": "accuracy", "mass": "attention on opinion words"}  # the sum, and the name of its mean
_GROUPS = {"rare (at most 10)": ("0", "1-2", "3-10"), "common (more than 10)": ("11-50", "> 50")}
_NOTES = (
    "Only test instances in which people marked an opinion word, by the training frequency of the rarest of these words "
    "(lower-cased; a sentence counts once for each of its aspects). Means over seeds, in points.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield one analysis of every row and seed."""
    for data, model in marked_places(scope):
        for method in ANALYSED_ROWS:
            yield from analyses_of(scope, "rare_words", method, model, data).values()


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return gains on rare and on common words, then every bucket as tables and figures."""
    board = _BucketRecords(scope, lookup)
    places = list(marked_places(scope))
    tables = [board.table(data, model) for data, model in places]
    return [board.gains(places), *tables, *(board.figure(measure, places) for measure in _MEASURES)]


class _BucketRecords:
    """Records by model, method and data set."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self._scope, self._lookup = scope, lookup

    def found(self, method: str, model: str, data: str) -> dict[int, Record]:
        """Return the sums of each bucket, by seed."""
        cells = analyses_of(self._scope, "rare_words", method, model, data)
        return {seed: record["found"] for seed, record in gather(self._lookup, cells).items()}

    def table(self, data: str, model: str) -> Table:
        """Return a table of buckets by methods."""
        found = {method: list(self.found(method, model, data).values()) for method in ANALYSED_ROWS}
        some = next((each[0] for each in found.values() if each), None)
        rows = [
            (
                bucket,
                some[bucket]["instances"] if some else None,
                *(
                    _mean_points(_shares(found[method], (bucket,), sums))
                    for sums in _MEASURES
                    for method in ANALYSED_ROWS
                ),
                _mean_points(
                    [some[bucket]["even"] / some[bucket]["instances"]] if some and some[bucket]["instances"] else []
                ),
            )
            for bucket in FREQUENCY_BUCKETS
        ]
        columns = (
            "training frequency",
            "instances",
            *(f"{name}, {method or 'plain'}" for name in ("accuracy", "attention") for method in ANALYSED_ROWS),
            "attention, even",
        )
        return Table(
            f"rare-words-{data}-{model}", f"{NAMES[model]} on {data.upper()}", columns, tuple(rows), _NOTES, columns[2:]
        )

    def gains(self, places: Sequence[tuple[str, str]]) -> Table:
        """Return differences to the plain model on rare and on common words, over the seeds that both have."""
        rows: list[TableRow] = []
        for data, model in places:
            plain = self.found("", model, data)
            for method in ANALYSED_ROWS[1:]:
                ours = self.found(method, model, data)
                common = sorted(set(plain) & set(ours))
                pairs = ([ours[seed] for seed in common], [plain[seed] for seed in common])
                gains = [_gain(*pairs, buckets, sums) for sums in _MEASURES for buckets in _GROUPS.values()]
                rows.append((row_name(model, method), data.upper(), len(common), *gains))
        columns = ("model", "data", "seeds", *(f"{name}: {group}" for name in _MEASURES.values() for group in _GROUPS))
        notes = (
            "Difference to the plain model of the same seeds, in points, ± standard deviation if there are several seeds.",
        )
        return Table(
            "rare-words-gains",
            "Gains where opinion words are rare, and where not",
            columns,
            tuple(rows),
            notes,
            ("seeds",),
        )

    def figure(self, measure: str, places: Sequence[tuple[str, str]]) -> Figure:
        """Return a figure with a panel per model and data set and a line per method."""
        panels = []
        for data, model in places:
            lines = (_line(method, list(self.found(method, model, data).values()), measure) for method in ANALYSED_ROWS)
            panels.append(Panel(f"{NAMES[model]}, {data.upper()}", tuple(line for line in lines if line.x)))
        title = f"{_MEASURES[measure].capitalize()} by training frequency"
        name, label = f"rare-words-{_MEASURES[measure].split()[0]}", f"{_MEASURES[measure]} (%)"
        below = "training frequency of the rarest opinion word"
        return Figure(name, title, below, label, tuple(panels), places=tuple(FREQUENCY_BUCKETS))


def _shares(found: Sequence[Record], buckets: Sequence[str], sums: str) -> list[float]:
    """Return means over the instances of some buckets, by seed; none without an instance."""
    counts = [sum(each[bucket]["instances"] for bucket in buckets) for each in found]
    return [
        sum(each[bucket][sums] for bucket in buckets) / count
        for each, count in zip(found, counts, strict=True)
        if count
    ]


def _gain(ours: Sequence[Record], theirs: Sequence[Record], buckets: Sequence[str], sums: str) -> FormattedValue:
    pairs = zip(_shares(ours, buckets, sums), _shares(theirs, buckets, sums), strict=True)
    return format_mean([one - other for one, other in pairs], "+")


def _mean_points(shares: Sequence[float]) -> float | None:
    return 100 * statistics.mean(shares) if shares else None


def _line(method: str, found: Sequence[Record], measure: str) -> PlotLine:
    points = {
        float(place): mean_and_std(shares)
        for place, bucket in enumerate(FREQUENCY_BUCKETS, start=1)
        if (shares := _shares(found, (bucket,), measure))
    }
    means, spreads = zip(*points.values(), strict=True) if points else ((), ())
    return PlotLine(method or "plain", tuple(points), means, spreads)


EXHIBIT = Exhibit(
    "rare-words", "Gains by how rare opinion words are in training", cells, show, needs=("opinion_words",), beyond=True
)
