"""Rows of the tables: the training behind a name such as `+PG-AS_a`, for any model, data set and seed, and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace

from pssa.experiments.cells import Analysis, Mining, Place, Setting, Training, settings
from pssa.experiments.comparison import (
    METRICS,
    Chance,
    Gain,
    Row,
    average,
    compare,
    compare_trainings,
    gather,
    mean_and_std,
    stars,
)
from pssa.experiments.ledger import RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import PAIR, FormattedValue, PlotLine, TableRow, format_mean, format_scores, not_measured
from pssa.studies.paper import GAMMA, Scores

# The models by the names of the paper.
NAMES = {
    "memnet": "MN",
    "tnet": "TNet",
    "tnet_att": "TNet-ATT",
    "bertabsa": "BERTABSA",
    "bertabsa_att": "BERTABSA-ATT",
    "bertabsa_cls": "BERTABSA-CLS",
}
ATTENDING = ("memnet", "tnet_att", "bertabsa_att")
_FEW_SEEDS = 3  # of what takes five trainings a seed
# Rows behind a name with this end are trained with the paper's penalty and gamma, not with those that held-out data chose.
PAPER_PENALTY = ", paper's penalty"
_PAPER_PENALTY = tuple((data, settings(penalty="letter", gamma=gamma)) for data, gamma in GAMMA.items())


@dataclass(frozen=True)
class MethodRow:
    """A row of a table, but for the model."""

    name: str  # as the paper writes it behind the model's
    method: str = "base"
    mined_by: tuple[str, ...] = ()  # ways of mining whose common words supervise
    words: str = "both"
    seeds: int = 0  # at most; 0: all
    mining: tuple[Setting, ...] = ()
    training: tuple[Setting, ...] = ()
    rounds: int = 0
    on: tuple[tuple[str, tuple[Setting, ...]], ...] = ()  # further settings of the training, by data set

    def is_tried(self, model: str, data: str) -> bool:
        """Whether the row is for this model and data set; the paper's penalty is tried on encoders with LAPTOP alone."""
        return not self.on or not model.startswith("bertabsa") or data == "laptop"

    def minings(self, place: Place) -> tuple[Mining, ...]:
        """The evidence in one place."""
        return tuple(Mining(place, way, () if way == "human" else self.mining) for way in self.mined_by)

    def training_in(self, place: Place) -> Training:
        """The row in one place."""
        words = () if self.words == "both" else settings(words=self.words)
        chosen = (*words, *self.training, *dict(self.on).get(place.data, ()))
        return Training(place, self.method, self.minings(place), self.rounds, settings=chosen)


METHODS = {
    method.name: method
    for method in (
        MethodRow(""),
        MethodRow("+KT", "kt", seeds=_FEW_SEEDS),
        MethodRow("+Boosting", "boosting", seeds=_FEW_SEEDS),
        MethodRow("+Adaboost", "adaboost", seeds=_FEW_SEEDS),
        *(
            MethodRow(f"+{name}-AS{suffix}", mined_by=(way,), words=words)
            for name, way in (("AW", "aw-as"), ("PG", "pg-as"))
            for suffix, words in (("_m", "misleading"), ("_a", "active"), ("", "both"))
        ),
        *(
            MethodRow(f"+{name}-AS{PAPER_PENALTY}", mined_by=(way,), on=_PAPER_PENALTY)
            for name, way in (("AW", "aw-as"), ("PG", "pg-as"))
        ),
        MethodRow("+RM-AS", mined_by=("rm-as",)),
        MethodRow("+Consensus", mined_by=("consensus",)),
        MethodRow("+Human", mined_by=("human",)),
        # A final training whose penalty has no weight differs from the baseline in its random numbers alone.
        MethodRow("again", mined_by=("aw-as",), training=settings(gamma=0.0)),
    )
}


def refined(heads: str) -> MethodRow:
    """Self-attention within the encoder, of these heads, mined and supervised."""
    chosen = settings(refine=heads)
    return MethodRow("PG-AS", mined_by=("pg-as",), mining=chosen, training=chosen)


_ALWAYS = ("", "+KT")
_OF_ATTENTION = (
    *("+Boosting", "+Adaboost", "+AW-AS_m", "+AW-AS_a", "+AW-AS", "+PG-AS_m", "+PG-AS_a", "+PG-AS"),
    *(f"+AW-AS{PAPER_PENALTY}", f"+PG-AS{PAPER_PENALTY}", "+Consensus", "+Human", "again"),
)


def paper_rows(model: str) -> Iterator[MethodRow]:
    """The rows that a model has in the table of overall results, ours at the end."""
    names = (*_ALWAYS, *(_OF_ATTENTION if model in ATTENDING else ()))
    yield from (METHODS[name] for name in names)


# Models that belong together; the last one attends.
FAMILIES: tuple[tuple[str, ...], ...] = (("memnet",), ("tnet", "tnet_att"), ("bertabsa", "bertabsa_att"))
FEW_SEEDS = 3  # of exhibits that vary one thing in many places
COLUMNS = ("model", "seeds", "accuracy", "macro-F1", "gain", "paper", "ours - paper")
STARS = (
    "Differences are means over the seeds that both rows have, so that they may not be those of the means shown. * p < .05, "
    "** p < .01 of a gain, one-sided, by paired bootstrap over all these seeds."
)


