"""Beyond the paper: how often mined and attended words are opinion words that people marked, beside untrained baselines."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from paper.experiments.cells import Analysis, Mining, Setting, Training, settings
from paper.experiments.comparison import gather
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.mining_stats import MarkedWords, count_above, count_all_rounds, count_reference, count_round
from paper.experiments.resources import Scope
from paper.studies.exhibit import SWEEP, Exhibit, Figure, Part, PlotLine, Table, TableRow, Value
from paper.studies.exhibits._rows import ANALYSED_ROWS, FEW_SEEDS, NAMES, analyses_of, marked_places, row_name
from pssa.data import DEFAULT_LABELS
from pssa.evaluation.agreement import NEAREST
from pssa.runs.resolve import consensus_rule
from pssa.runs.settings import Config

__all__ = ["EXHIBIT"]

# A learning rate that changes no parameter keeps the initial model.
UNTRAINED = settings(epochs=1, learning_rate=1e-9)
_CROSS_FITTED = settings(folds=5, iterations=1)
_FIRST_WORD = settings(epsilon=99.0, iterations=1)  # of every sentence, however even the scores


# The method, its settings and those of the place.
_Way = tuple[str, tuple[Setting, ...], tuple[Setting, ...]]
PROGRESSIVE: dict[str, _Way] = {"AW": ("aw-as", (), ()), "PG": ("pg-as", (), ()), "random masking": ("rm-as", (), ())}
# Ways that take long have one seed.
_LONG: dict[str, _Way] = {
    "AW, cross-fitted": ("aw-as", _CROSS_FITTED, ()),
    "PG, cross-fitted": ("pg-as", _CROSS_FITTED, ()),
    # Words above any threshold are a part of those above zero.
    "consensus": ("consensus", settings(consensus_threshold=0.0), ()),
}
WAYS = {
    **PROGRESSIVE,
    **_LONG,
    "consensus, as it supervises": ("consensus", (), ()),
    "untrained": ("aw-as", _FIRST_WORD, UNTRAINED),
}


def minings(scope: Scope, way: str, model: str, data: str) -> list[Mining]:
    """Return the minings by seed."""
    method, chosen, of_place = WAYS[way]
    seeds = 1 if way in _LONG else FEW_SEEDS
    places = scope.places(model, data, seeds, settings=of_place)
    return [Mining(place, method, chosen) for place in places]


# Precision to be reached, with an active word for this share of the instances.
AIMS, COVERAGE = {"laptop": 0.65, "rest": 0.72}, 0.7
_ROUNDS = range(1, 6)
_THRESHOLDS = (0.0, 0.3, 0.5)
_MINED = ("model", "mined by", "round", "words a seed", "precision", *DEFAULT_LABELS, "coverage")
_ATTENDED = ("model", "words by", "seeds", "first word", *DEFAULT_LABELS, "mass")
_MINED_NOTES = (
    f"Over training instances in which people marked a word. `precision`: share of the active words that people marked; "
    f"`coverage`: share of the instances with an active word. Aim: "
    f"{', '.join(f'{aim} on {data.upper()}' for data, aim in AIMS.items())} with a coverage of {COVERAGE}. Sums over seeds.",
    "`cross-fitted`: one round, each instance judged by a model that has not seen it (5 folds). `untrained`: the first round "
    "with initial parameters. `random candidate` is an expected value; `nearest word` stands next to the aspect, and one of two "
    f"neighbours is half a hit. {FEW_SEEDS} seeds, two on an encoder, one where mining takes several trainings: cross-fitted, "
    "and a consensus of all words above zero.",
)
_ATTENDED_NOTES = (
    "Over test instances in which people marked a word, mean over seeds. `first word`: share of the instances whose highest word "
    "is marked, also by label; `mass`: share of the saliency on marked words.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return mined words of train and attended words of test, a table per data set each, and mined words by round."""
    places = list(marked_places(scope))
    parts: list[Part] = []
    for data in dict.fromkeys(data for data, _ in places):
        own = [model for where, model in places if where == data]
        mined = [row for model in own for row in _mined_rows(scope, lookup, model, data)]
        attended = [row for model in own for row in _attended_rows(scope, lookup, model, data)]
        parts += [
            Table(
                f"mined-{data}", f"Mined words, {data.upper()}", _MINED, tuple(mined), _MINED_NOTES, ("words a seed",)
            ),
            Table(
                *(f"attended-{data}", f"Attended words, {data.upper()}", _ATTENDED, tuple(attended)),
                *(_ATTENDED_NOTES, ("seeds",)),
            ),
        ]
    return [*parts, _figure(scope, lookup, places)]


