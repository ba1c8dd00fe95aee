"""Beyond the paper: other readings of it, each beside a training without evidence and the default.

Where the paper leaves a choice open, or its released code makes another, the table shows what that choice gives on the test sets.
What held-out data choose is in the exhibits `epsilon` (the threshold) and `readings-held-out` (gamma).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pssa.data.evidence import KINDS
from pssa.experiments.cells import Cell, Mining, Place, Setting, Training, settings
from pssa.experiments.comparison import Gain, Row, average, gather
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import (
    Exhibit,
    FormattedValue,
    Part,
    Table,
    TableRow,
    Value,
    not_measured,
)
from pssa.studies.exhibits._rows import FEW_SEEDS, METHODS, NAMES, best_epoch, format_gain, mean_scores

__all__ = ["EXHIBIT"]

# Bits, of PG-AS: what held-out data preferred with earlier defaults (results/epsilon.md).
_EPSILON = 1.0
# With a number of epochs searched under supervision: what held-out data choose (results/readings-held-out.md).
GAMMA = {"memnet": 0.5, "tnet_att": 0.5}
_AGAIN, _DEFAULT, _LONGER = "again", "+PG-AS, default", "final training continued, without evidence"
# An epoch of TWITTER takes an encoder as long as those of the other two.
_ENCODER_SEEDS = {"laptop": 3, "rest": 3, "twitter": 1}
_RELEASE_ROUNDS = range(6)
_RELEASE_DATA = {"laptop": FEW_SEEDS, "rest": FEW_SEEDS}  # seeds
_NOTES = (
    "Accuracy / macro-F1 in points, means over the seeds; `seeds`: their number by data set. `over again`: mean gain over "
    "`again`, on the data sets that both rows have. `again` is the final training with a penalty of zero weight: on the same "
    "kind of device it has the same random numbers as a reading and differs from it only in its evidence. `over the default`: "
    "the same over +PG-AS with our defaults. * p < .05, ** p < .01, one-sided, by a bootstrap that resamples seeds together "
    "with test instances. `words`: mined words per instance, active + misleading.",
    "`epsilon = 1`: the lowest threshold that we tried, which held-out data chose. `K = 2`: words of the first two rounds. "
    "`weighting = round`: words expect half of the attention that those of the round before do. `folds = 5`: each instance "
    "is mined by a model that has not seen it. `full-length rounds`: as many epochs between two rounds as the initial model"
    " took. `final training continued`: it starts from the trained initial model; its control, instead of `again`, is the "
    "same without evidence. `random words`: as many in each instance as PG-AS found, of the same kinds. `the paper to the "
    "letter`: `--preset paper`, `paper-rest` on REST; its control is `again` of the default, which has the same random "
    "numbers.",
)
_RELEASE_NOTES = (
    "`--preset release` on LAPTOP, `release-rest` on REST, with method aw-as, the only one that was released for this "
    "model. K: rounds whose words supervise; 0: none, with the same random numbers. `gain`: over K = 0, with stars as "
    "above. `best epoch on test`: what the released code reports, the epoch of 50 with the highest test accuracy; it is no "
    "result.",
)


@dataclass(frozen=True)
class Reading:
    """A row of the table: what differs from the defaults of +PG-AS."""

    name: str
    mining: tuple[Setting, ...] = ()
    training: tuple[Setting, ...] = ()
    rounds: int = 0  # of mining that count; 0: all
    seeds: int = 0  # at most; 0: all
    mined_by: str = "pg-as"
    preset: str = ""  # on REST with -rest
    control: str = _AGAIN
    data: tuple[str, ...] = ()  # empty: all data sets

    def trainings(self, scope: Scope, model: str, data: str) -> dict[int, Training]:
        """Return the trainings of the row by seed."""
        if self.data and data not in self.data:
            return {}
        seeds = self.seeds
        if model.startswith("bertabsa"):
            seeds = min(seeds or FEW_SEEDS, _ENCODER_SEEDS[data] if self.preset else FEW_SEEDS)
        return {place.seed: self._training_in(place) for place in _places(scope, model, data, seeds, self.preset)}

    def _training_in(self, place: Place) -> Training:
        if self.name == _AGAIN:
            return METHODS["again"].training_in(place)
        mining = Mining(place, self.mined_by, self.mining)
        return Training(place, evidence=(mining,), rounds=self.rounds, settings=self.training)


def _places(scope: Scope, model: str, data: str, seeds: int, preset: str) -> tuple[Place, ...]:
    chosen = settings(preset=f"{preset}-rest" if data == "rest" else preset) if preset else ()
    return scope.places(model, data, seeds, chosen)


_CONTROLS = (Reading(_AGAIN), Reading(_DEFAULT))
_RANDOM = Reading("random words, as many as of +PG-AS", settings(words_of="pg-as"), mined_by="random")


def _of_words(model: str) -> tuple[Reading, ...]:
    """Return the readings of a model on word vectors."""
    gamma = GAMMA[model]
    going_on = settings(final_start="initial")
    searched = settings(final_epochs="search", gamma=gamma)
    return (
        *_CONTROLS,
        Reading(f"epsilon = {_EPSILON:g}", settings(epsilon=_EPSILON)),
        Reading("K = 2", rounds=2),
        Reading("weighting = round", training=settings(weighting="round")),
        Reading("folds = 5", settings(folds=5), seeds=FEW_SEEDS),
        Reading("full-length rounds", settings(round_epochs=0), seeds=FEW_SEEDS),
        Reading(f"epochs and gamma searched under supervision (gamma {gamma:g})", training=searched),
        Reading("final training continued", training=going_on, control=_LONGER),
        Reading(_LONGER, training=settings(gamma=0.0, **dict(going_on))),
        _RANDOM,
    )


_OF_ENCODER = (
    *_CONTROLS,
    Reading("the paper to the letter", preset="paper"),
    Reading(_RANDOM.name, _RANDOM.mining, mined_by=_RANDOM.mined_by, data=("laptop",)),
)


def _readings(scope: Scope) -> Iterator[tuple[str, Reading]]:
    """Yield every model in scope with its readings."""
    for model in GAMMA:
        if scope.has(model):
            yield from ((model, reading) for reading in _of_words(model))
    if scope.has("bertabsa_att"):
        yield from (("bertabsa_att", reading) for reading in _OF_ENCODER)


def _release(scope: Scope, data: str, rounds: int) -> dict[int, Training]:
    """Return the released TNet-ATT with the words of so many rounds, by seed."""
    found = {}
    for place in _places(scope, "tnet_att", data, _RELEASE_DATA[data], "release"):
        chosen = () if rounds else settings(gamma=0.0)
        fewer = rounds if rounds < max(_RELEASE_ROUNDS) else 0
        found[place.seed] = Training(place, evidence=(Mining(place, "aw-as"),), rounds=fewer, settings=chosen)
    return found


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield the trainings; the words of their evidence are counted too."""
    for model, reading in _readings(scope):
        for data in scope.data:
            yield from reading.trainings(scope, model, data).values()
    for data in (data for data in _RELEASE_DATA if data in scope.data):
        yield from (cell for rounds in _RELEASE_ROUNDS for cell in _release(scope, data, rounds).values())


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return what was found in a sentence, every reading, and the release by number of rounds."""
    board = _ReadingBoard(scope, lookup)
    return [board.summary(), board.table(), _release_table(scope, lookup)]


class _ReadingBoard:
    """Scores and gains of the readings."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self._scope, self._lookup = scope, lookup
        self._readings = {(model, reading.name): reading for model, reading in _readings(scope)}

    def row(self, model: str, name: str, data: str) -> Row:
        """Return the records of a reading on a data set, by seed."""
        return gather(self._lookup, self._readings[model, name].trainings(self._scope, model, data))

    def gain(self, model: str, name: str, other: str) -> Gain | None:
        """Return the mean gain of one reading over another, over the data sets that both have."""
        if name == other:
            return None
        places = [Place(data, model, 0) for data in self._scope.data]
        rows = [(place, self.row(model, name, place.data), self.row(model, other, place.data)) for place in places]
        return average(self._scope, rows)

    def summary(self) -> str:
        """Return how many readings gain over a training without evidence, and which of them beyond chance."""
        names = [key for key, reading in self._readings.items() if reading.control != key[1] and key[1] not in _IDLE]
        gains = {key: gain for key in names if (gain := self.gain(*key, self._readings[key].control)) is not None}
        if not gains:
            return "No reading was measured yet."
        better = [key for key, gain in gains.items() if gain.macro_f1 > 0]
        sure = [key for key in better if gains[key].p_macro_f1 < 0.05]
        mean = statistics.mean(gain.macro_f1 for gain in gains.values())
        named = ", ".join(f"{NAMES[model]}: {name} ({gains[model, name].macro_f1:+.2f})" for model, name in sure)
        return (
            f"We compare {len(gains)} rows with evidence with their control, which has none. {len(better)} of them have a higher "
            f"macro-F1; the mean difference of all is {mean:+.2f} points. {len(sure)} gains have p < .05"
            f"{f': {named}' if named else ''}; of so many rows, chance alone would give {0.05 * len(gains):.1f}."
            f"{self._apart(list(gains))}"
        )

    def _apart(self, rows: Sequence[tuple[str, str]]) -> str:
        """Return a sentence about the rows that were measured on other devices than their controls."""
        apart = [
            f"{NAMES[model]}: {name}"
            for model, name in rows
            if self._devices(model, name) != self._devices(model, self._readings[model, name].control)
        ]
        listed = "; ".join(apart)
        return (
            f" These rows were measured on other devices than their controls, so their random numbers differ too: {listed}."
            if apart
            else ""
        )

    def _devices(self, model: str, name: str) -> set[str]:
        records = (record for data in self._scope.data for record in self.row(model, name, data).values())
        return {str(record.get("made", {}).get("device")) for record in records}

    def table(self) -> Table:
        """Return the table of readings."""
        columns = (*_COLUMNS[:3], *(data.upper() for data in self._scope.data), *_COLUMNS[3:])
        rows = tuple(self._fields(model, name) for model, name in self._readings)
        return Table("readings-all", "Every reading on the test sets", columns, rows, _NOTES, ("seeds",))

    def _fields(self, model: str, name: str) -> TableRow:
        rows = {data: self.row(model, name, data) for data in self._scope.data}
        seeds = "/".join(str(len(row)) for row in rows.values()) if any(rows.values()) else None
        control = self._readings[model, name].control
        gains = [format_gain(self.gain(model, name, other)) for other in (control, _DEFAULT)]
        if name in _IDLE:
            gains[1] = format_gain(None)
        return (NAMES[model], name, seeds, *map(mean_scores, rows.values()), *gains, self._words(model, name))

    def _words(self, model: str, name: str) -> FormattedValue:
        """Return the words per instance that supervise, over all data sets and seeds."""
        reading, counts = self._readings[model, name], []
        for data in self._scope.data if name not in _IDLE else ():
            for training in reading.trainings(self._scope, model, data).values():
                record = self._lookup(training.evidence[0])
                if record is not None and self._lookup(training) is not None:
                    counts.append(count_words(record, reading.rounds))
        if not counts:
            return not_measured(*KINDS)
        means = [statistics.mean(each) for each in zip(*counts, strict=True)]
        return FormattedValue(" + ".join(f"{mean:.2f}" for mean in means), dict(zip(KINDS, means, strict=True)))


