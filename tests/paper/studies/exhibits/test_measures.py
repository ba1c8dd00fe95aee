"""The numbers that decide claims, from made-up records, and the verdicts that follow."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import GOLD, blind, knowing, one_round, row_of, toy_scope

from paper.experiments.ledger import Record
from paper.studies.exhibits import _measures as by
from paper.studies.exhibits import find
from paper.studies.exhibits._measures import ClaimRecords, ClaimResult, verdict

Rows = Mapping[str, Sequence[Record]]  # the records of each query, one for each seed


@pytest.fixture
def found(tmp_path: Path) -> ClaimRecords:
    return ClaimRecords(toy_scope(tmp_path, "memnet"), "memnet", "laptop", {})


def given(found: ClaimRecords, rows: Rows) -> ClaimRecords:
    by_seed = {name: dict(enumerate(records)) for name, records in rows.items()}
    return ClaimRecords(found.scope, found.model, found.data, by_seed)


def pair(ours: Record, theirs: Record, seeds: int = 2) -> Rows:
    """Some seeds that came to the same."""
    return {"ours": [ours] * seeds, "theirs": [theirs] * seeds}


def mined(*rounds: Record, **others: object) -> Record:
    return {"rounds": {str(number): each for number, each in enumerate(rounds, start=1)}, **others}


def seen(*rounds: tuple[int, float]) -> Record:
    """Active words and attention on them, for each round."""
    blank = {"words": 0, "attention": 0.0}
    rows = ({"misleading": blank, "active": {"words": words, "attention": mass}} for words, mass in rounds)
    return {"found": {str(number): row for number, row in enumerate(rows, start=1)}}


def judged(measured: ClaimResult | None) -> tuple[str, bool | None] | None:
    """What is told of it, without intervals, and whether the claim holds."""
    return None if measured is None else (re.sub(r" \[[^]]*\]", "", measured.text), measured.holds)


# One of the answers differs, in which half of the resamples and more have no say.
NEARLY = knowing(predicted=GOLD[:-1] + str((int(GOLD[-1]) + 1) % 3))
BETTER, WORSE, SAME = pair(knowing(), blind()), pair(blind(), knowing()), pair(blind(), blind())


@pytest.mark.parametrize(
    ("measure", "rows", "expected"),
    [
        *((name, BETTER, ("+83.33**", name == "is_better")) for name in ("is_better", "is_worse", "is_no_better")),
        *((name, WORSE, ("-83.33**", name != "is_better")) for name in ("is_better", "is_worse", "is_no_better")),
        ("is_no_different", BETTER, ("+83.33**", False)),
        ("is_no_different", WORSE, ("-83.33**", False)),
        ("is_no_different", SAME, ("+0.00", True)),
        *((name, SAME, ("+0.00", None)) for name in ("is_better", "is_worse")),
        *(
            (name, pair(knowing(), blind(), seeds=1), ("+83.33", None))  # one seed decides nothing
            for name in ("is_better", "is_worse", "is_no_better", "is_no_different")
        ),
    ],
)
def test_scores_are_compared_with_their_significance(
    found: ClaimRecords, measure: str, rows: Rows, expected: object
) -> None:
    assert judged(by.MEASURES[measure](given(found, rows))) == expected


def test_a_resample_without_a_difference_speaks_for_no_loss_either(found: ClaimRecords) -> None:
    # The same answer differs the other way round: that is as little of a loss as it was of a gain.
    gain, loss = (
        by.MEASURES["is_better"](given(found, pair(*two))) for two in ((knowing(), NEARLY), (NEARLY, knowing()))
    )
    assert gain is not None
    assert loss is not None
    assert (gain.holds, loss.holds, gain.chances) == (None, None, loss.chances)
    assert loss.chances[0] > 0.3
    # No difference was found, but one of several points may have been missed.
    different = by.MEASURES["is_no_different"](given(found, pair(NEARLY, knowing())))
    assert different is not None
    assert different.holds is None
    low, high = gain.intervals[0]
    assert high > 1
    assert gain.text.endswith(f" [{low:+.1f}, {high:+.1f}]")
    assert (gain.field.parts["low 1"], gain.field.parts["high 1"]) == (low, high)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ("+83.33**, +0.00", None)),
        ({"ours 50%": [blind()] * 2}, ("+83.33**, -83.33**", False)),
        ({"theirs 50%": [blind()] * 2}, ("+83.33**, +83.33**", True)),
    ],
)
def test_every_pair_must_gain(found: ClaimRecords, changed: Rows, expected: object) -> None:
    right, wrong = [knowing()] * 2, [blind()] * 2
    rows = {"ours 25%": right, "theirs 25%": wrong, "ours 50%": right, "theirs 50%": right, **changed}
    assert judged(by.gains_throughout(given(found, rows))) == expected


def test_scores_of_different_seeds_are_not_compared(found: ClaimRecords) -> None:
    rows = ClaimRecords(found.scope, "memnet", "laptop", {"ours": {0: knowing()}, "theirs": {1: blind()}})
    assert by.MEASURES["is_better"](rows) is None


def frequent(count: float, words: int = 1) -> Record:
    """A round whose words stand in train so often, on average."""
    return one_round(words, log_frequency=words * math.log(count))


# Two points by AW and four by PG, against one and none.
SCORES = {"own AW": (0.62, 0.60), "own PG": (0.64, 0.60), "MN AW": (0.51, 0.50), "MN PG": (0.5, 0.5)}
GAPS = {f"{name}_{kind}": [{"macro_f1": s}] for name, two in SCORES.items() for kind, s in zip("am", two, strict=True)}
FALLING, RISING = mined(frequent(9), frequent(3)), mined(frequent(3), frequent(9))
OPINION = {
    "first": {"words": 2, "log_frequency": math.log(16)},
    "later": {"words": 1, "log_frequency": math.log(2)},
    "missed": {"words": 1, "log_frequency": math.log(5)},
}
NOTHING_LATER = OPINION | {"later": {"words": 0, "log_frequency": 0.0}}
FEW, MORE = mined(one_round(1, 1)), mined(one_round(2, 1), one_round(1))


def twice(**rows: Record) -> Rows:
    """Two seeds that came to the same."""
    return {name: [record] * 2 for name, record in rows.items()}


def marked(hits: int) -> Record:
    """A mining of whose first four words people marked some."""
    return mined(one_round(4, judged={"positive": 4}, marked={"positive": hits}), one_round(1), judged=4)


def tau(*values: float | None) -> Rows:
    kendall = ({"kendall": None if each is None else {"mean": each}} for each in values)
    return {"analysed": [{"found": {"correlation": [each]}} for each in kendall]}


@pytest.mark.parametrize(
    ("measure", "rows", "expected"),
    [
        ("gap_is_larger", GAPS, ("+3.00 against +0.50", None)),
        ("gap_is_larger", {name: records * 2 for name, records in GAPS.items()}, ("+3.00 against +0.50", True)),
        ("frequency_by_round", twice(mined=mined(frequent(4, 2), frequent(3))), ("4.0 → 3.0", True)),
        ("frequency_by_round", twice(mined=mined(frequent(3), frequent(4, 2))), ("3.0 → 4.0", False)),
        ("frequency_by_round", twice(mined=mined(frequent(4, 2), one_round(0, 3))), ("4.0", None)),
        # Every seed has its say; together they have not moved: 3 and 9 in both rounds.
        ("frequency_by_round", {"mined": [FALLING]}, ("9.0 → 3.0", None)),
        ("frequency_by_round", {"mined": [FALLING, RISING]}, ("5.2 → 5.2", None)),
        ("frequency_by_round", {"mined": [FALLING, mined(frequent(3), frequent(4))]}, ("5.2 → 3.5", None)),
        ("later_is_rarer", twice(mined=mined(opinion=OPINION)), ("4.0 against 2.0", True)),
        ("common_first", twice(mined=mined(opinion=OPINION)), ("4.0 against 5.0", False)),
        ("later_is_rarer", twice(mined=mined(opinion=NOTHING_LATER)), None),
        ("common_first", twice(mined=mined()), None),
        ("mostly_active", {"mined": [mined(one_round(900, 50), one_round(200, 150))]}, ("1,100 : 200", True)),
        ("mostly_active", {"mined": [mined(one_round(1, 1))]}, ("1 : 1", None)),
        ("mostly_active", {"mined": [mined(one_round(1, 2))]}, ("1 : 2", False)),
        ("rises_with_epsilon", {"a": [FEW], "b": [FEW], "c": [MORE]}, ("2 → 2 → 4", True)),
        ("rises_with_epsilon", {"a": [MORE], "b": [FEW]}, ("4 → 2", False)),
        ("noise_helps", twice(a=marked(1), b=marked(3), c=marked(2)), ("0.250, 0.750, 0.500", True)),
        ("noise_helps", twice(a=marked(1), b=marked(3), c=marked(0)), ("0.250, 0.750, 0.000", False)),
        ("noise_helps", twice(a=marked(1), b=marked(3), c=marked(1)), ("0.250, 0.750, 0.250", None)),
        ("noise_helps", twice(a=marked(1), b=mined(one_round(4), judged=0)), None),
        ("rank_correlation", tau(0.25, 0.375), ("tau 0.31", True)),
        ("rank_correlation", tau(0.5, 0.75), ("tau 0.62", False)),
        ("rank_correlation", tau(0.25, 0.5), ("tau 0.38", None)),
        ("rank_correlation", tau(0.25, None), ("tau 0.25", None)),
        ("rank_correlation", tau(None), None),
        (  # later rounds: (0.5 + 0.25) / 3 and (0.5 + 1.0) / 3
            "attention_spreads",
            twice(before=seen((2, 1.5), (1, 0.5), (2, 0.25)), after=seen((2, 1.0), (1, 0.5), (2, 1.0))),
            ("first 0.750 → 0.500, later 0.250 → 0.500", True),
        ),
        ("attention_spreads", twice(before=seen((2, 1.0)), after=seen((2, 1.0))), None),
    ],
)
def test_other_numbers_decide_where_all_seeds_agree(
    found: ClaimRecords, measure: str, rows: Rows, expected: object
) -> None:
    assert judged(by.MEASURES[measure](given(found, rows))) == expected


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        ("a Huge screen/p\na huge/n loss\nthe mouse/0 works\n", ("1 positive, 1 negative, 0 neutral", False)),
        ("a huge screen/p .\na mouse/n\n", ("1 positive, 0 negative, 0 neutral", True)),
        ("a large screen/p\n", None),
    ],
)
def test_huge_is_counted_by_the_label_of_its_instance(
    found: ClaimRecords, train: str, expected: tuple[str, bool] | None
) -> None:
    found.scope.resources.sources["laptop"].train.write_text(train)
    assert judged(by.word_is_always_positive(found)) == expected
    if expected and not expected[1]:
        _, table, _ = find("claims").show(found.scope, FakeLookup())
        row = row_of(table, "mechanical", "`huge` always occurs in sentences with positive sentiment", None)
        assert row[:4] == ("1 positive, 1 negative, 0 neutral (no)", None, None, "does not hold")


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
def test_one_contrary_denies_a_claim_and_one_doubt_leaves_it_open(found: tuple[Any, ...], expected: str) -> None:
    measured = [each if each is None else ClaimResult("", None if each == "chance" else each, ()) for each in found]
    assert verdict(measured) == expected


def test_what_was_measured_keeps_its_numbers_in_the_order_of_the_text() -> None:
    reading = ClaimResult("+0.50*, -0.25", False, (0.5, -0.25), (0.04, 0.6)).field
    assert reading.text == "+0.50*, -0.25 (no)"
    assert reading.parts == {"holds": False, "number 1": 0.5, "number 2": -0.25, "p 1": 0.04, "p 2": 0.6}
