"""Rows of the tables: the training behind a name such as `+PG-AS_a`, for any model, data set and seed, and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from paper.experiments.cells import Analysis, Mining, Place, Setting, Training, settings
from paper.experiments.comparison import (
    METRICS,
    Gain,
    Resampling,
    Row,
    average,
    gather,
    gold_labels,
    mean_and_std,
    other_tests,
    other_trainings,
    stars,
)
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import DATA_SETS, Scope
from paper.studies.exhibit import PAIR, FormattedValue, TableRow, format_interval, format_row, format_scores
from paper.studies.paper import GAMMA, Scores
from pssa.runs.resolve import choose_penalty
from pssa.runs.settings import Config

# Models by the paper's names.
NAMES = {
    "memnet": "MN",
    "tnet": "TNet",
    "tnet_att": "TNet-ATT",
    "bertabsa": "BERTABSA",
    "bertabsa_att": "BERTABSA-ATT",
    "bertabsa_cls": "BERTABSA-CLS",
}
ATTENDING = ("memnet", "tnet_att", "bertabsa_att")
# Models that belong together; the last one attends.
FAMILIES: tuple[tuple[str, ...], ...] = (("memnet",), ("tnet", "tnet_att"), ("bertabsa", "bertabsa_att"))
FEW_SEEDS = 3  # for methods of five trainings a seed, for analyses, and for exhibits with many rows
# Rows with this suffix are trained with the paper's penalty and gamma, not with those that held-out data chose.
PAPER_PENALTY = ", paper's penalty"
_PAPER_PENALTY = tuple((data, settings(penalty="letter", gamma=gamma)) for data, gamma in GAMMA.items())


@dataclass(frozen=True)
class MethodRow:
    """A row of a table, without the model."""

    name: str  # as the paper writes it after the model
    method: str = "base"
    mined_by: str = ""  # method that mines the words that supervise
    words: str = "both"
    seeds: int = 0  # at most; 0: all
    mining: tuple[Setting, ...] = ()
    training: tuple[Setting, ...] = ()
    on: tuple[tuple[str, tuple[Setting, ...]], ...] = ()  # further settings of the training, by data set
    full_gamma: bool = False  # whether words of a consensus have the gamma that words of rounds have
    word_data: tuple[str, ...] = DATA_SETS  # on which word-vector models have it in tables of the paper
    encoder_data: tuple[str, ...] = DATA_SETS  # the same for models on encoders

    def is_tried(self, model: str, data: str) -> bool:
        """Return whether the tables of the paper have the row for this model and data set."""
        return data in (self.encoder_data if model.startswith("bertabsa") else self.word_data)

    def training_in(self, place: Place) -> Training:
        """Return the training of the row in a place."""
        words = () if self.words == "both" else settings(words=self.words)
        chosen = (*words, *self.training, *dict(self.on).get(place.data, ()), *self._gamma(place.model))
        mining = Mining(place, self.mined_by, self.mining) if self.mined_by else None
        return Training(place, self.method, mining, settings=chosen)

    def trainings(self, scope: Scope, model: str, data: str, seeds: int = 0, **changes: Any) -> list[Training]:
        """Return the trainings by seed; none if the scope lacks the model, the data or its marked words.

        :param changes: of the places.
        """
        if self.mined_by == "human" and not scope.has_opinion_words(data):
            return []
        places = (replace(place, **changes) for place in scope.places(model, data, seeds))
        return [self.training_in(place) for place in places]

    def _gamma(self, model: str) -> tuple[Setting, ...]:
        ours, theirs = (choose_penalty(Config(model=model), method).gamma for method in ("consensus", "pg-as"))
        return settings(gamma=theirs) if self.full_gamma and ours != theirs else ()


_COSTLY: dict[str, Any] = {"seeds": FEW_SEEDS, "word_data": ("laptop", "rest"), "encoder_data": ("laptop",)}
FULL_GAMMA = "+Consensus, full gamma"
METHODS = {
    method.name: method
    for method in (
        MethodRow(""),
        MethodRow("+KT", "kt", **_COSTLY),
        MethodRow("+Boosting", "boosting", **_COSTLY),
        MethodRow("+Adaboost", "adaboost", **_COSTLY),
        *(
            MethodRow(f"+{name}-AS{suffix}", mined_by=way, words=words, **more)
            for name, way in (("AW", "aw-as"), ("PG", "pg-as"))
            for suffix, words, more in (("_m", "misleading", _COSTLY), ("_a", "active", _COSTLY), ("", "both", {}))
        ),
        *(
            MethodRow(f"+{name}-AS{PAPER_PENALTY}", mined_by=way, on=_PAPER_PENALTY, **_COSTLY)
            for name, way in (("AW", "aw-as"), ("PG", "pg-as"))
        ),
        MethodRow("+RM-AS", mined_by="rm-as", seeds=FEW_SEEDS),
        MethodRow("+Consensus", mined_by="consensus", encoder_data=("laptop", "rest")),
        MethodRow("+Human", mined_by="human"),
        # With a penalty of zero weight, a final training differs from the baseline only in its random numbers.
        MethodRow("again", mined_by="aw-as", training=settings(gamma=0.0)),
        MethodRow(FULL_GAMMA, mined_by="consensus", full_gamma=True),
        MethodRow("+Random", mined_by="random"),
        MethodRow("+Contrast", training=settings(augment="contrast")),
        MethodRow("+Consensus+Contrast", mined_by="consensus", training=settings(augment="contrast")),
    )
}


# Rows that are tried in other domains and on variants: two plain trainings, kinds of evidence, controls, and contrast.
_CONTRAST_ROWS = ("+Contrast", "+Consensus+Contrast")
TRANSFER_ROWS = ("", "again", "+AW-AS", "+PG-AS", "+Consensus", FULL_GAMMA, "+Human", "+Random", *_CONTRAST_ROWS)
TRIED_ROWS = tuple(name for name in TRANSFER_ROWS if name not in ("", "again"))  # those with something to try


def refined(heads: str) -> MethodRow:
    """Return a row that mines and supervises self-attention within the encoder, of these heads."""
    chosen = settings(refine=heads)
    return MethodRow("PG-AS", mined_by="pg-as", mining=chosen, training=chosen)


_ALWAYS = ("", "+KT")
_OF_ATTENTION = (
    *("+Boosting", "+Adaboost", "+AW-AS_m", "+AW-AS_a", "+AW-AS", "+PG-AS_m", "+PG-AS_a", "+PG-AS"),
    *(f"+AW-AS{PAPER_PENALTY}", f"+PG-AS{PAPER_PENALTY}", "+Consensus", "+Human", "again"),
)


def paper_rows(model: str) -> Iterator[MethodRow]:
    """Yield the rows of a model in the table of overall results, ours at the end."""
    names = (*_ALWAYS, *(_OF_ATTENTION if model in ATTENDING else ()))
    yield from (METHODS[name] for name in names)


COLUMNS = ("model", "seeds", "accuracy", "macro-F1", "gain", "paper", "ours - paper")
STARS = (
    "Differences are means over the seeds that both rows have, so they may differ from those of the means shown. * p < .05, "
    "** p < .01 of a gain, one-sided, by paired bootstrap over all these seeds, 20,000 resamples."
)
SMALLER_PLAN = (
    "Left out for their cost: +KT, the ensembles, active or misleading words alone and the paper's penalty on TWITTER and, on an "
    f"encoder, outside of LAPTOP; +Consensus on an encoder on TWITTER; and more than {FEW_SEEDS} seeds of these rows, of +RM-AS, "
    "and of any row on an encoder."
)


@dataclass(frozen=True)
class ModelRow:
    """A row of a table: a model with a method, on a part of train or with stripped targets."""

    model: str
    method: MethodRow
    share: float = 1.0  # of train
    stripped: bool = False

    @property
    def name(self) -> str:
        """The name as the paper writes it."""
        return row_name(self.model, self.method.name)

    def with_method(self, name: str) -> ModelRow:
        """Return the row of the same model with another method, of as many seeds at most."""
        other = METHODS[name]
        seeds = min(filter(None, (self.method.seeds, other.seeds)), default=0)
        return replace(self, method=replace(other, seeds=seeds))

    def trainings(self, scope: Scope, data: str) -> list[Training]:
        """Return the trainings by seed; none if the row is not tried there."""
        if not self.method.is_tried(self.model, data):
            return []
        return self.method.trainings(
            scope, self.model, data, self.method.seeds, share=self.share, stripped=self.stripped
        )


def entries(family: tuple[str, ...], methods: tuple[str, ...], seeds: int = 0) -> tuple[ModelRow, ...]:
    """Return rows of the models of a family that do not attend, and of the one that does with each method.

    :param seeds: at most; 0: as many as each method has.
    """
    *plain, attending = family
    named = [(model, "") for model in plain] + [(attending, name) for name in methods]
    return tuple(
        ModelRow(model, replace(METHODS[name], seeds=seeds) if seeds else METHODS[name]) for model, name in named
    )


class Scoreboard:
    """Scores and gains of rows, by data set."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self.scope, self._lookup = scope, lookup
        self.gain = cache(self._gain)  # several tables show it

    def row(self, entry: ModelRow, data: str) -> Row:
        """Return the records by seed."""
        return gather(self._lookup, entry.trainings(self.scope, data))

    def _gain(self, entry: ModelRow, other: ModelRow, data: str) -> Gain | None:
        """Return the gain of one row over another on other tests; None for a row over itself."""
        ours, theirs = (each.trainings(self.scope, data) for each in (entry, other))
        if all(training in theirs for training in ours):
            return None
        gold = gold_labels(self.scope, data, entry.stripped)
        return average([(gold, gather(self._lookup, ours), gather(self._lookup, theirs))], other_tests)

    def mean_gain(
        self, rows: Iterable[tuple[ModelRow, str]], *controls: str, resampling: Resampling = other_trainings
    ) -> Gain | None:
        """Return the mean gain of rows on data sets over other methods of the same model, pooled."""
        return average(
            [
                (
                    gold_labels(self.scope, data, entry.stripped),
                    self.row(entry, data),
                    tuple(self.row(entry.with_method(each), data) for each in controls),
                )
                for entry, data in rows
            ],
            resampling,
        )

    def scores(self, entry: ModelRow, data: str) -> TableRow:
        """Return mean and standard deviation of accuracy and macro-F1."""
        return tuple(format_row(self.row(entry, data), metric) for metric in METRICS)

    def fields(self, entry: ModelRow, data: str, paper: Scores | None) -> TableRow:
        """Return the fields under `COLUMNS`."""
        row = self.row(entry, data)
        apart = [ours - theirs for ours, theirs in zip(means_of(row), paper, strict=True)] if paper and row else None
        gain = format_gain(self.gain(entry, entry.with_method(""), data))
        return (entry.name, len(row), *self.scores(entry, data), gain, format_scores(paper), format_scores(apart, "+"))


