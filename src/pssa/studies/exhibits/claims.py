"""Sentences of the paper that can be measured, each with its number and a verdict, and what happens from round to round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pssa.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from pssa.experiments.comparison import gather
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import Exhibit, FormattedValue, Part, Table, TableRow
from pssa.studies.exhibits import _measures as by
from pssa.studies.exhibits._measures import CellQuery, Claim, Measure, attention_on, mean_frequency, verdict
from pssa.studies.exhibits._rows import ATTENDING, METHODS, NAMES, refined
from pssa.studies.exhibits.corpus_size import SHARES
from pssa.studies.exhibits.epsilon import EPSILONS

__all__ = ["EXHIBIT"]


def _row(name: str, model: str = "") -> CellQuery:
    """Return the trainings of a row of the overall results."""
    return CellQuery(METHODS[name].training_in, METHODS[name].seeds, model)


def _compare(says: str, measure: Measure, ours: str, theirs: str) -> Claim:
    """Return a claim that one row is better or worse than another of the same model."""
    side = "above" if measure is by.is_better else "below"
    other = f"that of {theirs}" if theirs else "the plain model's"
    rule = f"macro-F1 of {ours} is {side} {other}, p < .05"
    return Claim(says, rule, measure, {"ours": _row(ours), "theirs": _row(theirs)})


def _mined(method: str, seeds: int = 3, held_out: bool = False, **changes: Any) -> CellQuery:
    """Return minings with these settings."""
    return CellQuery(lambda place: Mining(place, method, settings(**changes)), seeds, held_out=held_out)


def _attention(name: str) -> CellQuery:
    """Return analyses of the attention of a row."""
    return CellQuery(lambda place: Analysis(METHODS[name].training_in(place), "round_attention"))


def _part(name: str, share: float) -> CellQuery:
    """Return trainings of a row on a part of train."""
    return CellQuery(lambda place: METHODS[name].training_in(replace(place, share=share)))


def _restart(place: Place) -> Training:
    return Training(place, evidence=(Mining(place, "pg-as", settings(start="restart")),))


# The row `again` has the evidence and random numbers of +AW-AS, and a penalty of zero weight.
BEFORE, AFTER = _attention("again"), _attention("+AW-AS")
MINED = {"AW": _mined("aw-as"), "PG": _mined("pg-as")}
_PG = {"mined": MINED["PG"]}
_GAPS = {
    f"{who} {way}_{kind}": _row(f"+{way}-AS_{kind}", model)
    for who, model in (("own", ""), ("MN", "memnet"))
    for way in MINED
    for kind in "am"
}
_SIZES = {
    f"{who} {share:.0%}": _part(name, share) for share in SHARES for who, name in (("ours", "+PG-AS"), ("theirs", ""))
}

_OF_EFFECT = (
    _compare("Attention weights: supervision significantly enhances all models", by.is_better, "+AW-AS", ""),
    _compare("Partial gradients: supervision significantly enhances all models", by.is_better, "+PG-AS", ""),
    _compare("Partial gradients are a better choice than attention weights", by.is_better, "+PG-AS", "+AW-AS"),
    Claim(
        "More training alone (+KT) changes nothing",
        "neither a gain nor a loss in macro-F1 at p < .025 each",
        by.is_no_different,
        {"ours": _row("+KT"), "theirs": _row("")},
    ),
    _compare("+PG-AS is better than boosting", by.is_better, "+PG-AS", "+Boosting"),
    _compare("+PG-AS is better than Adaboost", by.is_better, "+PG-AS", "+Adaboost"),
    _compare(
        "Random words instead of mined ones (+RM-AS) significantly degrade the results",
        by.is_worse,
        *("+RM-AS", "+PG-AS"),
    ),
    Claim(
        "Supervision gains with training corpora of every size",
        "macro-F1 of +PG-AS is above the plain model's with 25, 50, 75 and 100 % of train, p < .05",
        by.gains_throughout,
        _SIZES,
    ),
    Claim(
        "TNet-ATT is slightly inferior to TNet",
        "macro-F1 is below TNet's, p < .05",
        by.is_worse,
        {"ours": _row(""), "theirs": _row("", "tnet")},
        models=("tnet_att",),
    ),
    Claim(
        "With supervision TNet-ATT significantly surpasses TNet",
        "macro-F1 of +PG-AS is above TNet's, p < .05",
        by.is_better,
        {"ours": _row("+PG-AS"), "theirs": _row("", "tnet")},
        models=("tnet_att",),
    ),
    Claim(
        "BERTABSA-ATT is slightly inferior to BERTABSA",
        "macro-F1 is below BERTABSA's, p < .05",
        by.is_worse,
        {"ours": _row(""), "theirs": _row("", "bertabsa")},
        models=("bertabsa_att",),
    ),
    Claim(
        "Refining BERT's own self-attention falls behind BERTABSA-ATT (+PG-AS)",
        "macro-F1 of BERTABSA with its average head refined is below that of BERTABSA-ATT (+PG-AS), p < .05",
        by.is_worse,
        {"ours": CellQuery(refined("average").training_in), "theirs": _row("+PG-AS", "bertabsa_att")},
        models=("bertabsa",),
    ),
    _compare(
        "Active words are more effective than misleading ones (attention weights)",
        by.is_better,
        *("+AW-AS_a", "+AW-AS_m"),
    ),
    _compare(
        "Active words are more effective than misleading ones (partial gradients)",
        by.is_better,
        *("+PG-AS_a", "+PG-AS_m"),
    ),
    Claim(
        "The gap between active and misleading words is smaller in MN",
        "macro-F1 of AS_a less AS_m, mean of AW and PG, is above MN's",
        by.gap_is_larger,
        _GAPS,
        models=("tnet_att", "bertabsa_att"),
    ),
)
_OF_MINING = (
    Claim(
        "Correctly predicted training instances outnumber others, so active words do",
        "more active words than misleading ones in five rounds of PG",
        by.mostly_active,
        _PG,
    ),
    Claim(
        "Masking frequent words lets later rounds find rarer ones",
        "mean training frequency of active words (PG) falls from the first round to the last",
        by.frequency_by_round,
        _PG,
    ),
    Claim(
        "The same for opinion words that people marked",
        "those of the first round are more common in train than those of later rounds",
        by.later_is_rarer,
        _PG,
    ),
    Claim(
        "Infrequent sentiment words are ignored",
        "marked opinion words of the first round are more common in train than those that no round finds",
        by.common_first,
        _PG,
    ),
    Claim(
        "Epsilon controls the amount of supervision",
        "words found (PG, held-out split) never fall from 1.0 to 7.0 bits",
        by.rises_with_epsilon,
        {f"{epsilon:g}": _mined("pg-as", seeds=1, held_out=True, epsilon=epsilon) for epsilon in EPSILONS},
    ),
    Claim(
        "Noise makes gradient saliency more accurate",
        "share of the first round's words that people marked, with 0, 1 and 10 samples: higher with 10 than with 0",
        by.noise_helps,
        {
            "0": _mined("pg-as", samples=0, iterations=1),
            "1": _mined("pg-as", samples=1, iterations=1),
            "10": MINED["PG"],
        },
    ),
    Claim(
        "Rounds continue from the parameters of the one before (the released code restarts each)",
        "restarting gains nothing in macro-F1 at p < .05",
        by.is_no_better,
        {"ours": CellQuery(_restart, seeds=1), "theirs": _row("+PG-AS")},
    ),
)
_OF_ATTENTION = (
    Claim(
        "Attention is frequently uncorrelated with gradients",
        "mean Kendall's tau by test sentence is below 0.5",
        by.rank_correlation,
        {"analysed": CellQuery(lambda place: Analysis(Training(place), "agreement"))},
    ),
    Claim(
        "Supervision evens attention out: active words of later rounds, under-fitted before, get more of it",
        "mean attention in train on the active words of rounds 2 to 5 (AW) rises",
        by.attention_spreads,
        {"before": BEFORE, "after": AFTER},
    ),
    Claim(
        "Supervision moves attention off misleading words",
        "mean attention in train on misleading words (AW) falls",
        by.attention_leaves,
        {"before": BEFORE, "after": AFTER},
    ),
    Claim(
        "Our control: a final training with a penalty of zero weight is no better than the plain model",
        "no gain in macro-F1 at p < .05",
        by.is_no_better,
        {"ours": _row("again"), "theirs": _row("")},
    ),
    Claim(
        "`huge` always occurs in sentences with positive sentiment",
        "it does in LAPTOP train",
        by.word_is_always_positive,
        models=(),
    ),
)
CLAIMS = (*_OF_EFFECT, *_OF_MINING, *_OF_ATTENTION)


_ROUNDS = range(1, 6)
_KINDS = ("active", "misleading")
_NOTES = (
    "A claim holds for a model if it holds on every data set that was measured, and does not hold if one of them shows the "
    "contrary, `(no)`. It is undecided if chance explains the numbers, `(?)`. A claim of no difference holds if none was found. "
    "Differences are in macro-F1, in points, mean over the seeds that both rows have; * p < .05, ** p < .01, one-sided in the "
    "direction of the difference, by a bootstrap over seeds and test instances; a single seed is not tested. Other numbers "
    "decide if all seeds agree, at least two of them except for counts of words. `seeds`: in the order of the data sets. "
    "Frequencies are geometric means, counts are sums over seeds.",
)
_MANY = "Differences tested here: {}. Without any effect, one in twenty would still have a star."
_ROUND_NOTES = (
    "Sums over seeds. `frequency`: geometric mean training frequency of the active words; `seen once`: share of the active words "
    "that occur once in train. Attention: mean on the round's words in whole training sentences, before supervision (the same "
    "training with a penalty of zero weight) and after supervision by AW.",
)


def cells(scope: Scope) -> Iterator[Cell]:
    """Yield the cells of the claims; other exhibits share most of them."""
    for claim in CLAIMS:
        yield from claim.cells(scope)
    for model, data in _places(scope):
        yield from MINED["AW"].cells(scope, model, data).values()


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return claims with numbers and verdicts, and the rounds of mining."""
    names = [data.upper() for data in scope.data]
    rows: list[TableRow] = []
    tested = 0
    for claim in CLAIMS:
        for model in claim.models_in(scope):
            results = [claim.evaluate(scope, lookup, model, data) for data in scope.data]
            numbers = [None if each is None else each.field for each in results]
            counts = {
                name: each.seeds if each and each.seeds else None for name, each in zip(names, results, strict=True)
            }
            seeds = FormattedValue(", ".join(str(count) for count in counts.values() if count), counts)
            tested += sum(len(each.chances) for each in results if each)
            rows.append((claim.says, NAMES.get(model), *numbers, seeds, verdict(results), claim.rule))
    columns = ("claim", "model", *names, "seeds", "verdict", "holds when")
    rounds = tuple(row for model, data in _places(scope) for row in _rounds(scope, lookup, model, data))
    return [
        Table(
            *("claims", "What the paper says, and what we measure", columns, tuple(rows)),
            *((*_NOTES, _MANY.format(tested)) if tested else _NOTES, columns[2:-3]),
        ),
        Table("claims-rounds", "From round to round", _ROUND_COLUMNS, rounds, _ROUND_NOTES, _ROUND_COLUMNS[4:]),
    ]


_ROUND_COLUMNS = (
    *("model", "data", "mined by", "round", "active", "misleading", "frequency", "seen once"),
    *(f"attention on {kind}, {when}" for kind in _KINDS for when in ("before", "after")),
)


def _places(scope: Scope) -> Iterator[tuple[str, str]]:
    return ((model, data) for model in ATTENDING if scope.has(model) for data in scope.data)


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


EXHIBIT = Exhibit("claims", "What the paper claims, measured", cells, show)
