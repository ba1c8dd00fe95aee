"""Beyond the paper: other readings of it, each beside two trainings without evidence that differ from it in nothing else.

Where the paper leaves a choice open, or its released code makes another, the tables show what that choice gives on the test sets:
single choices, the presets `paper` and `release`, the release by number of rounds, and the gain as a training goes on. What
held-out data choose is in the exhibits `epsilon` (the threshold) and `readings-held-out` (gamma).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from paper.experiments.cells import Mining, Place, Setting, Training, settings
from paper.experiments.comparison import Gain, Row, average, gather, gold_labels
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import Exhibit, FormattedValue, Part, Table, TableRow, Value
from paper.studies.exhibits._course import Course, course_parts, courses_of
from paper.studies.exhibits._rows import FEW_SEEDS, NAMES, best_epoch, format_gain, format_gain_interval, mean_scores
from pssa.data.evidence import KINDS

__all__ = ["EXHIBIT"]

# Bits, of PG-AS: what held-out data preferred with earlier defaults (results/readings.md).
_EPSILON = 1.0
# With a number of epochs searched under supervision: what held-out data choose (results/readings.md).
GAMMA = {"memnet": 0.5, "tnet_att": 0.125}
_WORD_MODELS = ("memnet", "tnet_att")
_ENCODER = "bertabsa_att"
# An epoch of TWITTER takes an encoder as long as those of the other two.
_ENCODER_SEEDS = {"laptop": 3, "rest": 3, "twitter": 1}
_PLAIN, _AGAIN = "plain", "trained again"
_RELEASE_ROUNDS = range(6)
_LONG_EPOCHS = 50  # as in the release of TNet-ATT
_USUAL = 5  # seeds
_Seeds = tuple[tuple[str, Sequence[int]], ...]  # data sets and what was measured there
_FEW_DATA: _Seeds = (("laptop", range(_USUAL)), ("rest", range(_USUAL)))
_AT_LENGTH: _Seeds = (("laptop", (0, 1, 3, 4)), ("rest", range(_USUAL)))
PRESETS, PRESET_MEANS, PRESET_ROWS = (
    ("paper", "release"),
    "readings-preset-means",
    "readings-presets",
)  # and their tables
MINED_BY = {"+AW-AS": "aw-as", "+PG-AS": "pg-as"}
# By preset, model and method, where it is not every data set with the usual seeds.
_PRESET_SEEDS: dict[tuple[str, ...], _Seeds] = {
    ("paper", "tnet_att"): (*_FEW_DATA, ("twitter", range(3))),
    ("release", "tnet_att"): (_FEW_DATA[0], ("rest", range(2 * _USUAL))),
    ("release", "tnet_att", "+PG-AS"): (_FEW_DATA[0], ("rest", (3, 4))),
    **{(preset, _ENCODER): (("laptop", range(FEW_SEEDS)),) for preset in PRESETS},
}


@dataclass(frozen=True)
class Reading:
    """A row of a table: what differs from the defaults of +PG-AS."""

    name: str
    mined_by: str = "pg-as"  # empty: a training without any evidence
    mining: tuple[Setting, ...] = ()
    training: tuple[Setting, ...] = ()
    preset: str = ""  # of every training; on REST with -rest
    epochs: int = 0  # of every training; 0: a search finds them, or the preset has them
    rounds: int = 0  # of mining that count; 0: all
    seeds: int = 0  # at most; 0: all
    only: _Seeds = ()  # empty: all data sets and seeds
    small: bool = False  # on the small encoder, if the model starts from one

    def trainings(self, scope: Scope, model: str, data: str) -> list[Training]:
        """Return the trainings of the row by seed."""
        return [self._training_in(place) for place in self._places(scope, model, data)]

    def controls(self, scope: Scope, model: str, data: str) -> tuple[list[Training], ...]:
        """Return a plain training with the same settings, where there is one, and one whose penalty has no weight."""
        kinds = (self._plain(), self._again())
        return tuple(each.trainings(scope, model, data) for each in kinds if each is not None)

    def _plain(self) -> Reading | None:
        # A final training that goes on from the initial model is longer than a plain one.
        goes_on = dict(self.training).get("final_start") == "initial"
        return None if goes_on else replace(self, mined_by="", mining=(), training=(), rounds=0)

    def _again(self) -> Reading:
        """Return the row with the same random numbers: what its penalty consists of does not matter."""
        kept = {name: value for name, value in self.training if name in ("final_start", "final_epochs")}
        mined_by = "pg-as" if kept else "aw-as"
        return replace(self, mined_by=mined_by, mining=(), training=settings(gamma=0.0, **kept), rounds=0)

    def _training_in(self, place: Place) -> Training:
        if not self.mined_by:
            return Training(place)
        if self.preset and self.training == settings(gamma=0.0) and self._is_on_large(place):
            # Without evidence the paper's settings of an encoder are ours.
            place = replace(place, settings=())
        mining = Mining(place, self.mined_by, self.mining)
        return Training(place, evidence=mining, rounds=self.rounds, settings=self.training)

    def _is_on_large(self, place: Place) -> bool:
        return place.model == _ENCODER and not self.small

    def _places(self, scope: Scope, model: str, data: str) -> tuple[Place, ...]:
        seeds, only = self.seeds, dict(self.only)
        if only and data not in only:
            return ()
        if model == _ENCODER and not self.small:
            seeds = min(seeds or FEW_SEEDS, _ENCODER_SEEDS[data] if self.preset else FEW_SEEDS)
        preset = f"{self.preset}-rest" if data == "rest" else self.preset
        chosen = {**({"preset": preset} if self.preset else {}), **({"epochs": self.epochs} if self.epochs else {})}
        if only and len(only[data]) > _USUAL:
            scope = replace(scope, seeds=2 * scope.seeds)
        places = replace(scope, prefers_small=self.small).places(model, data, seeds, settings(**chosen))
        return tuple(place for place in places if not only or place.seed in only[data])


_DEFAULT = Reading("+PG-AS, default")
_UNSUPERVISED = (Reading(_PLAIN, mined_by=""), Reading(_AGAIN, mined_by="aw-as", training=settings(gamma=0.0)))
_RANDOM = Reading("random words, as many as of +PG-AS", "random", mining=settings(words_of="pg-as"))


def _of_words(model: str) -> Iterator[Reading]:
    """Yield the readings of a model on word vectors."""
    gamma = GAMMA[model]
    yield from (*_UNSUPERVISED, _DEFAULT)
    yield Reading(f"epsilon = {_EPSILON:g}", mining=settings(epsilon=_EPSILON))
    yield Reading("K = 2", rounds=2)
    yield Reading("weighting = round", training=settings(weighting="round"))
    yield Reading("folds = 5", mining=settings(folds=5), seeds=FEW_SEEDS)
    yield Reading("full-length rounds", mining=settings(round_epochs=0), seeds=FEW_SEEDS)
    name = f"epochs and gamma searched under supervision (gamma {gamma:g})"
    yield Reading(name, training=settings(final_epochs="search", gamma=gamma))
    yield Reading("final training continued", training=settings(final_start="initial"))
    yield Reading("penalty on the gradient saliency itself", training=settings(penalty_on="gradient"), only=_FEW_DATA)
    if model == "tnet_att":  # MN's h(x) are its word vectors
        yield Reading("noise on the word vectors", mining=settings(noise_on="input"), only=_FEW_DATA)
    yield _RANDOM


def _of_preset(preset: str, model: str) -> Iterator[Reading]:
    """Yield the rows of a preset: two without evidence, and the paper's two methods."""
    start = Reading("", preset=preset, small=True, only=_PRESET_SEEDS.get((preset, model), ()))
    for row in _UNSUPERVISED:
        yield replace(start, name=row.name, mined_by=row.mined_by, training=row.training)
    for name, mined_by in MINED_BY.items():
        only = _PRESET_SEEDS.get((preset, model, name), start.only)
        yield replace(start, name=name, mined_by=mined_by, only=only)
    if preset == "paper" and model in _WORD_MODELS:
        on_gradient = settings(penalty_on="gradient")
        name = "+PG-AS, penalty on the gradient saliency itself"
        yield replace(start, name=name, training=on_gradient, only=_FEW_DATA)
    if preset == "paper" and model == _ENCODER:
        yield Reading("+PG-AS, on the large encoder", preset=preset)