def format_gain(gain: Gain | None) -> FormattedValue | None:
    """Return a gain in accuracy / macro-F1 with its stars."""
    if gain is None:
        return None
    both = (gain.accuracy, gain.macro_f1)
    parts = dict(zip(PAIR, (each.points for each in both), strict=True))
    parts |= {f"p {name}": each.p_rise for name, each in zip(PAIR, both, strict=True)}
    interval = {"seeds": gain.seeds, "low macro-F1": gain.macro_f1.low, "high macro-F1": gain.macro_f1.high}
    return FormattedValue(" / ".join(f"{each.points:+.2f}{stars(each.p_rise)}" for each in both), parts | interval)


def format_gain_interval(gain: Gain | None) -> FormattedValue | None:
    """Return a gain in macro-F1 with its 95 % interval."""
    if gain is None:
        return None
    shown = format_interval("macro-F1", gain.macro_f1.points, gain.macro_f1.low, gain.macro_f1.high)
    return replace(shown, parts={**shown.parts, "seeds": gain.seeds})


def means_of(row: Row) -> list[float]:
    """Return the means of accuracy and macro-F1 over the seeds, in points."""
    return [mean_and_std([record[metric] for record in row.values()])[0] for metric in METRICS]


def mean_scores(row: Row) -> FormattedValue | None:
    """Return the means as a field."""
    return format_scores(means_of(row) if row else None)


