"""The paper's table of speed: the cost of every method in training and testing, in whole and in parts, as multiples.

Each cell times all methods one after the other in one process, as `pssa train` runs them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paper.experiments.cells import Cell, Timing
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, Part, Table, TableRow, Value
from paper.studies.exhibits._rows import NAMES, row_name
from paper.studies.paper import SPEED, SPEED_PARTS

__all__ = ["EXHIBIT"]

_DATA = "laptop"
# Methods as they are timed, and as the tables call them.
_TIMED = {
    **{"base": "", "kt": "+KT", "boosting": "+Boosting", "adaboost": "+Adaboost"},
    **{"aw-as": "+AW-AS", "pg-as": "+PG-AS", "consensus": "+Consensus"},
}
# The ensembles and a consensus take too long on an encoder.
_METHODS = {"memnet": tuple(_TIMED), "tnet_att": tuple(_TIMED), "bertabsa_att": ("base", "aw-as", "pg-as")}
# Parts of a training by the prefix of their stages' names, with the paper's word for them if it has one.
_STAGES = {
    "search": ("search for the number of epochs", ""),
    "initial": ("initial training", ""),
    "kt-": ("each further training", ""),
    "member-": ("each member", "member"),
    "round-": ("each training between rounds", ""),
    "mine-": ("each extraction of words", ""),
    "seed-": ("each judge", ""),
    "final": ("final training", "final"),
}
_WHOLE_NOTES = (
    "One seed, all methods in one run, after one run to warm up. Training is from the files to the last file written, including "
    "the search for the number of epochs if there is one; testing is without loading. `x`: multiples of the plain model. Other "
    "programs used the machine too, so the runs had one core, and seconds are those that the processor spent on them.",
    "`paper`: multiples of the plain BERTABSA-ATT on a GeForce GTX TITAN X; its mining iterations are full trainings, ours take "
    "one epoch. BERTABSA-ATT starts from the small encoder. LAPTOP only: the multiples follow from the numbers of trainings and "
    "epochs, so other data sets change the seconds more than the multiples.",
)
_PART_NOTES = (
    "`x`: multiples of the plain model's training without search, reading and saving. `each mining iteration` as in the paper: "
    "all but search and final training, less what the plain model spends outside of these, divided by the number of rounds; it "
    "includes the initial training. `outside of these`: reading, saving and, for a consensus, scoring words by its judges.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield a timing for each model."""
    return (timing for model in _METHODS for timing in _timings(scope, model))


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return for each model a table of wholes and one of parts."""
    found = {model: lookup(timing) for model in _METHODS for timing in _timings(scope, model)}
    return [table(model, record) for model, record in found.items() for table in (_wholes, _parts)]


def _timings(scope: Scope, model: str) -> list[Timing]:
    return [Timing(place, _METHODS[model]) for place in scope.places(model, _DATA, 1)]


def _wholes(model: str, record: Record | None) -> Table:
    rows = tuple(
        (row_name(model, _TIMED[method]), *_whole(record, method), *_paper_multiples(_TIMED[method]))
        for method in _METHODS[model]
    )
    columns = (
        *("method", "training, s", "training, x", "testing, s", "testing, x"),
        *("training, x (paper)", "testing, x (paper)"),
    )
    return Table(f"speed-{model}", f"{NAMES[model]}: training and testing", columns, rows, _WHOLE_NOTES, columns[1:5])


def _whole(record: Record | None, method: str) -> TableRow:
    if record is None:
        return (None,) * 4
    ours, base = record["methods"][method], record["methods"]["base"]
    fields: list[Value] = []
    for kind in ("train", "test"):
        fields += [round(ours[kind], 2), round(ours[kind] / base[kind], 2)]
    return tuple(fields)


def _paper_multiples(method: str) -> TableRow:
    """Return the paper's multiples."""
    ours, base = (SPEED.get(("bertabsa_att", name, _DATA)) for name in (method, ""))
    if ours is None or base is None:
        return (None, None)
    return tuple(round(mine / plain, 2) for mine, plain in zip(ours, base, strict=True))


def _parts(model: str, record: Record | None) -> Table:
    spent = record["methods"] if record else {}
    rows = tuple((_TIMED[method] or "plain", *fields) for method in spent for fields in _fields(spent, method))
    columns = ("method", "part", "how many", "seconds each", "x", "x (paper)")
    return Table(f"speed-parts-{model}", f"{NAMES[model]}: parts of training", columns, rows, _PART_NOTES, columns[3:4])


def _fields(methods: Mapping[str, Any], method: str) -> Iterator[TableRow]:
    proper, plain = methods["base"]["stages"]["initial"], SPEED["bertabsa_att", "", _DATA]
    for part, number, seconds, word in _split(methods, method):
        printed = SPEED_PARTS.get((_TIMED[method], word, _DATA))
        paper = round(printed / plain[0], 2) if printed else None
        yield part, number, round(seconds, 2), round(seconds / proper, 2), paper


def _split(methods: Mapping[str, Any], method: str) -> Iterator[tuple[str, int, float, str]]:
    """Yield parts of a method's training: name, number, seconds of each, the paper's word."""
    spent = methods[method]
    for prefix, (part, word) in _STAGES.items():
        seconds = [each for stage, each in spent["stages"].items() if stage.startswith(prefix)]
        if seconds:
            yield part, len(seconds), statistics.mean(seconds), word
    rounds = 1 + sum(stage.startswith("round-") for stage in spent["stages"])
    if rounds > 1:
        apart = sum(spent["stages"].get(stage, 0.0) for stage in ("search", "final"))
        seconds_each = (spent["train"] - apart - _outside(methods["base"])) / rounds
        yield "each mining iteration", rounds, seconds_each, "iteration"
    yield "outside of these", 1, _outside(spent), ""


def _outside(spent: Mapping[str, Any]) -> float:
    return float(spent["train"] - sum(spent["stages"].values()))


EXHIBIT = Exhibit("speed", "Cost of the methods", cells, show, needs=(_DATA,), encoders=SWEEP)
