"""What exhibits of scores share: lines of a table, their trainings in every place, and the fields that tell what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace

from pssa.experiments.cells import Place, Training
from pssa.experiments.comparison import (
    METRICS,
    Chance,
    Gain,
    Row,
    average,
    compare,
    compare_trainings,
    gather,
    mean_spread,
    stars,
    tell_spread,
)
from pssa.experiments.reading import PAIR, Reading, missing, pair
from pssa.experiments.scope import Findings, Scope
from pssa.studies.exhibit import Line, Value
from pssa.studies.paper import Scores
from pssa.studies.rows import METHODS, NAMES, Method

__all__ = ["COLUMNS", "FAMILIES", "FEW_SEEDS", "STARS", "Board", "Entry", "entries", "told"]

# Models that belong together; the last one attends.
FAMILIES: tuple[tuple[str, ...], ...] = (("memnet",), ("tnet", "tnet_att"), ("bertabsa", "bertabsa_att"))
FEW_SEEDS = 3  # of exhibits that vary one thing in many places
COLUMNS = ("model", "seeds", "accuracy", "macro-F1", "gain", "paper", "ours - paper")
STARS = (
    "Differences are means over the seeds that both rows have, so that they may not be those of the means shown. * p < .05, "
    "** p < .01 of a gain, one-sided, by paired bootstrap over all these seeds."
)


@dataclass(frozen=True)
class Entry:
    """A line of a table: a model, what is done with it, and where."""

    model: str
    method: Method
    share: float = 1.0  # of train
    stripped: bool = False

    @property
    def name(self) -> str:
        """As the paper writes it."""
        return NAMES[self.model] + (f" ({self.method.name})" if self.method.name else "")

    @property
    def base(self) -> Entry:
        """The same model in the same place, left alone."""
        return replace(self, method=METHODS[""])

    def trainings(self, scope: Scope, data: str) -> dict[int, Training]:
        """By seed; none where the model or the data is not in scope, people marked no words, or it would take too long."""
        marked = data in scope.data and scope.resources.sources[data].opinion_words
        if ("human" in self.method.mined_by and not marked) or not self.method.is_tried(self.model, data):
            return {}
        places = scope.places(self.model, data, self.method.seeds)
        moved = (replace(place, share=self.share, stripped=self.stripped) for place in places)
        return {place.seed: self.method.training_in(place) for place in moved}


def entries(family: tuple[str, ...], methods: tuple[str, ...], seeds: int = 0) -> tuple[Entry, ...]:
    """The models of a family that do not attend, left alone, and the one that does, with each of the methods.

    :param seeds: at most so many; 0: as many as each method has.
    """
    *plain, attending = family
    named = [(model, "") for model in plain] + [(attending, name) for name in methods]
    return tuple(Entry(model, replace(METHODS[name], seeds=seeds) if seeds else METHODS[name]) for model, name in named)


class Board:
    """Everything that was found, by entry and data set."""

    def __init__(self, scope: Scope, findings: Findings) -> None:
        self._scope, self._findings = scope, findings

    def row(self, entry: Entry, data: str) -> Row:
        """The records by seed."""
        return gather(self._findings, entry.trainings(self._scope, data))

    def gain(self, entry: Entry, other: Entry, data: str) -> Gain | None:
        """Of one entry over another; none of an entry over itself."""
        ours, theirs = (each.trainings(self._scope, data) for each in (entry, other))
        if all(training in theirs.values() for training in ours.values()):
            return None
        place = Place(data, entry.model, 0, stripped=entry.stripped)
        return compare(self._scope, place, gather(self._findings, ours), gather(self._findings, theirs))

    def gain_over_control(self, entry: Entry, data: str) -> Gain | None:
        """Of an entry over its model's second training without evidence; chance is of other seeds too."""
        control = replace(entry, method=METHODS["again"])
        place = Place(data, entry.model, 0, stripped=entry.stripped)
        return compare_trainings(self._scope, place, self.row(entry, data), self.row(control, data))

    def average(self, entry: Entry, other: Entry, chance: Chance) -> tuple[int, Gain | None]:
        """The mean gain over the data sets on which both were measured, and how many these are."""
        rows = [
            (Place(data, entry.model, 0), self.row(entry, data), self.row(other, data)) for data in self._scope.data
        ]
        both = [(place, ours, theirs) for place, ours, theirs in rows if ours.keys() & theirs.keys()]
        return len(both), average(self._scope, both, chance)

    def scores(self, entry: Entry, data: str) -> tuple[Reading, Reading]:
        """Mean and spread of accuracy and macro-F1."""
        row = self.row(entry, data)
        accuracy, macro_f1 = (tell_spread([record[metric] for record in row.values()]) for metric in METRICS)
        return accuracy, macro_f1

    def fields(self, entry: Entry, data: str, paper: Scores | None) -> tuple[Value, ...]:
        """What stands under `COLUMNS`."""
        row = self.row(entry, data)
        means = [mean_spread([record[metric] for record in row.values()])[0] for metric in METRICS] if row else []
        apart = [ours - theirs for ours, theirs in zip(means, paper, strict=True)] if paper and means else None
        gain = told(self.gain(entry, entry.base, data))
        return (entry.name, len(row), *self.scores(entry, data), gain, pair(paper), pair(apart, "+"))

    def line(self, name: str, points: Mapping[float, Entry], data: str) -> Line | None:
        """Macro-F1 of entries that stand at these places of an axis, where there are records."""
        rows = {x: self.row(entry, data) for x, entry in points.items()}
        found = {
            x: mean_spread([record["macro_f1"] for record in row.values()]) for x, row in sorted(rows.items()) if row
        }
        if not found:
            return None
        means, spreads = zip(*found.values(), strict=True)
        return Line(name, tuple(found), means, spreads)


def told(gain: Gain | None) -> Reading:
    """A gain in accuracy / macro-F1, with its stars."""
    names = (*PAIR, *(f"p {name}" for name in PAIR), "seeds")
    if gain is None:
        return missing(*names)
    text = f"{gain.accuracy:+.2f}{stars(gain.p_accuracy)} / {gain.macro_f1:+.2f}{stars(gain.p_macro_f1)}"
    return Reading(text, dict(zip(names, astuple(gain), strict=True)))