def best_epoch(row: Row) -> FormattedValue | None:
    """Return what the best epoch on test would report, by accuracy and then macro-F1 as the released code chooses."""
    curves = [record["curve"] for record in row.values()]
    if not row or not all(curves):
        return None
    best = [max(tuple(point) for point in curve) for curve in curves]
    return format_scores([mean_and_std(list(column))[0] for column in zip(*best, strict=True)])


# Analysed rows: the plain model, and those that supervise it.
ANALYSED_ROWS = ("", "+PG-AS", "+Consensus", "+Human")
_FEW_INSTANCES = 300  # of an encoder's faithfulness, which takes about a hundred predictions each


def places_by_model(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield every attending model in scope with every data set."""
    return ((model, data) for model in ATTENDING if scope.has(model) for data in scope.data)


def marked_places(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield every data set in which people marked words with every attending model in scope."""
    marked = filter(scope.has_opinion_words, scope.data)
    return ((data, model) for data in marked for model in ATTENDING if scope.has(model))


def analyses_of(scope: Scope, kind: str, method: str, model: str, data: str) -> list[Analysis]:
    """Return analyses of a row's models by seed; none for human words if nobody marked any."""
    chosen = settings(limit=_FEW_INSTANCES) if kind == "faithfulness" and model.startswith("bertabsa") else ()
    trainings = METHODS[method].trainings(scope, model, data, FEW_SEEDS)
    return [Analysis(training, kind, chosen) for training in trainings]


def row_name(model: str, method: str) -> str:
    """Return the name of a row as the paper writes it."""
    return NAMES[model] + (f" ({method})" if method else "")
