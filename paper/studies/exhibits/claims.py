"""Sentences of the paper that can be measured, each with its number and a verdict, and what happens from round to round."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paper.experiments.cells import Analysis, Mining, Training, settings
from paper.experiments.comparison import gather
from paper.experiments.ledger import Record, RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import HEADLINE, Exhibit, FormattedValue, Part, Table, TableRow
from paper.studies.exhibits._measures import MEASURES, CellQuery, Claim, attention_on, mean_frequency, verdict
from paper.studies.exhibits._rows import ATTENDING, METHODS, NAMES, places_by_model, refined
from paper.studies.exhibits.corpus_size import SHARES
from paper.studies.exhibits.epsilon import EPSILONS

__all__ = ["EXHIBIT"]


def _row(name: str, model: str = "") -> CellQuery:
    """Return the trainings of a row of the overall results."""
    row = METHODS[name]
    return CellQuery(row.training_in, row.seeds, model, on_small_encoder=False, is_tried=row.is_tried)


def _mined(method: str, seeds: int = 3, **changes: Any) -> CellQuery:
    """Return minings with these settings."""
    return CellQuery(lambda place: Mining(place, method, settings(**changes)), seeds)


def _is_affordable(model: str, data: str) -> bool:
    return not model.startswith("bertabsa") or _is_laptop(model, data)


def _is_laptop(model: str, data: str) -> bool:
    return data == "laptop"


def _attention(name: str) -> CellQuery:
    """Return analyses of the attention of a row."""
    return CellQuery(
        lambda place: Analysis(METHODS[name].training_in(place), "round_attention"), is_tried=_is_affordable
    )


def _part(name: str, share: float) -> CellQuery:
    """Return trainings of a row on a part of train."""
    return CellQuery(lambda place: METHODS[name].training_in(replace(place, share=share)))


_OURS_AND_THEIRS = (("ours", "+PG-AS"), ("theirs", ""))


# The row `again` has the evidence and random numbers of +AW-AS, and a penalty of zero weight.
BEFORE, AFTER = _attention("again"), _attention("+AW-AS")
MINED = {"AW": replace(_mined("aw-as"), is_tried=_is_affordable), "PG": _mined("pg-as")}
# Groups of queries, and single ones, that claims.toml names; other names there are rows of the overall results.
_GROUPS: dict[str, dict[str, CellQuery]] = {
    "none": {},
    "mined": {"mined": MINED["PG"]},
    "attention": {"before": BEFORE, "after": AFTER},
    "agreement": {"analysed": CellQuery(lambda place: Analysis(Training(place), "agreement"))},
    "sizes": {f"{who} {share:.0%}": _part(name, share) for share in SHARES for who, name in _OURS_AND_THEIRS},
    "epsilons": {f"{value:g}": replace(_mined("pg-as", seeds=1, epsilon=value), held_out=True) for value in EPSILONS},
    "noise": {
        "0": replace(_mined("pg-as", samples=0, iterations=1), needs_marks=True),
        "10": replace(MINED["PG"], needs_marks=True),
    },
    "gaps": {
        f"{who} {way}_{kind}": _row(f"+{way}-AS_{kind}", model)
        for who, model in (("own", ""), ("MN", "memnet"))
        for way in MINED
        for kind in "am"
    },
}
_SINGLE = {
    "restarted": CellQuery(
        lambda place: Training(place, evidence=Mining(place, "pg-as", settings(start="restart"))),
        is_tried=_is_laptop,
    ),
    "continued": CellQuery(METHODS["+PG-AS"].training_in, is_tried=_is_laptop),
    "refined": CellQuery(refined("average").training_in, on_small_encoder=False, is_tried=_is_laptop),
}


def _query(name: str) -> CellQuery:
    """Return a query by name: `+PG-AS` is a row of the claim's model, and `tnet/+PG-AS` one of another model."""
    model, _, method = name.rpartition("/")
    return _SINGLE.get(name) or _row(method, model)


def _claim(entry: dict[str, Any]) -> Claim:
    pair: dict[str, CellQuery] = {side: _query(entry[side]) for side in ("ours", "theirs") if side in entry}
    measure, models = MEASURES[entry["measure"]], tuple(entry.get("models", ATTENDING))
    return Claim(entry["says"], entry["rule"], measure, pair or _GROUPS[entry["queries"]], models, entry["about"])


CLAIMS = tuple(map(_claim, tomllib.loads(Path(__file__).with_name("claims.toml").read_text("utf-8"))["claim"]))


