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
from paper.studies.exhibits._rows import ATTENDING, NAMES, row_name
from paper.studies.paper import SPEED, SPEED_PARTS

__all__ = ["EXHIBIT"]

_MODELS = ("memnet", "tnet_att", "bertabsa", "bertabsa_att")
_DATA = ("laptop",)
# Methods as they are timed, and as the tables call them.
_TIMED = {
    **{"base": "", "kt": "+KT", "boosting": "+Boosting", "adaboost": "+Adaboost"},
    **{"aw-as": "+AW-AS", "pg-as": "+PG-AS", "consensus": "+Consensus"},
}
_WITHOUT_ATTENTION = ("base", "kt")
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
    "the search for the number of epochs if there is one; testing is without loading. `x`: multiples of the plain model.",
    "`paper`: multiples of the plain BERTABSA or, beside all others, BERTABSA-ATT, on a GeForce GTX TITAN X; its mining "
    "iterations are full trainings, ours take one epoch. LAPTOP only, and on the small encoder if there is one: multiples differ "
    "little between data sets, and a timing has the machine for itself.",
)
_PART_NOTES = (
    "`x`: multiples of the plain model's training without search, reading and saving. `each mining iteration` as in the paper: "
    "all but search and final training, less what the plain model spends outside of these, divided by the number of rounds; it "
    "includes the initial training. `outside of these`: reading, saving and, for a consensus, scoring words by its judges.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield a timing for each model and data set."""
    yield from (cell for model in _MODELS for data in _data(scope) for cell in _timings(scope, model, data))


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return for each model a table of wholes and one of parts."""
    parts: list[Part] = []
    for model in (model for model in _MODELS if scope.has(model)):
        found = {data: next((lookup(cell) for cell in _timings(scope, model, data)), None) for data in _data(scope)}
        parts += [_wholes(model, found), _parts(model, found)]
    return parts


def _data(scope: Scope) -> list[str]:
    return [data for data in scope.data if data in _DATA]


def _timings(scope: Scope, model: str, data: str) -> list[Timing]:
    return [Timing(place, _methods(model)) for place in scope.places(model, data, 1)]


def _methods(model: str) -> tuple[str, ...]:
    return tuple(_TIMED) if model in ATTENDING else _WITHOUT_ATTENTION


def _wholes(model: str, found: Mapping[str, Record | None]) -> Table:
    rows = tuple(
        (data.upper(), row_name(model, name), *_whole(record, method), *_paper_multiples(model, name, data))
        for data, record in found.items()
        for method, name in ((method, _TIMED[method]) for method in _methods(model))
    )
    columns = (
        *("data", "method", "training, s", "training, x", "testing, s", "testing, x"),
        *("training, x (paper)", "testing, x (paper)"),
    )
    return Table(f"speed-{model}", f"{NAMES[model]}: training and testing", columns, rows, _WHOLE_NOTES, columns[2:6])


def _whole(record: Record | None, method: str) -> TableRow:
    if record is None:
        return (None,) * 4
    ours, base = record["methods"][method], record["methods"]["base"]
    fields: list[Value] = []
    for kind in ("train", "test"):
        fields += [round(ours[kind], 2), round(ours[kind] / base[kind], 2)]
    return tuple(fields)


def _paper_multiples(model: str, name: str, data: str) -> TableRow:
    """Return the paper's multiples."""
    paper_model = "bertabsa" if model == "bertabsa" else "bertabsa_att"
    ours, base = (SPEED.get((paper_model, method, data)) for method in (name, ""))
    if ours is None or base is None:
        return (None, None)
    return tuple(round(mine / plain, 2) for mine, plain in zip(ours, base, strict=True))


def _parts(model: str, found: Mapping[str, Record | None]) -> Table:
    rows = tuple(
        (data.upper(), name or "plain", *fields)
        for data, record in found.items()
        if record is not None
        for method, name in ((method, _TIMED[method]) for method in _methods(model))
        for fields in _fields(record["methods"], method, data)
    )
    columns = ("data", "method", "part", "how many", "seconds each", "x", "x (paper)")
    return Table(f"speed-parts-{model}", f"{NAMES[model]}: parts of training", columns, rows, _PART_NOTES, columns[4:5])


def _fields(methods: Mapping[str, Any], method: str, data: str) -> Iterator[TableRow]:
    proper = methods["base"]["stages"]["initial"]
    plain = SPEED.get(("bertabsa_att", "", data))
    for part, number, seconds, word in _split(methods, method):
        printed = SPEED_PARTS.get((_TIMED[method], word, data))
        paper = round(printed / plain[0], 2) if printed and plain else None
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


EXHIBIT = Exhibit("speed", "Cost of the methods", cells, show, needs=_DATA, encoders=SWEEP)
