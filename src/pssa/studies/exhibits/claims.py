"""Sentences of the paper that can be measured, each with its number and a verdict, and what happens from round to round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pssa.experiments.cells import Cell
from pssa.experiments.comparison import gather
from pssa.experiments.ledger import Record
from pssa.experiments.reading import Reading
from pssa.experiments.scope import Findings, Scope
from pssa.studies.exhibit import Exhibit, Part, Table, Value
from pssa.studies.exhibits._claim import Asked, verdict
from pssa.studies.exhibits._measures import attention_on, mean_frequency
from pssa.studies.exhibits._sentences import AFTER, BEFORE, CLAIMS, MINED
from pssa.studies.rows import ATTENDING, NAMES

__all__ = ["EXHIBIT"]

_ROUNDS = range(1, 6)
_KINDS = ("active", "misleading")
_NOTES = (
    "A claim holds for a model if it does on every data set that was measured, and does not hold if one of them says the "
    "contrary, `(no)`; it is undecided where chance explains what there is, `(?)`. A claim of no difference holds where none was "
    "found. Differences are of macro-F1 in points, mean over the seeds that both rows have; * p < .05, ** p < .01, one-sided in "
    "the direction of the difference, by a bootstrap over seeds and test instances; of one seed nothing is tested. Other numbers "
    "decide where all seeds say the same, of which there are two at least but where words are only counted. `seeds`: in the "
    "order of the data sets. Frequencies are geometric means, counts sums over seeds.",
)
_ROUND_NOTES = (
    "Sums over seeds. `frequency`: geometric mean of how often an active word stands in train; `seen once`: share of the active "
    "words that stand there once. Attention: mean on the round's words in whole train sentences, before (the same training with "
    "a penalty that weighs nothing) and after supervision by AW.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """What the claims need; much of it is shared with other exhibits."""
    for claim in CLAIMS:
        yield from claim.cells(scope)
    for model, data in _places(scope):
        yield from MINED["AW"].cells(scope, model, data).values()


def show(scope: Scope, findings: Findings) -> Sequence[Part]:
    """Claims with numbers and verdicts, and the rounds of mining."""
    names = [data.upper() for data in scope.data]
    rows: list[tuple[Value, ...]] = []
    tested = 0
    for claim in CLAIMS:
        for model in claim.subjects(scope):
            measured = [claim.look(scope, findings, model, data) for data in scope.data]
            numbers = [None if each is None else each.reading for each in measured]
            counts = {
                name: each.seeds if each and each.seeds else None for name, each in zip(names, measured, strict=True)
            }
            seeds = Reading(", ".join(str(count) for count in counts.values() if count), counts)
            tested += sum(len(each.chances) for each in measured if each)
            rows.append((claim.says, NAMES.get(model), *numbers, seeds, verdict(measured), claim.rule))
    columns = ("claim", "model", *names, "seeds", "verdict", "holds when")
    rounds = tuple(row for model, data in _places(scope) for row in _rounds(scope, findings, model, data))
    return [
        Table(
            *("claims", "What the paper says, and what we measure", columns, tuple(rows)),
            *((*_NOTES, _many(tested)) if tested else _NOTES, columns[2:-3]),
        ),
        Table("claims-rounds", "From round to round", _ROUND_COLUMNS, rounds, _ROUND_NOTES, _ROUND_COLUMNS[4:]),
    ]


def _many(tested: int) -> str:
    return f"Differences that are tested here: {tested}. Of as many without any effect one in twenty would have a star."


_ROUND_COLUMNS = (
    *("model", "data", "mined by", "round", "active", "misleading", "frequency", "seen once"),
    *(f"attention on {kind}, {when}" for kind in _KINDS for when in ("before", "after")),
)


def _places(scope: Scope) -> Iterator[tuple[str, str]]:
    return ((model, data) for model in ATTENDING if scope.has(model) for data in scope.data)


def _rounds(scope: Scope, findings: Findings, model: str, data: str) -> Iterator[tuple[Value, ...]]:
    def gathered(asked: Asked) -> list[Record]:
        return list(gather(findings, asked.cells(scope, model, data)).values())

    looked = gathered(BEFORE), gathered(AFTER)
    for way, asked in MINED.items():
        records = gathered(asked)
        for number in _ROUNDS:
            found = [record["rounds"][str(number)] for record in records if str(number) in record["rounds"]]
            counts = [sum(each[kind] for each in found) if found else None for kind in _KINDS]
            once = sum(each["seen_once"] for each in found)
            attention = [
                attention_on(each, kind, (number,)) if way == "AW" else None for kind in _KINDS for each in looked
            ]
            yield (
                *(NAMES[model], data.upper(), way, number, *counts, mean_frequency(records, number)),
                once / counts[0] if counts[0] else None,
                *attention,
            )


EXHIBIT = Exhibit("claims", "What the paper claims, measured", cells, show)
