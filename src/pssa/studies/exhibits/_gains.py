"""What supervision gains in every pair of a model and a data set: over the baseline, over chance, and beside the aim."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping

from pssa.experiments.comparison import Gain, chance_of_no_gain, chance_on_other_tests
from pssa.experiments.reading import Reading, count_of, missing
from pssa.experiments.resources import DATA_SETS
from pssa.experiments.scope import Scope
from pssa.studies.exhibit import Table, Value
from pssa.studies.exhibits._board import Board, Entry, told
from pssa.studies.rows import ATTENDING, METHODS, NAMES

__all__ = ["aim", "averages", "gains", "gains_over_control"]

_SUPERVISED = ("+AW-AS", "+PG-AS", "+Consensus", "+Human")
_SELF_SUPERVISED = ("+PG-AS", "+Consensus")
_PLACES = len(ATTENDING) * len(DATA_SETS)
_SIGNIFICANT = 0.05
_Place = tuple[str, str]  # model, data set
_AIM_NOTES = (
    "Of every row that needs no words of people: pairs of a model and a data set that were measured; pairs with a higher "
    "macro-F1 than the baseline of the same seeds; the mean gain; pairs whose gain has p < .05 by the paired bootstrap over test "
    "instances; and the sum of the gains as a part of the sum of +Human's, where both were measured.",
    f"What we set out to reach with the best of them: above the baseline in all {_PLACES} pairs, by 1.5 points on average, "
    "p < .05 in six, and half of +Human's gain.",
)
_GAIN_NOTES = (
    "Stars: * p < .05, ** p < .01, one-sided, by paired bootstrap over test instances, as in the paper; they do not ask whether "
    "other random numbers would have done the same. `again` is the baseline trained a second time with other random numbers: "
    "what it gains is chance, stars or not.",
)
_CONTROL_NOTES = (
    "Differences to `again`, which has the random numbers of the supervised rows and a penalty that weighs nothing, on the seeds "
    "that both have. Stars here ask about other trainings as well as other test sets: * p < .05, ** p < .01, one-sided, by a "
    "bootstrap that resamples seeds together with instances. Of three seeds it is still kind, and of one it knows nothing.",
)
_AVERAGE_NOTES = (
    "Means over the data sets that have both rows, accuracy / macro-F1; `seeds`: at least so many of each. * p < .05, "
    "** p < .01, one-sided. `on other tests`: over the plain model, p by resamples of the test instances, as in the paper. `of "
    "other trainings too`: the same gain, p by resamples of seeds together with instances. `over a second training`: over "
    "`again`, p as in the column before.",
)


def aim(scope: Scope, board: Board) -> Table:
    """How far each self-supervised row gets."""
    rows = [_reached(scope, board, name) for name in _SELF_SUPERVISED]
    columns = ("row", "measured", "above the baseline", "mean gain in macro-F1", "p < .05", "of +Human's gain")
    return Table("overall-aim", "How far supervision without people gets", columns, tuple(rows), _AIM_NOTES)


def gains(scope: Scope, board: Board) -> Table:
    """Over the same model without supervision."""
    title = "Gains over the same model without supervision, accuracy / macro-F1"
    rows = _rows(scope, (*_SUPERVISED, "again"), lambda entry, data: board.gain(entry, entry.base, data))
    return Table(
        "overall-gains", title, ("model", "data", *_SUPERVISED, "again"), rows, _GAIN_NOTES, (*_SUPERVISED, "again")
    )


def gains_over_control(scope: Scope, board: Board) -> Table:
    """Over a second training of the same model without supervision."""
    title = "Gains over a second training without supervision, accuracy / macro-F1"
    rows = _rows(scope, _SUPERVISED, board.gain_over_control)
    return Table("overall-control", title, ("model", "data", *_SUPERVISED), rows, _CONTROL_NOTES, _SUPERVISED)


def averages(scope: Scope, board: Board) -> Table:
    """Of every row over all data sets."""
    columns = (
        "model",
        "row",
        "data sets",
        "seeds",
        "on other tests",
        "of other trainings too",
        "over a second training",
    )
    named = [Entry(model, METHODS[name]) for model in ATTENDING if scope.has(model) for name in (*_SUPERVISED, "again")]
    rows = [_average(board, entry) for entry in named]
    title = "Gains on average over the data sets"
    return Table("overall-average", title, columns, tuple(rows), _AVERAGE_NOTES, columns[4:5])


def _average(board: Board, entry: Entry) -> tuple[Value, ...]:
    again = Entry(entry.model, METHODS["again"])
    number, gain = board.average(entry, entry.base, chance_on_other_tests)
    _, strictly = board.average(entry, entry.base, chance_of_no_gain)
    _, over_again = board.average(entry, again, chance_of_no_gain) if entry != again else (0, None)
    seeds = None if gain is None else gain.seeds
    return (NAMES[entry.model], entry.method.name, number or None, seeds, told(gain), told(strictly), told(over_again))


def _places(scope: Scope) -> Iterator[_Place]:
    return ((model, data) for model in ATTENDING if scope.has(model) for data in scope.data)


def _rows(
    scope: Scope, names: tuple[str, ...], gain: Callable[[Entry, str], Gain | None]
) -> tuple[tuple[Value, ...], ...]:
    return tuple(
        (NAMES[model], data.upper(), *(told(gain(Entry(model, METHODS[name]), data)) for name in names))
        for model, data in _places(scope)
    )


def _reached(scope: Scope, board: Board, name: str) -> tuple[Value, ...]:
    found, human = (_gains_of(scope, board, row) for row in (name, "+Human"))
    points = [gain.macro_f1 for gain in found.values()]
    measured = count_of(len(points), _PLACES)
    if not points:
        return (name, measured, None, None, None, None)
    mean = statistics.mean(points)
    return (
        *(name, measured, sum(point > 0 for point in points), Reading(f"{mean:+.2f}", {"points": mean})),
        sum(gain.macro_f1 > 0 and gain.p_macro_f1 < _SIGNIFICANT for gain in found.values()),
        _share_of(human, found),
    )


def _share_of(human: Mapping[_Place, Gain], found: Mapping[_Place, Gain]) -> Reading:
    """What was found of the gains by people's words, where both were measured."""
    both = found.keys() & human.keys()
    room = sum(human[place].macro_f1 for place in both)
    if room <= 0:
        return missing("share", "measured")
    share = sum(found[place].macro_f1 for place in both) / room
    text = f"{share:.0%} ({len(both)} measured)".replace("%", " %")
    return Reading(text, {"share": share, "measured": len(both)})


def _gains_of(scope: Scope, board: Board, name: str) -> dict[_Place, Gain]:
    entries = {place: Entry(place[0], METHODS[name]) for place in _places(scope)}
    found = {place: board.gain(entry, entry.base, place[1]) for place, entry in entries.items()}
    return {place: gain for place, gain in found.items() if gain is not None}
