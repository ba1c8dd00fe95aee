"""The paper's table of overall results: five models, plain and with every method, on three data sets, beside the paper's numbers.

An optimistic column shows what the same trainings would report if the epoch were chosen on the test set.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from paper.experiments.comparison import Change, Gain, other_tests
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import DATA_SETS, Scope
from paper.studies.exhibit import HEADLINE, Exhibit, FormattedValue, Part, Table, TableRow, format_count, format_number
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
    format_gain,
    format_gain_interval,
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


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return summaries, a table per data set, and the rows that the paper quotes."""
    board = Scoreboard(scope, lookup)
    summed = [part(board) for part in (aim, averages, gains, gains_over_control)]
    return [*summed, *(_table(board, data) for data in scope.data), _quoted()]


def _entries(models: Sequence[str]) -> list[ModelRow]:
    return [ModelRow(model, method) for model in models for method in paper_rows(model)]


def _table(board: Scoreboard, data: str) -> Table:
    tried = (entry for entry in _entries(_MODELS) if entry.trainings(board.scope, data))
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


def aim(board: Scoreboard) -> Table:
    """Return how far each self-supervised row gets."""
    rows = tuple(_reached(board, name) for name in _SELF_SUPERVISED)
    columns = (
        *("row", "measured", "above the baseline", "mean gain in macro-F1", "over both controls", "p < .05"),
        "of +Human's gain",
    )
    return Table("overall-aim", "How far supervision without human words gets", columns, rows, _AIM_NOTES)


def gains(board: Scoreboard) -> Table:
    """Return gains over the same model without supervision."""
    title, names = "Gains over the same model without supervision, accuracy / macro-F1", (*_SUPERVISED, "again")
    rows = _rows(board, names, lambda entry, data: board.gain(entry, entry.with_method(""), data))
    return Table("overall-gains", title, ("model", "data", *names), rows, _GAIN_NOTES, names)


def gains_over_control(board: Scoreboard) -> Table:
    """Return gains over a second training of the same model without supervision."""
    title = "Gains over a second training without supervision, accuracy / macro-F1"
    rows = _rows(board, _SUPERVISED, lambda entry, data: board.mean_gain([(entry, data)], "again"))
    return Table("overall-control", title, ("model", "data", *_SUPERVISED), rows, _CONTROL_NOTES, _SUPERVISED)


def averages(board: Scoreboard) -> Table:
    """Return the mean gain of every row over all data sets."""
    attending, names = (model for model in ATTENDING if board.scope.has(model)), (*_SUPERVISED, "again")
    rows = tuple(_average(board, ModelRow(model, METHODS[name])) for model in attending for name in names)
    gains = ("on other tests", "of other trainings too", "over a second training")
    columns = ("model", "row", "data sets", "seeds", *gains, "95 % interval")
    return Table("overall-average", "Gains on average over the data sets", columns, rows, _AVERAGE_NOTES, gains[:1])


def _average(board: Scoreboard, entry: ModelRow) -> TableRow:
    places = [(entry, data) for data in board.scope.data]
    gain = board.mean_gain(places, "", resampling=other_tests)
    strictly = board.mean_gain(places, "")
    over_again = board.mean_gain(places, "again") if entry.method.name != "again" else None
    counts = (gain.places, gain.seeds) if gain else (None, None)
    fields = map(format_gain, (gain, strictly, over_again))
    return (NAMES[entry.model], entry.method.name, *counts, *fields, _format_ends(over_again))


def _format_ends(gain: Gain | None) -> FormattedValue | None:
    if gain is None:
        return None
    low, high = gain.macro_f1.low, gain.macro_f1.high
    return FormattedValue(f"{low:+.2f} to {high:+.2f}", {"low": low, "high": high})


def _rows(
    board: Scoreboard, names: tuple[str, ...], gain: Callable[[ModelRow, str], Gain | None]
) -> tuple[TableRow, ...]:
    return tuple(
        (NAMES[model], data.upper(), *(format_gain(gain(ModelRow(model, METHODS[name]), data)) for name in names))
        for model, data in places_by_model(board.scope)
    )


def _reached(board: Scoreboard, name: str) -> TableRow:
    found, human = (_gains_of(board, row) for row in (name, "+Human"))
    points = [change.points for change in found.values()]
    measured = format_count(len(points), _PLACES)
    if not points:
        return (name, measured, None, None, None, None, None)
    pooled = board.mean_gain([(ModelRow(model, METHODS[name]), data) for model, data in found], "", "again")
    return (
        *(name, measured, sum(point > 0 for point in points), format_number("points", statistics.mean(points))),
        format_gain_interval(pooled),
        sum(change.points > 0 and change.p_rise < SIGNIFICANT for change in found.values()),
        _share_of(human, found),
    )


def _share_of(human: Mapping[_Place, Change], found: Mapping[_Place, Change]) -> FormattedValue | None:
    """Return the gains as a share of those by human words, where both were measured."""
    both = [place for place in found if place in human]
    total = sum(human[place].points for place in both)
    if total <= 0:
        return None
    share = sum(found[place].points for place in both) / total
    text = f"{share:.0%} ({len(both)} measured)".replace("%", " %")
    return FormattedValue(text, {"share": share, "measured": len(both)})


def _gains_of(board: Scoreboard, name: str) -> dict[_Place, Change]:
    """Return the gains in macro-F1 over the plain model, where they are measured."""
    entries = {place: ModelRow(place[0], METHODS[name]) for place in places_by_model(board.scope)}
    found = {place: board.gain(entry, entry.with_method(""), place[1]) for place, entry in entries.items()}
    return {place: gain.macro_f1 for place, gain in found.items() if gain is not None}


EXHIBIT = Exhibit("overall", "Overall results", show, encoders=HEADLINE)
