"""The numbers that decide claims, from made-up records, and the verdicts that follow."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import GOLD, blind, knowing, one_round, row_of, toy_scope

from paper.experiments.ledger import Record
from paper.studies.exhibits import _measures as by
from paper.studies.exhibits import find
from paper.studies.exhibits._measures import ClaimRecords, ClaimResult, verdict


@pytest.fixture
def found(tmp_path: Path) -> ClaimRecords:
    return ClaimRecords(toy_scope(tmp_path, "memnet"), "memnet", "laptop", {})


def given(found: ClaimRecords, **rows: list[Record]) -> ClaimRecords:
    return replace(found, rows={name: dict(enumerate(records)) for name, records in rows.items()})


def twice(found: ClaimRecords, **rows: list[Record]) -> ClaimRecords:
    """Two seeds that came to the same."""
    return given(found, **{name: records * 2 for name, records in rows.items()})


def mined(*rounds: Record, **others: object) -> list[Record]:
    return [{"rounds": {str(number): each for number, each in enumerate(rounds, start=1)}, **others}]


def seen(before: list[tuple[int, float]], kind: str = "active") -> list[Record]:
    """Words and attention on them, for each round."""
    blank = {"active": {"words": 0, "attention": 0.0}, "misleading": {"words": 0, "attention": 0.0}}
    rounds = {
        str(number): blank | {kind: {"words": words, "attention": attention}}
        for number, (words, attention) in enumerate(before, start=1)
    }
    return [{"found": rounds}]


def judged(measured: ClaimResult | None) -> tuple[str, bool | None]:
    """What is told of it, without intervals, and whether the claim holds."""
    assert measured is not None
    return re.sub(r" \[[^]]*\]", "", measured.text), measured.holds


def test_scores_are_compared_with_their_significance(found: ClaimRecords) -> None:
    better, worse = twice(found, ours=[knowing()], theirs=[blind()]), twice(found, ours=[blind()], theirs=[knowing()])
    assert judged(by.MEASURES["is_better"](better)) == ("+83.33**", True)
    assert judged(by.MEASURES["is_worse"](better)) == judged(by.MEASURES["is_no_better"](better)) == ("+83.33**", False)
    assert judged(by.MEASURES["is_worse"](worse)) == judged(by.MEASURES["is_no_better"](worse)) == ("-83.33**", True)
    assert judged(by.MEASURES["is_better"](worse)) == ("-83.33**", False)


def test_one_seed_decides_nothing(found: ClaimRecords) -> None:
    rows = given(found, ours=[knowing()], theirs=[blind()])
    for name in ("is_better", "is_worse", "is_no_better", "is_no_different"):
        assert judged(by.MEASURES[name](rows)) == ("+83.33", None)


def test_what_chance_explains_decides_nothing(found: ClaimRecords) -> None:
    # One of the answers differs, in which half of the resamples and more have no say.
    nearly = knowing(predicted=GOLD[:-1] + str((int(GOLD[-1]) + 1) % 3))
    rows = twice(found, ours=[knowing()], theirs=[nearly])
    assert by.MEASURES["is_better"](rows) == by.MEASURES["is_worse"](rows)
    told, holds = judged(by.MEASURES["is_better"](rows))
    assert (told.startswith("+"), told.endswith("*"), holds) == (True, False, None)
    same = twice(found, ours=[blind()], theirs=[blind()])
    assert judged(by.MEASURES["is_better"](same)) == judged(by.MEASURES["is_worse"](same)) == ("+0.00", None)


def test_a_resample_without_a_difference_speaks_for_no_loss_either(found: ClaimRecords) -> None:
    # The same answer differs the other way round: that is as little of a loss as it was of a gain.
    nearly = knowing(predicted=GOLD[:-1] + str((int(GOLD[-1]) + 1) % 3))
    gain, loss = (
        by.MEASURES["is_better"](twice(found, ours=[a], theirs=[b]))
        for a, b in ((knowing(), nearly), (nearly, knowing()))
    )
    assert gain is not None
    assert loss is not None
    assert loss.chances == gain.chances
    assert loss.chances[0] > 0.3
    # No difference was found, but one of several points may have been missed.
    assert judged(by.MEASURES["is_no_different"](twice(found, ours=[nearly], theirs=[knowing()])))[1] is None
    assert gain.intervals[0][1] > 1
    low, high = gain.intervals[0]
    assert gain.text.endswith(f" [{low:+.1f}, {high:+.1f}]")
    assert (gain.field.parts["low 1"], gain.field.parts["high 1"]) == (low, high)


def test_a_significant_loss_is_a_difference_too(found: ClaimRecords) -> None:
    better, worse = twice(found, ours=[knowing()], theirs=[blind()]), twice(found, ours=[blind()], theirs=[knowing()])
    assert judged(by.MEASURES["is_no_different"](better)) == ("+83.33**", False)
    assert judged(by.MEASURES["is_no_different"](worse)) == ("-83.33**", False)
    assert judged(by.MEASURES["is_no_different"](twice(found, ours=[blind()], theirs=[blind()]))) == ("+0.00", True)


def test_every_pair_must_gain(found: ClaimRecords) -> None:
    pairs = {"ours 25%": [knowing()], "theirs 25%": [blind()], "ours 50%": [knowing()], "theirs 50%": [knowing()]}
    assert judged(by.gains_throughout(twice(found, **pairs))) == ("+83.33**, +0.00", None)
    worse = pairs | {"ours 50%": [blind()]}
    assert judged(by.gains_throughout(twice(found, **worse))) == ("+83.33**, -83.33**", False)
    assert judged(by.gains_throughout(twice(found, **pairs | {"theirs 50%": [blind()]}))) == (
        "+83.33**, +83.33**",
        True,
    )


def test_scores_of_different_seeds_are_not_compared(found: ClaimRecords) -> None:
    rows = {"ours": {0: knowing()}, "theirs": {1: blind()}}
    assert by.MEASURES["is_better"](replace(found, rows=rows)) is None


def test_gaps_are_means_over_both_saliencies(found: ClaimRecords) -> None:
    # Two points by AW and four by PG, against one and none.
    scores = {"own AW": (0.62, 0.60), "own PG": (0.64, 0.60), "MN AW": (0.51, 0.50), "MN PG": (0.5, 0.5)}
    rows = {
        f"{name}_{kind}": [{"macro_f1": score}]
        for name, pair in scores.items()
        for kind, score in zip("am", pair, strict=True)
    }
    assert judged(by.MEASURES["gap_is_larger"](given(found, **rows))) == ("+3.00 against +0.50", None)
    assert judged(by.MEASURES["gap_is_larger"](twice(found, **rows))) == ("+3.00 against +0.50", True)


def test_frequencies_are_geometric_means(found: ClaimRecords) -> None:
    # Words that stand in train 2 and 8 times, and one that stands there 3 times.
    first, last = one_round(2, log_frequency=math.log(16)), one_round(1, log_frequency=math.log(3))
    assert judged(by.MEASURES["frequency_by_round"](twice(found, mined=mined(first, last)))) == ("4.0 → 3.0", True)
    assert judged(by.MEASURES["frequency_by_round"](twice(found, mined=mined(last, first)))) == ("3.0 → 4.0", False)
    assert judged(by.MEASURES["frequency_by_round"](twice(found, mined=mined(first, one_round(0, 3))))) == ("4.0", None)


def test_every_seed_has_its_say(found: ClaimRecords) -> None:
    rare, common = one_round(1, log_frequency=math.log(3)), one_round(1, log_frequency=math.log(9))
    falling, rising = mined(common, rare), mined(rare, common)
    assert judged(by.MEASURES["frequency_by_round"](given(found, mined=falling)))[1] is None
    # Together they have not moved: 3 and 9 in both rounds.
    assert judged(by.MEASURES["frequency_by_round"](given(found, mined=[*falling, *rising]))) == ("5.2 → 5.2", None)
    both_rare = mined(rare, one_round(1, log_frequency=math.log(4)))
    assert judged(by.MEASURES["frequency_by_round"](given(found, mined=[*falling, *both_rare])))[1] is None


def test_opinion_words_are_compared_by_when_they_were_found(found: ClaimRecords) -> None:
    opinion = {
        "first": {"words": 2, "log_frequency": math.log(16)},
        "later": {"words": 1, "log_frequency": math.log(2)},
        "missed": {"words": 1, "log_frequency": math.log(5)},
    }
    told = twice(found, mined=mined(opinion=opinion))
    assert judged(by.MEASURES["later_is_rarer"](told)) == ("4.0 against 2.0", True)
    assert judged(by.MEASURES["common_first"](told)) == ("4.0 against 5.0", False)
    none = opinion | {"later": {"words": 0, "log_frequency": 0.0}}
    assert by.MEASURES["later_is_rarer"](given(found, mined=mined(opinion=none))) is None
    assert by.MEASURES["common_first"](given(found, mined=mined())) is None


def test_active_words_are_counted_against_misleading_ones(found: ClaimRecords) -> None:
    assert judged(by.MEASURES["mostly_active"](given(found, mined=mined(one_round(900, 50), one_round(200, 150))))) == (
        "1,100 : 200",
        True,
    )
    assert judged(by.MEASURES["mostly_active"](given(found, mined=mined(one_round(1, 1))))) == ("1 : 1", None)
    assert judged(by.MEASURES["mostly_active"](given(found, mined=mined(one_round(1, 2))))) == ("1 : 2", False)


def test_words_rise_with_epsilon_in_the_order_asked_for(found: ClaimRecords) -> None:
    few, more = mined(one_round(1, 1)), mined(one_round(2, 1), one_round(1))
    assert judged(by.MEASURES["rises_with_epsilon"](given(found, a=few, b=few, c=more))) == ("2 → 2 → 4", True)
    assert judged(by.MEASURES["rises_with_epsilon"](given(found, a=more, b=few))) == ("4 → 2", False)


def test_noise_is_judged_by_the_first_rounds_words(found: ClaimRecords) -> None:
    def precision(hits: int) -> list[Record]:
        rounds = one_round(4, judged={"positive": 4}, marked={"positive": hits}), one_round(1)
        return mined(*rounds, judged=4)

    rows = {"0": precision(1), "1": precision(3), "10": precision(2)}
    assert judged(by.MEASURES["noise_helps"](twice(found, **rows))) == ("0.250, 0.750, 0.500", True)
    assert judged(by.MEASURES["noise_helps"](twice(found, **rows | {"10": precision(0)}))) == (
        "0.250, 0.750, 0.000",
        False,
    )
    assert judged(by.MEASURES["noise_helps"](twice(found, **rows | {"10": precision(1)}))) == (
        "0.250, 0.750, 0.250",
        None,
    )
    assert by.MEASURES["noise_helps"](given(found, **rows | {"10": mined(one_round(4), judged=0)})) is None


def test_correlations_are_means_over_seeds(found: ClaimRecords) -> None:
    def looked(tau: float | None) -> Record:
        return {"found": {"correlation": [{"kendall": None if tau is None else {"mean": tau}}]}}

    assert judged(by.MEASURES["rank_correlation"](given(found, analysed=[looked(0.25), looked(0.375)]))) == (
        "tau 0.31",
        True,
    )
    assert judged(by.MEASURES["rank_correlation"](given(found, analysed=[looked(0.5), looked(0.75)]))) == (
        "tau 0.62",
        False,
    )
    assert judged(by.MEASURES["rank_correlation"](given(found, analysed=[looked(0.25), looked(0.5)]))) == (
        "tau 0.38",
        None,
    )
    assert judged(by.MEASURES["rank_correlation"](given(found, analysed=[looked(0.25), looked(None)]))) == (
        "tau 0.25",
        None,
    )
    assert by.MEASURES["rank_correlation"](given(found, analysed=[looked(None)])) is None


def test_attention_is_told_of_the_first_and_of_later_rounds(found: ClaimRecords) -> None:
    # Later rounds: (0.5 + 0.25) / 3 and (0.5 + 1.0) / 3.
    before, after = seen([(2, 1.5), (1, 0.5), (2, 0.25)]), seen([(2, 1.0), (1, 0.5), (2, 1.0)])
    told = "first 0.750 → 0.500, later 0.250 → 0.500"
    assert judged(by.attention_spreads(twice(found, before=before, after=after))) == (told, True)
    assert by.attention_spreads(given(found, before=seen([(2, 1.0)]), after=seen([(2, 1.0)]))) is None


def test_huge_is_counted_by_the_label_of_its_instance(found: ClaimRecords) -> None:
    path = found.scope.resources.sources["laptop"].train
    path.write_text("a Huge screen/p\na huge/n loss\nthe mouse/0 works\n")
    assert judged(by.word_is_always_positive(found)) == ("1 positive, 1 negative, 0 neutral", False)
    path.write_text("a huge screen/p .\na mouse/n\n")
    assert judged(by.word_is_always_positive(found)) == ("1 positive, 0 negative, 0 neutral", True)
    path.write_text("a large screen/p\n")
    assert by.word_is_always_positive(found) is None


EXHIBIT = find("claims")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((), "not measured"),
        ((None, None), "not measured"),
        ((None, True), "holds"),
        ((True, True), "holds"),
        ((True, "chance"), "undecided"),
        ((False, "chance"), "does not hold"),
        ((True, False), "does not hold"),
    ],
)
def test_one_contrary_denies_a_claim_and_one_doubt_leaves_it_open(
    found: tuple[bool | str | None, ...], expected: str
) -> None:
    measured = [
        None if each is None else ClaimResult("", None if each == "chance" else bool(each), ()) for each in found
    ]
    assert verdict(measured) == expected


def test_what_was_measured_keeps_its_numbers_in_the_order_of_the_text() -> None:
    reading = ClaimResult("+0.50*, -0.25", False, (0.5, -0.25), (0.04, 0.6)).field
    assert reading.text == "+0.50*, -0.25 (no)"
    assert reading.parts == {"holds": False, "number 1": 0.5, "number 2": -0.25, "p 1": 0.04, "p 2": 0.6}


def test_data_alone_can_decide(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet")
    scope.resources.sources["laptop"].train.write_text("a huge screen/p\na huge mouse/n\n")
    _, table, _ = EXHIBIT.show(scope, FakeLookup())
    row = row_of(table, "mechanical", "`huge` always occurs in sentences with positive sentiment", None)
    assert row[:4] == ("1 positive, 1 negative, 0 neutral (no)", None, None, "does not hold")