_Named = dict[tuple[str, ...], tuple[str, Reading]]  # the model and the reading, by the first fields of the row


def _readings(scope: Scope) -> _Named:
    """Return single choices, by model and name."""
    of_encoder = (*_UNSUPERVISED, _DEFAULT, replace(_RANDOM, only=(("laptop", range(FEW_SEEDS)),)))
    rows = {model: tuple(_of_words(model)) for model in _WORD_MODELS} | {_ENCODER: of_encoder}
    return {(NAMES[model], row.name): (model, row) for model in rows if scope.has(model) for row in rows[model]}


def _presets(scope: Scope) -> _Named:
    """Return the rows of the presets, by preset, model and name."""
    return {
        (preset, NAMES[model], row.name): (model, row)
        for preset in PRESETS
        for model in (*_WORD_MODELS, _ENCODER)
        if scope.has(model)
        for row in _of_preset(preset, model)
    }


def _release(rounds: int) -> Reading:
    """Return the released TNet-ATT with the words of so many rounds."""
    fewer = rounds if rounds < max(_RELEASE_ROUNDS) else 0
    chosen = () if rounds else settings(gamma=0.0)
    only = _PRESET_SEEDS["release", "tnet_att"]
    return Reading(f"K = {rounds}", "aw-as", training=chosen, preset="release", rounds=fewer, only=only)


