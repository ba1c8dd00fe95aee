"""The paper's table of overall results: five models, plain and with every method, on three data sets, beside the paper's numbers.

An optimistic column shows what the same trainings would report if the epoch were chosen on the test set.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from paper.experiments.cells import Cell
from paper.experiments.comparison import Gain, other_tests, other_trainings
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import DATA_SETS, Scope
from paper.studies.exhibit import HEADLINE, Exhibit, FormattedValue, Part, Table, TableRow, format_count, not_measured
from paper.studies.exhibits._rows import (
    ATTENDING,
    COLUMNS,
    METHODS,
    NAMES,
    PAPER_PENALTY,
    SMALLER_PLAN,
    STARS,
    ModelRow,
    Scoreboard,
    best_epoch,
    cells_of,
    format_gain,
    format_interval,
    paper_rows,
    places_by_model,
)
from paper.studies.paper import OVERALL, QUOTED
from pssa.evaluation.significance import SIGNIFICANT

__all__ = ["EXHIBIT"]

_MODELS = ("memnet", "tnet", "tnet_att", "bertabsa", "bertabsa_att")
# The model that the stars of the paper's caption compare with, if it is not the row's own.
_CAPTION = {"tnet_att": "tnet", "bertabsa_att": "bertabsa"}
_NOTES = (
    "`gain`: mean difference to the same model without the method, accuracy / macro-F1; `over TNet or BERTABSA`: to that model, "
    f"as in the paper's caption. {STARS} `again` is the baseline with other random numbers. `paper's penalty`: the paper's "
    "distance and gamma instead of those that held-out data chose, beside the paper's numbers of the same row.",
    "The last column chooses on the test set and is not a result: the epoch of the highest accuracy, of every single model; "
    f"ensembles and +KT have no such epochs. {SMALLER_PLAN}",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield the trainings; rows that need the same evidence or baseline share it."""
    return cells_of(scope, _entries(_MODELS))


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return summaries, a table per data set, and the rows that the paper quotes."""
    board = Scoreboard(scope, lookup)
    summed = [part(scope, board) for part in (aim, averages, gains, gains_over_control)]
    return [*summed, *(_table(scope, board, data) for data in scope.data), _quoted()]


def _entries(models: Sequence[str]) -> list[ModelRow]:
    return [ModelRow(model, method) for model in models for method in paper_rows(model)]


def _table(scope: Scope, board: Scoreboard, data: str) -> Table:
    tried = (entry for entry in _entries(_MODELS) if entry.trainings(scope, data))
    rows = [_fields(board, entry, data) for entry in tried]
    columns = (*COLUMNS[:5], "over TNet or BERTABSA", *COLUMNS[5:], "best epoch on test")
    return Table(f"overall-{data}", data.upper(), columns, tuple(rows), _NOTES, ("seeds",))


def _fields(board: Scoreboard, entry: ModelRow, data: str) -> TableRow:
    first = board.fields(entry, data, OVERALL.get((entry.model, entry.method.name.removesuffix(PAPER_PENALTY), data)))
    other = _CAPTION.get(entry.model)
    over = format_gain(board.gain(entry, ModelRow(other, METHODS[""]), data) if other else None)
    return (*first[:5], over, *first[5:], best_epoch(board.row(entry, data)))


def _quoted() -> str:
    quoted = (
        f"{name}: {', '.join(f'{data.upper()} {numbers}' for data, numbers in rows.items())}"
        for name, rows in QUOTED.items()
    )
    return f"Rows that the paper quotes from others, accuracy / macro-F1: {'; '.join(quoted)}."


_SUPERVISED = ("+AW-AS", "+PG-AS", "+Consensus", "+Human")
_SELF_SUPERVISED = ("+AW-AS", "+PG-AS", "+Consensus")
_PLACES = len(ATTENDING) * len(DATA_SETS)
_Place = tuple[str, str]  # model, data set
_AIM_NOTES = (
    "For every row that needs no human words: pairs of a model and a data set that were measured; pairs with a higher macro-F1 "
    "than the baseline of the same seeds; the mean gain; pairs whose gain has p < .05 by the paired bootstrap over test "
    "instances; and the sum of the gains as a share of the sum of +Human's, where both were measured. `over both controls`: the "
    "mean difference in macro-F1 to the mean of the baseline and of `again`, a second training without evidence, with its 95 % "
    "interval by a bootstrap that resamples the seeds of each row and the test instances.",
    f"Our aim for the best of them: above the baseline in all {_PLACES} pairs, by 1.5 points on average, "
    "p < .05 in six, and half of +Human's gain.",
)
_GAIN_NOTES = (
    "Stars: * p < .05, ** p < .01, one-sided, by paired bootstrap over test instances, as in the paper; they do not test whether "
    "other random numbers would give the same. `again` is the baseline trained a second time with other random numbers: its gain "
    "is chance, with or without stars.",
)
_CONTROL_NOTES = (
    "Differences to `again`, which has the random numbers of the supervised rows and a penalty of zero weight, on the seeds that "
    "both have. Stars here test other trainings as well as other test sets: * p < .05, ** p < .01, one-sided, by a bootstrap "
    "that resamples seeds together with instances. With three seeds the test is lenient, and with one it says nothing.",
)
_AVERAGE_NOTES = (
    "Means over the data sets that have both rows, accuracy / macro-F1; `seeds`: at least this many on each. * p < .05, "
    "** p < .01, one-sided. `on other tests`: over the plain model, p by resamples of the test instances, as in the paper. `of "
    "other trainings too`: the same gain, p by resamples of seeds together with instances. `over a second training`: over "
    "`again`, p as in the column before. `95 % interval`: of the last difference in macro-F1, by the same resamples; where it "
    "includes zero, it says how large a gain or a loss may have been missed. 20,000 resamples.",
)


def aim(scope: Scope, board: Scoreboard) -> Table:
    """Return how far each self-supervised row gets."""
    rows = [_reached(scope, board, name) for name in _SELF_SUPERVISED]
    columns = (
        *("row", "measured", "above the baseline", "mean gain in macro-F1", "over both controls", "p < .05"),
        "of +Human's gain",
    )
    return Table("overall-aim", "How far supervision without human words gets", columns, tuple(rows), _AIM_NOTES)


def gains(scope: Scope, board: Scoreboard) -> Table:
    """Return gains over the same model without supervision."""
    title = "Gains over the same model without supervision, accuracy / macro-F1"
    rows = _rows(scope, (*_SUPERVISED, "again"), lambda entry, data: board.gain(entry, entry.base, data))
    return Table(
        "overall-gains", title, ("model", "data", *_SUPERVISED, "again"), rows, _GAIN_NOTES, (*_SUPERVISED, "again")
    )


def gains_over_control(scope: Scope, board: Scoreboard) -> Table:
    """Return gains over a second training of the same model without supervision."""
    title = "Gains over a second training without supervision, accuracy / macro-F1"
    rows = _rows(scope, _SUPERVISED, board.gain_over_control)
    return Table("overall-control", title, ("model", "data", *_SUPERVISED), rows, _CONTROL_NOTES, _SUPERVISED)


def averages(scope: Scope, board: Scoreboard) -> Table:
    """Return the mean gain of every row over all data sets."""
    gains = ("on other tests", "of other trainings too", "over a second training")
    attending, names = (model for model in ATTENDING if scope.has(model)), (*_SUPERVISED, "again")
    rows = tuple(_average(board, ModelRow(model, METHODS[name])) for model in attending for name in names)
    columns = ("model", "row", "data sets", "seeds", *gains, "95 % interval")
    return Table("overall-average", "Gains on average over the data sets", columns, rows, _AVERAGE_NOTES, gains[:1])


def _average(board: Scoreboard, entry: ModelRow) -> TableRow:
    again = ModelRow(entry.model, METHODS["again"])
    number, gain = board.average(entry, entry.base, other_tests)
    _, strictly = board.average(entry, entry.base, other_trainings)
    _, over_again = board.average(entry, again, other_trainings) if entry != again else (0, None)
    counts = (number or None, None if gain is None else gain.seeds)
    gains = map(format_gain, (gain, strictly, over_again))
    return (NAMES[entry.model], entry.method.name, *counts, *gains, _format_interval(over_again))


def _format_interval(gain: Gain | None) -> FormattedValue:
    if gain is None:
        return not_measured("low", "high")
    return FormattedValue(f"{gain.low:+.2f} to {gain.high:+.2f}", {"low": gain.low, "high": gain.high})


def _rows(scope: Scope, names: tuple[str, ...], gain: Callable[[ModelRow, str], Gain | None]) -> tuple[TableRow, ...]:
    return tuple(
        (NAMES[model], data.upper(), *(format_gain(gain(ModelRow(model, METHODS[name]), data)) for name in names))
        for model, data in places_by_model(scope)
    )


def _reached(scope: Scope, board: Scoreboard, name: str) -> TableRow:
    found, human = (_gains_of(scope, board, row) for row in (name, "+Human"))
    points = [gain.macro_f1 for gain in found.values()]
    measured = format_count(len(points), _PLACES)
    if not points:
        return (name, measured, None, None, format_interval(None), None, None)
    mean = statistics.mean(points)
    return (
        *(name, measured, sum(point > 0 for point in points), FormattedValue(f"{mean:+.2f}", {"points": mean})),
        format_interval(board.over_both_controls(METHODS[name], found)),
        sum(gain.macro_f1 > 0 and gain.p_macro_f1 < SIGNIFICANT for gain in found.values()),
        _share_of(human, found),
    )


def _share_of(human: Mapping[_Place, Gain], found: Mapping[_Place, Gain]) -> FormattedValue:
    """Return the gains as a share of those by human words, where both were measured."""
    both = found.keys() & human.keys()
    total = sum(human[place].macro_f1 for place in both)
    if total <= 0:
        return not_measured("share", "measured")
    share = sum(found[place].macro_f1 for place in both) / total
    text = f"{share:.0%} ({len(both)} measured)".replace("%", " %")
    return FormattedValue(text, {"share": share, "measured": len(both)})


def _gains_of(scope: Scope, board: Scoreboard, name: str) -> dict[_Place, Gain]:
    entries = {place: ModelRow(place[0], METHODS[name]) for place in places_by_model(scope)}
    found = {place: board.gain(entry, entry.base, place[1]) for place, entry in entries.items()}
    return {place: gain for place, gain in found.items() if gain is not None}


EXHIBIT = Exhibit("overall", "Overall results", cells, show, encoders=HEADLINE)
