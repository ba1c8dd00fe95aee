"""The paper's table of speed: the cost of every method in plain trainings, from the seconds of the stages of its cells.

Every record has the seconds of its stages. A method costs what all cells that lead to its model cost: the search for the number
of epochs, mining, and every training.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import HEADLINE, Exhibit, FormattedValue, Part, Table, TableRow, format_number
from paper.studies.exhibits._rows import METHODS, NAMES, ModelRow, places_by_model
from paper.studies.paper import SPEED, SPEED_PARTS

__all__ = ["EXHIBIT"]

_METHODS = ("+KT", "+Boosting", "+Adaboost", "+AW-AS", "+PG-AS", "+Consensus")
_PARTS_OF = "laptop"  # the data set of the table of parts
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
_NOTES = (
    "`plain, s`: seconds of a plain training with the search for its number of epochs, which models on an encoder do not need. "
    "Methods: multiples of it, from the search to the last training, mean over the seeds that have both, with the lowest and the "
    "highest. `the paper`: its seconds on a GeForce GTX TITAN X; its mining iterations are full trainings, ours take one epoch.",
    "The cells were measured beside others, up to 18 at a time on one GPU, so that a row depends on what ran with it: the "
    "multiples are rough. Reading, saving and testing are not counted. Of all methods only the ensembles make testing slower.",
    "Alone on two CPU cores, runs on LAPTOP with fewer word vectors took 1.4 (MN) and 1.6 (TNet-ATT) plain runs with +PG-AS, and "
    "5.9 and 6.7 with +Consensus, reading and saving included (commit 7f70e687c4bc).",
)
_PART_NOTES = (
    f"{_PARTS_OF.upper()}, means over seeds. `x`: multiples of the plain model's training without search; `x (paper)`: the same "
    "of the paper's BERTABSA-ATT. `each mining iteration` as in the paper: initial training, trainings between rounds and "
    "extractions, divided by the number of rounds.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return the cost of every method on every data set, and of its parts on one."""
    found = {
        (model, data, name): _by_seed(scope, lookup, ModelRow(model, METHODS[name]), data)
        for model, data in places_by_model(scope)
        for name in ("", *_METHODS)
    }
    rows: list[TableRow] = []
    for model, data in places_by_model(scope):
        plain = {seed: sum(stages.values()) for seed, stages in found[model, data, ""].items()}
        seconds = round(statistics.mean(plain.values()), 1) if plain else None
        ratios = (_ratios(found[model, data, name], plain) for name in _METHODS)
        rows.append((NAMES[model], data.upper(), len(plain) or None, seconds, *ratios))
    for data in scope.data:
        base = SPEED.get(("bertabsa_att", "", data))
        printed = [SPEED.get(("bertabsa_att", name, data)) for name in _METHODS]
        shares = (format_number("x", each / base if each and base else None, ".1f") for each in printed)
        rows.append(("BERTABSA-ATT, the paper", data.upper(), None, base, *shares))
    columns = ("model", "data", "seeds", "plain, s", *_METHODS)
    return [
        Table("speed-training", "Training, in plain trainings", columns, tuple(rows), _NOTES, columns[3:]),
        *(_parts(model, found) for model in dict.fromkeys(model for model, _, _ in found)),
    ]


_Stages = Mapping[int, Mapping[str, float]]  # seconds by seed and stage


def _by_seed(scope: Scope, lookup: RecordLookup, row: ModelRow, data: str) -> _Stages:
    """Return the stages that lead to a row's model, by seed, as far as all cells have a record."""
    found = {}
    for training in row.trainings(scope, data):
        mining = training.evidence
        continues = training.method == "base" and (mining is None or mining.needs_weights)
        records = [lookup(cell) for cell in dict.fromkeys((*training.needs, training))]
        if not all(records):
            continue
        first, *others = (record["stages"] for record in records if record)
        usual = {name: seconds for name, seconds in first.items() if continues or name == "search"}
        found[training.place.seed] = {**usual, **{name: seconds for each in others for name, seconds in each.items()}}
    return found


def _ratios(found: _Stages, plain: Mapping[int, float]) -> FormattedValue | None:
    """Return the mean of the multiples with their range."""
    every = [sum(stages.values()) / plain[seed] for seed, stages in found.items() if seed in plain]
    if not every:
        return None
    numbers = (statistics.mean(every), min(every), max(every))
    text = "{:.1f} ({:.1f} to {:.1f})".format(*numbers)
    return FormattedValue(text, dict(zip(("x", "low", "high", "seeds"), (*numbers, len(every)), strict=True)))


def _parts(model: str, found: Mapping[tuple[str, str, str], _Stages]) -> Table:
    rows: list[TableRow] = []
    plain, paper = found.get((model, _PARTS_OF, ""), {}), SPEED["bertabsa_att", "", _PARTS_OF]
    proper = statistics.mean(each["initial"] for each in plain.values()) if plain else 1.0
    for name in ("", *_METHODS):
        for part, number, seconds, word in _split(list(found.get((model, _PARTS_OF, name), {}).values())):
            printed = SPEED_PARTS.get((name, word, _PARTS_OF))
            multiple = round(printed / paper, 2) if printed else None
            rows.append((name or "plain", part, number, round(seconds, 2), round(seconds / proper, 2), multiple))
    columns = ("method", "part", "how many", "seconds each", "x", "x (paper)")
    return Table(
        f"speed-parts-{model}", f"{NAMES[model]}: parts of training", columns, tuple(rows), _PART_NOTES, columns[3:4]
    )


def _split(seeds: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, int, float, str]]:
    """Yield parts of a method's training: name, number in one training, seconds of each, the paper's word."""
    for prefix, (part, word) in _STAGES.items():
        seconds = [each for stages in seeds for stage, each in stages.items() if stage.startswith(prefix)]
        if seconds:
            yield part, round(len(seconds) / len(seeds)), statistics.mean(seconds), word
    counts = [sum(stage.startswith("mine-") for stage in stages) for stages in seeds]
    if any(counts):
        rounds, mined = round(statistics.mean(counts)), ("initial", "round-", "mine-")
        seconds = [sum(each for stage, each in stages.items() if stage.startswith(mined)) for stages in seeds]
        yield "each mining iteration", rounds, statistics.mean(seconds) / rounds, "iteration"


EXHIBIT = Exhibit("speed", "Cost of the methods", show, encoders=HEADLINE)