_ROUNDS = range(1, 6)
_GROUP_NAMES = ("scores", "attention", "mechanical", "control")
_VERDICTS = ("holds", "undecided", "does not hold")
_COUNT_NOTES = (
    "`scores`: whether a method scores higher or lower. `attention`: where models look. `mechanical`: counts and frequencies of "
    "mined words, and facts of the data; where such a claim holds it is nearly a matter of course. `control`: no claim of the "
    "paper. `tested`: whether differences were tested against chance; the other verdicts only say whether all seeds agree.",
)
_KINDS = ("active", "misleading")
_NOTES = (
    "A claim holds for a model if it holds on every data set that was measured, and does not hold if one of them shows the "
    "contrary, `(no)`. It is undecided if chance explains the numbers, `(?)`. A claim of no difference holds only if the "
    "interval has no room for one of a point. Differences are in macro-F1, in points, mean over the seeds that both rows have, "
    "with the 95 % interval in brackets; * p < .05, ** p < .01, one-sided in the direction of the difference, by a bootstrap "
    "over seeds and test instances, 20,000 resamples; a single seed is not tested. Other numbers decide if all seeds agree, at "
    "least two of them except for counts of words. `seeds`: in the order of the data sets. Frequencies are geometric means, "
    "counts are sums over seeds.",
    "Models on an encoder: rows of the overall results start from the encoder, with three seeds, some of them on LAPTOP only; "
    "what else a claim needs, such as minings, attention and parts of train, starts from the small one, if there is one. "
    "Left out for their cost: mining with one noise sample, restarted rounds except on LAPTOP, and attention before and after "
    "supervision of encoders except on LAPTOP.",
)
_MANY = "Differences tested here: {}. Without any effect, one in twenty would still have a star."
_ROUND_NOTES = (
    "Sums over seeds. `frequency`: geometric mean training frequency of the active words; `seen once`: share of the active words "
    "that occur once in train. Attention: mean on the round's words in whole training sentences, before supervision (the same "
    "training with a penalty of zero weight) and after supervision by AW.",
)


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return claims with numbers and verdicts, and the rounds of mining."""
    names = [data.upper() for data in scope.data]
    rows: list[TableRow] = []
    for claim in sorted(CLAIMS, key=lambda claim: _GROUP_NAMES.index(claim.about)):
        for model in claim.models_in(scope):
            results = [claim.evaluate(scope, lookup, model, data) for data in scope.data]
            numbers = [None if each is None else each.field for each in results]
            counts = {
                name: each.seeds if each and each.seeds else None for name, each in zip(names, results, strict=True)
            }
            seeds = FormattedValue(", ".join(str(count) for count in counts.values() if count), counts)
            tested = sum(len(each.chances) for each in results if each)
            head = (claim.about, claim.says, NAMES.get(model))
            rows.append((*head, *numbers, seeds, tested or None, verdict(results), claim.rule))
    columns = ("about", "claim", "model", *names, "seeds", "tested", "verdict", "holds when")
    rounds = tuple(row for model, data in places_by_model(scope) for row in _rounds(scope, lookup, model, data))
    every = sum(number for row in rows if isinstance(number := row[-3], int))
    return [
        _counts(columns, rows),
        Table(
            *("claims", "What the paper says, and what we measure", columns, tuple(rows)),
            *((*_NOTES, _MANY.format(every)) if every else _NOTES, columns[3:-4]),
        ),
        Table("claims-rounds", "From round to round", _ROUND_COLUMNS, rounds, _ROUND_NOTES, _ROUND_COLUMNS[4:]),
    ]


def _counts(columns: Sequence[str], rows: Sequence[TableRow]) -> Table:
    """Return verdicts by group, those of tested differences apart."""
    found: dict[tuple[str, bool], Counter[str]] = {}
    for row in rows:
        fields = dict(zip(columns, row, strict=True))
        group = str(fields["about"]), fields["tested"] is not None
        found.setdefault(group, Counter())[str(fields["verdict"])] += 1
    counted = tuple(
        (name, "yes" if is_tested else "no", sum(verdicts.values()), *(verdicts[each] for each in _VERDICTS))
        for (name, is_tested), verdicts in found.items()
    )
    title = "Verdicts, each for one claim and one model"
    return Table("claims-counts", title, ("about", "tested", "claims", *_VERDICTS), counted, _COUNT_NOTES)


_ROUND_COLUMNS = (
    *("model", "data", "mined by", "round", "active", "misleading", "frequency", "seen once"),
    *(f"attention on {kind}, {when}" for kind in _KINDS for when in ("before", "after")),
)


def _rounds(scope: Scope, lookup: RecordLookup, model: str, data: str) -> Iterator[TableRow]:
    def gathered(query: CellQuery) -> list[Record]:
        return list(gather(lookup, query.cells(scope, model, data)).values())

    analysed = gathered(BEFORE), gathered(AFTER)
    for way, query in MINED.items():
        records = gathered(query)
        for number in _ROUNDS:
            found = [record["rounds"][str(number)] for record in records if str(number) in record["rounds"]]
            counts = [sum(each[kind] for each in found) if found else None for kind in _KINDS]
            once = sum(each["seen_once"] for each in found)
            attention = [
                attention_on(each, kind, (number,)) if way == "AW" else None for kind in _KINDS for each in analysed
            ]
            yield (
                *(NAMES[model], data.upper(), way, number, *counts, mean_frequency(records, number)),
                once / counts[0] if counts[0] else None,
                *attention,
            )


EXHIBIT = Exhibit("claims", "What the paper claims, measured", show, encoders=HEADLINE)
