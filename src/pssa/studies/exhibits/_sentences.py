"""The sentences of the paper that `claims` measures, with what each needs and when we say that it holds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pssa.experiments.cells import Look, Mining, Place, Setting, Training, settings
from pssa.studies.exhibits import _measures as by
from pssa.studies.exhibits._claim import Asked, Claim
from pssa.studies.exhibits.corpus_size import SHARES
from pssa.studies.exhibits.epsilon import EPSILONS
from pssa.studies.rows import METHODS, refined

__all__ = ["AFTER", "BEFORE", "CLAIMS", "MINED"]


def _row(name: str, model: str = "") -> Asked:
    """The trainings of a row of the table of overall results."""
    return Asked(METHODS[name].training_in, METHODS[name].seeds, model)


def _rows(ours: str, theirs: str) -> dict[str, Asked]:
    return {"ours": _row(ours), "theirs": _row(theirs)}


def _mine(method: str, chosen: tuple[Setting, ...], place: Place) -> Mining:
    return Mining(place, method, chosen)


def _restart(place: Place) -> Training:
    return Training(place, evidence=(Mining(place, "pg-as", settings(start="restart")),))


def _look(name: str, place: Place) -> Look:
    return Look(METHODS[name].training_in(place), "round_attention")


def _part(name: str, share: float, place: Place) -> Training:
    return METHODS[name].training_in(replace(place, share=share))


# The row `again` is the twin of +AW-AS: the same evidence and random numbers, and a penalty that weighs nothing.
BEFORE, AFTER = Asked(partial(_look, "again")), Asked(partial(_look, "+AW-AS"))
MINED = {"AW": Asked(partial(_mine, "aw-as", ())), "PG": Asked(partial(_mine, "pg-as", ()))}
_GAPS = {
    f"{who} {way}_{kind}": _row(f"+{way}-AS_{kind}", model)
    for who, model in (("own", ""), ("MN", "memnet"))
    for way in MINED
    for kind in "am"
}

_SIZES = {
    f"{who} {share:.0%}": Asked(partial(_part, name, share))
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
        {"ours": Asked(refined("average").training_in), "theirs": _row("+PG-AS", "bertabsa_att")},
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
            f"{epsilon:g}": Asked(partial(_mine, "pg-as", settings(epsilon=epsilon)), seeds=1, held_out=True)
            for epsilon in EPSILONS
        },
    ),
    Claim(
        "Noise makes gradient saliency more accurate",
        "with 0, 1 and 10 samples, the first round's words that people marked: more with 10 than with 0",
        by.noise_helps,
        {
            "0": Asked(partial(_mine, "pg-as", settings(samples=0, iterations=1))),
            "1": Asked(partial(_mine, "pg-as", settings(samples=1, iterations=1))),
            "10": MINED["PG"],
        },
    ),
    Claim(
        "Rounds go on from the parameters of the one before (the released code starts each anew)",
        "starting anew gains nothing in macro-F1 at p < .05",
        by.is_no_better,
        {"ours": Asked(_restart, seeds=1), "theirs": _row("+PG-AS")},
    ),
)
_OF_ATTENTION = (
    Claim(
        "Attention is frequently uncorrelated with gradients",
        "mean Kendall's tau by test sentence is below 0.5",
        by.rank_correlation,
        {"looked": Asked(lambda place: Look(Training(place), "agreement"))},
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
