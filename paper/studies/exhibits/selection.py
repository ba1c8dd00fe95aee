"""Beyond the paper: what choosing on the test set is worth, with no supervision at all.

This exhibit reads the test set on purpose. The paper's released code reports the epoch with the highest test accuracy, and tries
0 to 5 rounds of mining. Trainings without evidence, treated alike, show how much of a gain such choices make by themselves.

The best of N of M trainings is an expected value over all ways to draw N of them: the i-th lowest (from 1) is the best of
C(i-1, N-1) of the C(M, N) draws.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from paper.experiments.cells import Training, settings
from paper.experiments.comparison import gather
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import (
    HEADLINE,
    Exhibit,
    Figure,
    FormattedValue,
    Part,
    PlotLine,
    Table,
    TableRow,
    format_scores,
)
from paper.studies.exhibits._rows import METHODS, NAMES, places_by_model
from paper.studies.paper import OVERALL, Scores

__all__ = ["EXHIBIT"]

_Curve = Sequence[Scores]  # accuracy and macro-F1 on test after each epoch, in points
_Place = tuple[str, str]  # model, data set

_UNSUPERVISED = ("", "again")  # plain, and once more with other random numbers
_SEEDS, _ROUNDS = 5, 6  # the paper's number of trainings is not known; its code tries 0 to 5 rounds
_LONG = settings(epochs=50)  # as the released code of TNet-ATT
_LONG_MODELS, _LONG_DATA, _LONG_SEEDS = ("memnet", "tnet_att"), "laptop", 3
_WARNING = (
    "WARNING: NOTHING ON THIS PAGE IS A RESULT. Every choice below is made on the test set, on purpose, to show what it is "
    "worth. No model here has any evidence, so every gain comes from choosing. No setting, default, epoch or claim of any other "
    "page is chosen from these numbers."
)
_GAINS = ("epoch", f"best of {_SEEDS}", f"best of {_ROUNDS}", "all")
_PAPER = {"paper, +AW-AS": "+AW-AS", "paper, +PG-AS": "+PG-AS"}
_NOTES = (
    "Trainings without evidence: the plain model, and `again`, which differs from it in its random numbers alone. Differences "
    "are accuracy / macro-F1 in points. All choices are by accuracy, ties by macro-F1, as in the released code.",
    "`one training`: the mean of all trainings, each for the number of epochs that held-out data chose. The other columns say "
    "what a choice on the test set adds. `epoch`: the epoch with the highest test accuracy; it raises every row of a table, not "
    "the difference between two. `best of 5`: the best of five trainings, compared with one. `best of 6`: the best of six, each "
    "at its best epoch, compared with one at its best epoch. That is what choosing 0 to 5 rounds on the test set gains over a "
    "baseline with a single training if no round changes anything. `all`: this best of six, compared with `one training`.",
    "`paper`: what the paper reports as the gain of supervision. `mean`: over the pairs of a model and a data set that have the "
    "number.",
)
_FIGURE_NOTES = (
    "Expected values over all draws of N trainings; each at the number of epochs that held-out data chose.",
)
_LONG_NOTES = (
    "The plain model trained for 50 epochs, as the released code of TNet-ATT does, and tested after each; `last epoch` and `best "
    f"epoch` are levels, `gain` their difference. LAPTOP, {_LONG_SEEDS} seeds.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return a warning, what each choice is worth, the same with more looks, and the best of N by N."""
    found = {place: _curves(scope, lookup, *place) for place in places_by_model(scope)}
    return [_WARNING, _choices_table(found), _long_table(scope, lookup), _figure(scope, found)]


def _long(scope: Scope, model: str) -> list[Training]:
    return [Training(place) for place in scope.places(model, _LONG_DATA, _LONG_SEEDS, settings=_LONG)]


def _curves(scope: Scope, lookup: RecordLookup, model: str, data: str) -> list[_Curve]:
    rows = (gather(lookup, METHODS[name].trainings(scope, model, data)) for name in _UNSUPERVISED)
    return [_points(record["curve"]) for row in rows for record in row.values() if record["curve"]]


def _points(curve: Sequence[Sequence[float]]) -> _Curve:
    return [(100 * accuracy, 100 * macro_f1) for accuracy, macro_f1 in curve]