# TNet-ATT with every training of 50 epochs, with words mined by attention.
_LONG = {
    "defaults": (Reading("+AW-AS", "aw-as", epochs=_LONG_EPOCHS, only=_AT_LENGTH),),
    "release": tuple(_release(rounds) for rounds in _RELEASE_ROUNDS if rounds),
}


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return what was found in sentences, single choices, the presets, the release by round, and a long training."""
    board = _Board(scope, lookup)
    single, presets = _readings(scope), _presets(scope)
    return [
        board.summary((*single.values(), *presets.values())),
        board.preset_means(presets),
        board.table(PRESET_ROWS, "The presets", ("preset", "model", "row"), presets, _PRESET_NOTES),
        board.release(),
        *board.course(),
        board.table("readings-all", "Single choices, on the test sets", ("model", "reading"), single, _CHOICE_NOTES),
    ]


class _Board:
    """Scores and gains of the rows."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self._scope, self._lookup = scope, lookup

    def row(self, model: str, reading: Reading, data: str) -> Row:
        """Return the records of a reading on a data set, by seed."""
        return gather(self._lookup, reading.trainings(self._scope, model, data))

    def controls(self, model: str, reading: Reading, data: str) -> tuple[Row, ...]:
        """Return the records of both controls, or of one."""
        return tuple(gather(self._lookup, each) for each in reading.controls(self._scope, model, data))

    def gain(
        self, rows: Iterable[tuple[str, Sequence[Reading]]], data: Iterable[str], own: bool = False
    ) -> Gain | None:
        """Return the mean gain of rows over their controls pooled.

        :param rows: models and readings; of several readings of a model the mean counts.
        :param own: over the control with the same random numbers alone.
        """
        pairs = []
        for (model, readings), name in product(rows, data):
            ours = tuple(self.row(model, each, name) for each in readings)
            theirs = tuple(row for each in readings for row in self.controls(model, each, name)[-1 if own else 0 :])
            pairs.append((gold_labels(self._scope, name), ours, theirs))
        return average(pairs)

    def summary(self, rows: Sequence[tuple[str, Reading]]) -> str:
        """Return how many rows gain over their controls, and which of them beyond chance."""
        gains = {
            (model, row): gain
            for model, row in rows
            # A single seed says nothing about other trainings.
            if not _is_idle(row) and max(len(self.row(model, row, data)) for data in self._scope.data) > 1
            if (gain := self.gain([(model, [row])], self._scope.data)) is not None
        }
        if not gains:
            return "No reading was measured yet."
        better = [key for key, gain in gains.items() if gain.macro_f1.points > 0]
        sure = [key for key in better if gains[key].macro_f1.low > 0]
        worse = [key for key, gain in gains.items() if gain.macro_f1.high < 0]
        mean = statistics.mean(gain.macro_f1.points for gain in gains.values())
        return (
            f"We compare {len(gains)} rows with evidence, of two seeds or more, with both of their controls, which have none. "
            f"{len(better)} of them have a higher macro-F1; the mean difference of all is {mean:+.2f} points. The 95 % interval "
            f"of {len(sure)} lies above zero{_listed(sure, gains)}, that of {len(worse)} below{_listed(worse, gains)}. Chance "
            f"alone would give {0.025 * len(gains):.1f} of so many rows on either side."
        )

    def table(self, name: str, title: str, first: tuple[str, ...], rows: _Named, notes: tuple[str, ...]) -> Table:
        """Return rows with their scores on every data set and their gains over both controls."""
        columns = (*first, "seeds", *(data.upper() for data in self._scope.data), *_COLUMNS)
        fields = tuple((*key, *self._fields(model, reading)) for key, (model, reading) in rows.items())
        return Table(name, title, columns, fields, notes, ("seeds",))

    def preset_means(self, rows: _Named) -> Table:
        """Return the mean gain of every method with a preset, over all pairs of model and data set that have it."""
        found: list[TableRow] = []
        for preset, name in product(PRESETS, MINED_BY):
            every = [(model, [row]) for key, (model, row) in rows.items() if (key[0], key[2]) == (preset, name)]
            own, both = (self.gain(every, self._scope.data, is_own) for is_own in (True, False))
            counts = (both.places, both.seeds) if both else (0, None)
            found.append((preset, name, *counts, format_gain(own), format_gain_interval(both)))
        columns = ("preset", "row", "pairs", "seeds", *_COLUMNS[:2])
        return Table(PRESET_MEANS, "The presets, on average", columns, tuple(found), _MEAN_NOTES, ("seeds",))

    def _fields(self, model: str, reading: Reading) -> TableRow:
        rows = [self.row(model, reading, data) for data in self._scope.data]
        seeds = "/".join(str(len(row)) for row in rows) if any(rows) else None
        own, both = (
            None if _is_idle(reading) else self.gain([(model, [reading])], self._scope.data, is_own)
            for is_own in (True, False)
        )
        words = self._words(model, reading)
        return (seeds, *map(mean_scores, rows), format_gain(own), format_gain_interval(both), words)

    def _words(self, model: str, reading: Reading) -> FormattedValue | None:
        """Return the words per instance that supervise, over all data sets and seeds."""
        counts = []
        for data in self._scope.data if not _is_idle(reading) else ():
            for training in reading.trainings(self._scope, model, data):
                record = self._lookup(training.evidence) if training.evidence else None
                if record is not None and self._lookup(training) is not None:
                    counts.append(count_words(record, reading.rounds))
        if not counts:
            return None
        means = [statistics.mean(each) for each in zip(*counts, strict=True)]
        return FormattedValue(" + ".join(f"{mean:.2f}" for mean in means), dict(zip(KINDS, means, strict=True)))

    def release(self) -> Table:
        """Return the released TNet-ATT by number of rounds, and the mean of all numbers."""
        readings = [_release(rounds) for rounds in _RELEASE_ROUNDS]
        rows: list[TableRow] = []
        for rounds, reading in enumerate(readings):
            fields: list[Value] = []
            for data in self._few:
                row = self.row("tnet_att", reading, data)
                gain = self.gain([("tnet_att", [reading])], [data]) if rounds else None
                fields += [len(row) or None, mean_scores(row), format_gain_interval(gain), best_epoch(row)]
            rows.append((str(rounds), *fields))
        means = [self.gain([("tnet_att", readings[1:])], [data]) for data in self._few]
        fields = [each for gain in means for each in (gain.seeds if gain else None, "", format_gain_interval(gain), "")]
        rows.append((f"mean of 1 to {len(readings) - 1}", *fields))
        columns = ("K", *(f"{data.upper()}{end}" for data in self._few for end in _RELEASE_COLUMNS))
        outcomes = tuple(f"{data.upper()} seeds" for data in self._few)
        title = "TNet-ATT as released, by number of rounds"
        return Table("readings-release", title, columns, tuple(rows), _RELEASE_NOTES, outcomes)

    def course(self) -> Iterator[Part]:
        """Yield the gain as a training of 50 epochs goes on: a figure and a table."""
        found: dict[tuple[str, str], Sequence[Course]] = {}
        last: dict[tuple[str, str], Gain | None] = {}
        for name, readings in _LONG.items():
            for data in self._few:
                ours = [self.row("tnet_att", each, data) for each in readings]
                found[name, data] = courses_of(ours, self.controls("tnet_att", readings[0], data))
                last[name, data] = self.gain([("tnet_att", readings)], [data])
        yield from course_parts(found, last)

    @property
    def _few(self) -> tuple[str, ...]:
        return tuple(data for data, _ in _FEW_DATA if data in self._scope.data)