def _looks(scope: Scope, method: str, model: str, data: str) -> list[Analysis]:
    if method != "untrained":
        return analyses_of(scope, "agreement", method, model, data)
    places = scope.places(model, data, 1, settings=UNTRAINED)
    return [Analysis(Training(place), "agreement") for place in places]


def _mined_rows(scope: Scope, lookup: RecordLookup, model: str, data: str) -> Iterator[TableRow]:
    """Yield every way of mining, and baselines that need none."""
    found = {way: list(gather(lookup, minings(scope, way, model, data)).values()) for way in WAYS}
    for way, records in found.items():
        if way == "consensus":
            for least in _THRESHOLDS:
                # Words above a threshold are a part of those above a lower one, such as that of the supervising consensus.
                kept = (
                    records
                    if records or least < consensus_rule(Config().updated({"model": model})).threshold
                    else found["consensus, as it supervises"]
                )
                cut = [record for record in kept if "by_score" in record]
                yield _mined(model, f"consensus above {least:g}", None, count_above(cut, least), cut)
            continue
        if way in PROGRESSIVE:
            for number in _ROUNDS:
                yield _mined(model, way, number, count_round(records, number), records)
        yield _mined(model, way, "all" if way in PROGRESSIVE else None, count_all_rounds(records), records)
    # The same in every record; early ones lack it.
    some = [record for records in found.values() for record in records if "reference" in record][:1]
    for kind, name in (("random", "random candidate"), ("nearest", "nearest word")):
        yield _mined(model, name, None, count_reference(some, kind), some)


def _mined(model: str, way: str, number: Value, tally: MarkedWords, records: Sequence[Record]) -> TableRow:
    words = round(sum(tally.judged.values()) / len(records)) if records else None
    by_label = (tally.precision_of(label) for label in DEFAULT_LABELS)
    return (NAMES[model], way, number, words, tally.precision, *by_label, tally.coverage)


def _attended_rows(scope: Scope, lookup: RecordLookup, model: str, data: str) -> Iterator[TableRow]:
    some: list[Record] = []
    for method in (*ANALYSED_ROWS, "untrained"):
        records = gather(lookup, _looks(scope, method, model, data)).values()
        found = [record["found"]["agreement"]["saliencies"] for record in records if "agreement" in record["found"]]
        some = some or found[:1]
        for saliency in ("attention", "gradient"):
            if method != "untrained" or saliency == "attention":
                yield _attended(row_name(model, method), saliency, [each[saliency] for each in found], "value")
    yield _attended(NAMES[model], NEAREST, [each[NEAREST] for each in some], "value")
    yield _attended(NAMES[model], "random candidate", [each[NEAREST] for each in some], "control")


def _attended(name: str, words_by: str, found: Sequence[Record], column: str) -> TableRow:
    """Return means over analyses of one saliency, or of chance in its place."""

    def mean(measure: str, hits: Sequence[Record]) -> float | None:
        return statistics.mean(each[measure][column]["mean"] for each in hits) if hits else None

    by_label = [
        mean("precision_at_1", [each["per_label"][label] for each in found if label in each["per_label"]])
        for label in DEFAULT_LABELS
    ]
    overall = [each["overall"] for each in found]
    return (name, words_by, len(found), mean("precision_at_1", overall), *by_label, mean("mass", overall))


def _figure(scope: Scope, lookup: RecordLookup, places: Sequence[tuple[str, str]]) -> Figure:
    panels = []
    for data, model in places:
        lines = []
        for way in PROGRESSIVE:
            records = list(gather(lookup, minings(scope, way, model, data)).values())
            points = {float(number): count_round(records, number).precision for number in _ROUNDS}
            known = {number: precision for number, precision in points.items() if precision is not None}
            if known:
                lines.append(PlotLine(way, tuple(known), tuple(known.values())))
        panels.append((f"{NAMES[model]}, {data.upper()}", tuple(lines)))
    title = "Share of the active words that people marked, by round"
    return Figure("mined-by-round", title, "round", "precision", tuple(panels))


_TITLE = "Are mined and attended words those that people marked?"
EXHIBIT = Exhibit("human-agreement", _TITLE, show, needs=("opinion_words",), encoders=SWEEP)