@dataclass(frozen=True)
class ModelRow:
    """A line of a table: a model, what is done with it, and where."""

    model: str
    method: MethodRow
    share: float = 1.0  # of train
    stripped: bool = False

    @property
    def name(self) -> str:
        """As the paper writes it."""
        return NAMES[self.model] + (f" ({self.method.name})" if self.method.name else "")

    @property
    def base(self) -> ModelRow:
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


def entries(family: tuple[str, ...], methods: tuple[str, ...], seeds: int = 0) -> tuple[ModelRow, ...]:
    """The models of a family that do not attend, left alone, and the one that does, with each of the methods.

    :param seeds: at most so many; 0: as many as each method has.
    """
    *plain, attending = family
    named = [(model, "") for model in plain] + [(attending, name) for name in methods]
    return tuple(
        ModelRow(model, replace(METHODS[name], seeds=seeds) if seeds else METHODS[name]) for model, name in named
    )


class Scoreboard:
    """Everything that was found, by entry and data set."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self._scope, self._lookup = scope, lookup

    def row(self, entry: ModelRow, data: str) -> Row:
        """The records by seed."""
        return gather(self._lookup, entry.trainings(self._scope, data))

    def gain(self, entry: ModelRow, other: ModelRow, data: str) -> Gain | None:
        """Of one entry over another; none of an entry over itself."""
        ours, theirs = (each.trainings(self._scope, data) for each in (entry, other))
        if all(training in theirs.values() for training in ours.values()):
            return None
        place = Place(data, entry.model, 0, stripped=entry.stripped)
        return compare(self._scope, place, gather(self._lookup, ours), gather(self._lookup, theirs))

    def gain_over_control(self, entry: ModelRow, data: str) -> Gain | None:
        """Of an entry over its model's second training without evidence; chance is of other seeds too."""
        control = replace(entry, method=METHODS["again"])
        place = Place(data, entry.model, 0, stripped=entry.stripped)
        return compare_trainings(self._scope, place, self.row(entry, data), self.row(control, data))

    def average(self, entry: ModelRow, other: ModelRow, chance: Chance) -> tuple[int, Gain | None]:
        """The mean gain over the data sets on which both were measured, and how many these are."""
        rows = [
            (Place(data, entry.model, 0), self.row(entry, data), self.row(other, data)) for data in self._scope.data
        ]
        both = [(place, ours, theirs) for place, ours, theirs in rows if ours.keys() & theirs.keys()]
        return len(both), average(self._scope, both, chance)

    def scores(self, entry: ModelRow, data: str) -> tuple[FormattedValue, FormattedValue]:
        """Mean and spread of accuracy and macro-F1."""
        row = self.row(entry, data)
        accuracy, macro_f1 = (format_mean([record[metric] for record in row.values()]) for metric in METRICS)
        return accuracy, macro_f1

    def fields(self, entry: ModelRow, data: str, paper: Scores | None) -> TableRow:
        """What stands under `COLUMNS`."""
        row = self.row(entry, data)
        means = [mean_and_std([record[metric] for record in row.values()])[0] for metric in METRICS] if row else []
        apart = [ours - theirs for ours, theirs in zip(means, paper, strict=True)] if paper and means else None
        gain = format_gain(self.gain(entry, entry.base, data))
        return (entry.name, len(row), *self.scores(entry, data), gain, format_scores(paper), format_scores(apart, "+"))

    def line(self, name: str, points: Mapping[float, ModelRow], data: str) -> PlotLine | None:
        """Macro-F1 of entries that stand at these places of an axis, where there are records."""
        rows = {x: self.row(entry, data) for x, entry in points.items()}
        found = {
            x: mean_and_std([record["macro_f1"] for record in row.values()]) for x, row in sorted(rows.items()) if row
        }
        if not found:
            return None
        means, spreads = zip(*found.values(), strict=True)
        return PlotLine(name, tuple(found), means, spreads)


def format_gain(gain: Gain | None) -> FormattedValue:
    """A gain in accuracy / macro-F1, with its stars."""
    names = (*PAIR, *(f"p {name}" for name in PAIR), "seeds")
    if gain is None:
        return not_measured(*names)
    text = f"{gain.accuracy:+.2f}{stars(gain.p_accuracy)} / {gain.macro_f1:+.2f}{stars(gain.p_macro_f1)}"
    return FormattedValue(text, dict(zip(names, astuple(gain), strict=True)))


# The plain model, and what supervises it.
ANALYSED_ROWS = ("", "+PG-AS", "+Consensus", "+Human")
SEEDS = 3  # at most: a look needs the trained model itself
_FEW = 300  # instances whose words are taken away from an encoder, about a hundred times each


def attending_places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Every data set with every model in scope that attends."""
    return ((data, model) for data in scope.data for model in ATTENDING if scope.has(model))


def marked_places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Those in which people marked words."""
    return ((data, model) for data, model in attending_places(scope) if _is_marked(scope, data))


def analyses_of(scope: Scope, kind: str, method: str, model: str, data: str) -> dict[int, Analysis]:
    """A look of that kind at a row's models, by seed; none at human words where nobody marked any."""
    row = METHODS[method]
    if "human" in row.mined_by and not _is_marked(scope, data):
        return {}
    chosen = settings(limit=_FEW) if kind == "faithfulness" and model.startswith("bertabsa") else ()
    return {place.seed: Analysis(row.training_in(place), kind, chosen) for place in scope.places(model, data, SEEDS)}


def _is_marked(scope: Scope, data: str) -> bool:
    return scope.resources.sources[data].opinion_words is not None


def row_name(model: str, method: str) -> str:
    """As the paper writes it."""
    return NAMES[model] + (f" ({method})" if method else "")