_COLUMNS = ("over its control", "over both controls", "words")
_RELEASE_COLUMNS = (" seeds", "", " gain", " best epoch on test")


def _is_idle(reading: Reading) -> bool:
    """Whether the row has no evidence, or gives it no weight."""
    return not reading.mined_by or dict(reading.training).get("gamma") == 0


def _listed(keys: Sequence[tuple[str, Reading]], gains: Mapping[tuple[str, Reading], Gain]) -> str:
    """Return the rows with their differences, in brackets."""
    named = (
        f"{NAMES[model]}: {' '.join(filter(None, (row.preset, row.name)))} ({gains[model, row].macro_f1.points:+.2f})"
        for model, row in keys
    )
    return f" ({'; '.join(named)})" if keys else ""


def count_words(record: Record, rounds: int = 0) -> tuple[float, ...]:
    """Return the active and the misleading words of an instance, of the first rounds or all."""
    counted = [found for number, found in record["rounds"].items() if not rounds or int(number) <= rounds]
    return tuple(sum(found[kind] for found in counted) / max(1, int(record["instances"])) for kind in KINDS)


_MEAN_NOTES = (
    "`--preset paper` and `--preset release`, with `-rest` on REST: means over the pairs of a model and a data set that have the "
    "row and its controls, one pair counting like another. `seeds`: the fewest of a pair. The columns are those of the next "
    "table.",
)
_PRESET_NOTES = (
    "Accuracy / macro-F1 in points, means over the seeds; `seeds`: their number by data set. Every row has two controls with its "
    "own settings and no evidence: `plain`, and `trained again`, the final training with a penalty of zero weight, which has the "
    "same random numbers as the row. `over its control`: mean gain over the second, over the data sets. `over both controls`: "
    "gain in macro-F1 over the mean of both, with its 95 % interval. * p < .05, ** p < .01, one-sided. Both by a bootstrap over "
    "seeds and test instances, which draws the seeds of one row and one control in pairs, and those of three rows each apart. "
    "`words`: mined words per instance, active + misleading.",
    "BERTABSA-ATT starts from the small encoder. For TNet-ATT the released code has +AW-AS alone. `on the large encoder`: its "
    "second control has our defaults, from which `paper` differs in evidence alone. `penalty on the gradient saliency itself`: "
    "the penalty is on the share of each word by its gradient, as in the paper's footnote, not on attention.",
)
_CHOICE_NOTES = (
    "Columns as in the table of the presets. `epsilon = 1`: the lowest threshold that we tried, which held-out data chose with "
    "earlier defaults. `K = 2`: words of the first two rounds. `weighting = round`: words expect half of the attention that "
    "those of the round before do. `folds = 5`: each instance is mined by a model that has not seen it. `full-length rounds`: "
    "as many epochs between two rounds as the initial model took. `epochs and gamma searched`: its controls search their epochs"
    " too. `final training continued`: it starts from the trained initial model, and so does its only control. `noise on the "
    "word vectors`: the gradient's noisy samples begin at the word vectors, not at h(x); in MN these are the same. `random "
    "words`: as many in each instance as PG-AS found, of the same kinds.",
)
_RELEASE_NOTES = (
    "`--preset release` on LAPTOP, `release-rest` on REST, with method aw-as, the only one that was released for this "
    "model. K: rounds whose words supervise; 0: none, with the same random numbers. `gain`: in macro-F1 over K = 0 and a plain "
    "training, pooled, with its 95 % interval. `best epoch on test`: what the released code reports, the epoch of 50 with the "
    "highest test accuracy; it is no result.",
)
EXHIBIT = Exhibit("readings", "Other readings of the paper", show)
