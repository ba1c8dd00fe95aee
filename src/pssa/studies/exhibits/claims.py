"""Sentences of the paper that can be measured, each with its number and a verdict, and what happens from round to round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from pssa.experiments.cells import Analysis, Cell, Mining, Place, Setting, Training, settings
from pssa.experiments.comparison import gather
from pssa.experiments.ledger import Record, RecordLookup
from pssa.experiments.resources import Scope
from pssa.studies.exhibit import Exhibit, FormattedValue, Part, Table, TableRow
from pssa.studies.exhibits import _measures as by
from pssa.studies.exhibits._measures import CellQuery, Claim, attention_on, mean_frequency, verdict
from pssa.studies.exhibits._rows import ATTENDING, METHODS, NAMES, refined
from pssa.studies.exhibits.corpus_size import SHARES
from pssa.studies.exhibits.epsilon import EPSILONS

__all__ = ["EXHIBIT"]


def _row(name: str, model: str = "") -> CellQuery:
    """The trainings of a row of the table of overall results."""
    return CellQuery(METHODS[name].training_in, METHODS[name].seeds, model)


def _rows(ours: str, theirs: str) -> dict[str, CellQuery]:
    return {"ours": _row(ours), "theirs": _row(theirs)}


def _mine(method: str, chosen: tuple[Setting, ...], place: Place) -> Mining:
    return Mining(place, method, chosen)


def _restart(place: Place) -> Training:
    return Training(place, evidence=(Mining(place, "pg-as", settings(start="restart")),))


def _look(name: str, place: Place) -> Analysis:
    return Analysis(METHODS[name].training_in(place), "round_attention")


def _part(name: str, share: float, place: Place) -> Training:
    return METHODS[name].training_in(replace(place, share=share))


# The row `again` is the twin of +AW-AS: the same evidence and random numbers, and a penalty that weighs nothing.
BEFORE, AFTER = CellQuery(partial(_look, "again")), CellQuery(partial(_look, "+AW-AS"))
MINED = {"AW": CellQuery(partial(_mine, "aw-as", ())), "PG": CellQuery(partial(_mine, "pg-as", ()))}
_GAPS = {
    f"{who} {way}_{kind}": _row(f"+{way}-AS_{kind}", model)
    for who, model in (("own", ""), ("MN", "memnet"))
    for way in MINED
    for kind in "am"
}

_SIZES = {
    f"{who} {share:.0%}": CellQuery(partial(_part, name, share))
    for share in SHARES
    for who, name in (("ours", "+PG-AS"), ("theirs", ""))
}

_OF_EFFECT = (
    Claim(
        "Attention weights: supervision significantly enhances all models",
        "macro-F1 of +AW-AS is above the plain model's, p < .05",
        by.is_better,
        _rows("+AW-AS", ""),
    ),
    Claim(
        "Partial gradients: supervision significantly enhances all models",
        "macro-F1 of +PG-AS is above the plain model's, p < .05",
        by.is_better,
        _rows("+PG-AS", ""),
    ),
    Claim(
        "Partial gradients are a better choice than attention weights",
        "macro-F1 of +PG-AS is above that of +AW-AS, p < .05",
        by.is_better,
        _rows("+PG-AS", "+AW-AS"),
    ),
    Claim(
        "More training alone (+KT) changes nothing",
        "neither a gain nor a loss in macro-F1 at p < .025 each",
        by.is_no_different,
        _rows("+KT", ""),
    ),
    Claim(
        "+PG-AS is better than boosting",
        "macro-F1 of +PG-AS is above that of +Boosting, p < .05",
        by.is_better,
        _rows("+PG-AS", "+Boosting"),
    ),
    Claim(
        "+PG-AS is better than Adaboost",
        "macro-F1 of +PG-AS is above that of +Adaboost, p < .05",
        by.is_better,
        _rows("+PG-AS", "+Adaboost"),
    ),
    Claim(
        "Random words instead of mined ones (+RM-AS) significantly degrade the results",
        "macro-F1 of +RM-AS is below that of +PG-AS, p < .05",
        by.is_worse,
        _rows("+RM-AS", "+PG-AS"),
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
    Claim(
        "Active words are more effective than misleading ones (attention weights)",
        "macro-F1 of +AW-AS_a is above that of +AW-AS_m, p < .05",
        by.is_better,
        _rows("+AW-AS_a", "+AW-AS_m"),
    ),
    Claim(
        "Active words are more effective than misleading ones (partial gradients)",
        "macro-F1 of +PG-AS_a is above that of +PG-AS_m, p < .05",
        by.is_better,
        _rows("+PG-AS_a", "+PG-AS_m"),
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
        {"mined": MINED["PG"]},
    ),
    Claim(
        "Masking frequent words lets later rounds find rarer ones",
        "mean training frequency of active words (PG) falls from the first round to the last",
        by.frequency_by_round,
        {"mined": MINED["PG"]},
    ),
    Claim(
        "The same of opinion words that people marked",
        "those of the first round are more common in train than those of later rounds",
        by.later_is_rarer,
        {"mined": MINED["PG"]},
    ),
    Claim(
        "Infrequent sentiment words are ignored",
        "marked opinion words of the first round are more common in train than those that no round finds",
        by.common_first,
        {"mined": MINED["PG"]},
    ),
    Claim(
        "Epsilon controls the amount of supervision",
        "words found (PG, held-out split) never fall from 1.0 to 7.0 bits",
        by.rises_with_epsilon,
        {
            f"{epsilon:g}": CellQuery(partial(_mine, "pg-as", settings(epsilon=epsilon)), seeds=1, held_out=True)
            for epsilon in EPSILONS
        },
    ),
    Claim(
        "Noise makes gradient saliency more accurate",
        "with 0, 1 and 10 samples, the first round's words that people marked: more with 10 than with 0",
        by.noise_helps,
        {
            "0": CellQuery(partial(_mine, "pg-as", settings(samples=0, iterations=1))),
            "1": CellQuery(partial(_mine, "pg-as", settings(samples=1, iterations=1))),
            "10": MINED["PG"],
        },
    ),
    Claim(
        "Rounds go on from the parameters of the one before (the released code starts each anew)",
        "starting anew gains nothing in macro-F1 at p < .05",
        by.is_no_better,
        {"ours": CellQuery(_restart, seeds=1), "theirs": _row("+PG-AS")},
    ),
)
_OF_ATTENTION = (
    Claim(
        "Attention is frequently uncorrelated with gradients",
        "mean Kendall's tau by test sentence is below 0.5",
        by.rank_correlation,
        {"looked": CellQuery(lambda place: Analysis(Training(place), "agreement"))},
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
        "Our control: a final training whose penalty weighs nothing is no better than the plain model",
        "no gain in macro-F1 at p < .05",
        by.is_no_better,
        _rows("again", ""),
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


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Claims with numbers and verdicts, and the rounds of mining."""
    names = [data.upper() for data in scope.data]
    rows: list[TableRow] = []
    tested = 0
    for claim in CLAIMS:
        for model in claim.subjects(scope):
            measured = [claim.look(scope, lookup, model, data) for data in scope.data]
            numbers = [None if each is None else each.reading for each in measured]
            counts = {
                name: each.seeds if each and each.seeds else None for name, each in zip(names, measured, strict=True)
            }
            seeds = FormattedValue(", ".join(str(count) for count in counts.values() if count), counts)
            tested += sum(len(each.chances) for each in measured if each)
            rows.append((claim.says, NAMES.get(model), *numbers, seeds, verdict(measured), claim.rule))
    columns = ("claim", "model", *names, "seeds", "verdict", "holds when")
    rounds = tuple(row for model, data in _places(scope) for row in _rounds(scope, lookup, model, data))
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


def _rounds(scope: Scope, lookup: RecordLookup, model: str, data: str) -> Iterator[TableRow]:
    def gathered(asked: CellQuery) -> list[Record]:
        return list(gather(lookup, asked.cells(scope, model, data)).values())

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