_COLUMNS = ("model", "reading", "seeds", "over again", "over the default", "words")
_IDLE = (_AGAIN, _LONGER)  # rows whose evidence has no weight


def count_words(record: Record, rounds: int = 0) -> tuple[float, ...]:
    """Return the active and the misleading words of an instance, of the first rounds or all."""
    counted = [found for number, found in record["rounds"].items() if not rounds or int(number) <= rounds]
    return tuple(sum(found[kind] for found in counted) / max(1, int(record["instances"])) for kind in KINDS)


def _release_table(scope: Scope, lookup: RecordLookup) -> Table:
    names = [data for data in _RELEASE_DATA if data in scope.data]
    rows = []
    for rounds in _RELEASE_ROUNDS:
        fields: list[Value] = []
        for data in names:
            fields += _release_fields(scope, lookup, data, rounds)
        rows.append((rounds, *fields))
    columns = ("K", *(f"{data.upper()}{end}" for data in names for end in _RELEASE_COLUMNS))
    outcomes = tuple(f"{data.upper()} seeds" for data in names)
    title = "TNet-ATT as released, by number of rounds"
    return Table("readings-release", title, columns, tuple(rows), _RELEASE_NOTES, outcomes)


_RELEASE_COLUMNS = (" seeds", "", " gain", " best epoch on test")


def _release_fields(scope: Scope, lookup: RecordLookup, data: str, rounds: int) -> tuple[Value, ...]:
    row, none = (gather(lookup, _release(scope, data, number)) for number in (rounds, 0))
    gain = average(scope, [(Place(data, "tnet_att", 0), row, none)]) if rounds else None
    return (len(row) or None, mean_scores(row), format_gain(gain), best_epoch(row))


EXHIBIT = Exhibit("readings", "Other readings of the paper", cells, show, beyond=True)