def best_of(number: int, scores: Sequence[Scores]) -> Scores | None:
    """Return the expected scores of the best of `number` trainings drawn from these; None if there are fewer."""
    if len(scores) < number:
        return None
    draws = math.comb(len(scores), number)
    weights = [math.comb(place, number - 1) / draws for place in range(len(scores))]
    accuracy, macro_f1 = (
        math.fsum(weight * each for weight, each in zip(weights, column, strict=True))
        for column in zip(*sorted(scores), strict=True)
    )
    return accuracy, macro_f1


def _mean(scores: Sequence[Scores]) -> Scores:
    accuracy, macro_f1 = (statistics.mean(column) for column in zip(*scores, strict=True))
    return accuracy, macro_f1


def _less(ours: Scores | None, theirs: Scores | None) -> Scores | None:
    return (ours[0] - theirs[0], ours[1] - theirs[1]) if ours and theirs else None


def _choices(curves: Sequence[_Curve]) -> dict[str, Scores | None]:
    """Return what each choice on test adds, by column."""
    if not curves:
        return dict.fromkeys(_GAINS)
    last, best = [curve[-1] for curve in curves], list(map(max, curves))
    one, of_six = _mean(last), best_of(_ROUNDS, best)
    gains = (_less(_mean(best), one), _less(best_of(_SEEDS, last), one), _less(of_six, _mean(best)), _less(of_six, one))
    return dict(zip(_GAINS, gains, strict=True))


def _choices_table(found: Mapping[_Place, Sequence[_Curve]]) -> Table:
    def formatted(gains: Iterable[Scores | None]) -> Iterator[FormattedValue | None]:
        return (format_scores(gain, "+") for gain in gains)

    rows: list[TableRow] = []
    added: list[dict[str, Scores | None]] = []
    for (model, data), curves in found.items():
        plain = OVERALL.get((model, "", data))
        gains = _choices(curves)
        gains |= {column: _less(OVERALL.get((model, name, data)), plain) for column, name in _PAPER.items()}
        one = _mean([curve[-1] for curve in curves]) if curves else None
        rows.append((NAMES[model], data.upper(), len(curves) or None, format_scores(one), *formatted(gains.values())))
        added += [gains] if curves else []
    if added:
        known = ([scores for gains in added if (scores := gains[name])] for name in added[0])
        means = formatted(_mean(scores) if scores else None for scores in known)
        rows.append(("mean", None, sum(map(len, found.values())), format_scores(None), *means))
    columns = ("model", "data", "trainings", "one training", *_GAINS, *_PAPER)
    title = "What choosing on the test set adds, without any supervision"
    return Table("selection-choices", title, columns, tuple(rows), _NOTES, _GAINS)


def _long_table(scope: Scope, lookup: RecordLookup) -> Table:
    rows: list[TableRow] = []
    for model in _LONG_MODELS:
        records = gather(lookup, _long(scope, model)).values()
        curves = [_points(record["curve"]) for record in records if record["curve"]]
        ends = ([curve[-1] for curve in curves], list(map(max, curves)))
        last, best = (_mean(scores) if scores else None for scores in ends)
        looks = max(map(len, curves), default=0)
        levels = (format_scores(last), format_scores(best), format_scores(_less(best, last), "+"))
        rows.append((NAMES[model], _LONG_DATA.upper(), len(curves), looks, *levels))
    columns = ("model", "data", "seeds", "looks", "last epoch", "best epoch", "gain")
    title = "The best of 50 epochs on the test set"
    return Table("selection-looks", title, columns, tuple(rows), _LONG_NOTES, ("seeds",))


def _figure(scope: Scope, found: Mapping[_Place, Sequence[_Curve]]) -> Figure:
    """Return the gain in accuracy of the best of N trainings over one, by N."""
    panels = []
    for data in scope.data:
        lines = (_line(model, curves) for (model, where), curves in found.items() if where == data and curves)
        panels.append((data.upper(), tuple(lines)))
    title = "The best of N trainings without evidence, chosen on the test set"
    return Figure("selection-best-of", title, "N", "accuracy over one training", tuple(panels), _FIGURE_NOTES)


def _line(model: str, curves: Sequence[_Curve]) -> PlotLine:
    scores = [curve[-1] for curve in curves]
    numbers = tuple(range(1, len(scores) + 1))
    gains = [_less(best_of(number, scores), _mean(scores)) for number in numbers]
    return PlotLine(NAMES[model], numbers, tuple(gain[0] for gain in gains if gain))


EXHIBIT = Exhibit("selection", "What choosing on the test set is worth", show, encoders=HEADLINE)
