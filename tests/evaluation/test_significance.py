"""Bootstrap intervals, paired bootstrap and McNemar's test."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.errors import InputError
from pssa.evaluation import mcnemar, paired_bootstrap, score
from pssa.evaluation.significance import Estimate, compare_with_control, estimate

LABELS = ("positive", "negative", "neutral")


def noisy(gold: Sequence[str], right: float, seed: int) -> list[str]:
    """Predictions that keep the gold label with probability `right` and are drawn at random otherwise."""
    generator = np.random.default_rng(seed)
    keep = generator.random(len(gold)) < right
    drawn = generator.choice(LABELS, len(gold))
    return [label if kept else str(other) for label, kept, other in zip(gold, keep, drawn, strict=True)]


@pytest.fixture
def gold() -> list[str]:
    return [str(label) for label in np.random.default_rng(0).choice(LABELS, 300, p=(0.6, 0.25, 0.15))]


def test_the_order_of_runs_does_not_make_a_classifier_better_than_itself(gold: list[str]) -> None:
    runs = [noisy(gold, 0.7, seed) for seed in range(3)]
    result = paired_bootstrap(gold, runs, [runs[2], runs[0], runs[1]], LABELS)
    assert (result.p_accuracy, result.p_macro_f1) == (1, 1)


def test_a_perfect_classifier_beats_one_that_is_always_wrong() -> None:
    result = paired_bootstrap(["a", "b"] * 20, ["a", "b"] * 20, ["b", "a"] * 20, ("a", "b"))
    assert (result.p_accuracy, result.p_macro_f1) == (0, 0)
    assert (result.accuracy_difference, result.macro_f1_difference) == (1, 1)
    assert result.accuracy_interval == (1, 1)


def test_one_instance_of_difference_wins_as_often_as_it_is_drawn() -> None:
    # The first is right once more: it wins unless a resample misses that instance, with probability (1 - 1/n)^n.
    n = 20
    gold = ["a"] * 10 + ["b"] * 10
    result = paired_bootstrap(gold, gold, ["b", *gold[1:]], ("a", "b"), resamples=20_000)
    assert result.p_accuracy == pytest.approx((1 - 1 / n) ** n, abs=0.01)
    assert result.p_macro_f1 == result.p_accuracy
    assert result.accuracy_difference == pytest.approx(1 / n)


@pytest.mark.slow
def test_resamples_are_paired_and_scored_as_a_plain_loop_does(gold: list[str]) -> None:
    from sklearn.metrics import f1_score

    first, second = noisy(gold, 0.72, seed=1), noisy(gold, 0.68, seed=2)
    result = paired_bootstrap(gold, first, second, LABELS, resamples=50, seed=5)
    generator = np.random.default_rng(5)
    by_accuracy, by_f1 = [], []
    for _ in range(50):
        drawn = generator.integers(len(gold), size=len(gold))
        g, a, b = ([words[n] for n in drawn] for words in (gold, first, second))
        by_accuracy.append(score(g, a, LABELS).accuracy - score(g, b, LABELS).accuracy)
        f1 = [f1_score(g, p, average="macro", labels=list(LABELS), zero_division=0) for p in (a, b)]
        by_f1.append(f1[0] - f1[1])
    assert result.p_accuracy == sum(d <= 1e-12 for d in by_accuracy) / 50
    assert result.p_macro_f1 == sum(d <= 1e-12 for d in by_f1) / 50
    assert result.accuracy_interval == pytest.approx(np.quantile(by_accuracy, (0.025, 0.975)))
    assert result.macro_f1_interval == pytest.approx(np.quantile(by_f1, (0.025, 0.975)))


def test_several_runs_count_by_their_mean(gold: list[str]) -> None:
    first = [noisy(gold, 0.8, seed) for seed in range(5)]
    second = [noisy(gold, 0.6, seed) for seed in range(10, 13)]
    result = paired_bootstrap(gold, first, second, LABELS)
    means = [
        [np.mean([getattr(score(gold, run, LABELS), name) for run in runs]) for runs in (first, second)]
        for name in ("accuracy", "macro_f1")
    ]
    assert result.accuracy_difference == pytest.approx(means[0][0] - means[0][1])
    assert result.macro_f1_difference == pytest.approx(means[1][0] - means[1][1])
    assert result.p_accuracy < 0.01
    alone = paired_bootstrap(gold, first[0], second[0], LABELS)
    assert alone == paired_bootstrap(gold, first[:1], second[:1], LABELS)


def test_the_seed_repeats_the_result_and_the_result_survives_json(gold: list[str]) -> None:
    first, second = noisy(gold, 0.72, seed=1), noisy(gold, 0.68, seed=2)
    result = paired_bootstrap(gold, first, second, LABELS, seed=3)
    assert result == paired_bootstrap(gold, first, second, LABELS, seed=3)
    assert result != paired_bootstrap(gold, first, second, LABELS, seed=4)
    record = json.loads(json.dumps(result.as_dict()))
    assert (record["p_accuracy"], record["p_macro_f1"]) == (result.p_accuracy, result.p_macro_f1)
    assert record["resamples"] == 1000


def test_no_more_draws_are_held_than_the_bound_allows(monkeypatch: pytest.MonkeyPatch, gold: list[str]) -> None:
    first, second = noisy(gold, 0.72, seed=1), noisy(gold, 0.68, seed=2)
    whole = paired_bootstrap(gold, first, second, LABELS, resamples=64)
    monkeypatch.setattr("pssa.evaluation.significance._DRAWS_AT_ONCE", 2 * len(gold))
    assert paired_bootstrap(gold, first, second, LABELS, resamples=64) == whole


@pytest.mark.parametrize(
    ("first", "resamples", "what"),
    [
        (["a"], 10, "2 gold labels and 1 predictions"),
        ([["a", "b"], ["a"]], 10, "2 gold labels and 1 predictions"),
        ([], 10, "2 gold labels and 0 predictions"),
        (["a", "c"], 10, "label 'c'"),
        (["a", "b"], 0, "the number of resamples is 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(first: list[str], resamples: int, what: str) -> None:
    with pytest.raises(InputError, match=what):
        paired_bootstrap(["a", "b"], first, ["a", "b"], ("a", "b"), resamples=resamples)


@pytest.mark.parametrize(("only_first", "only_second"), [(0, 0), (1, 0), (5, 5), (8, 2), (2, 8), (30, 12)])
def test_mcnemar_is_the_two_sided_binomial_test(only_first: int, only_second: int) -> None:
    n, fewer = only_first + only_second, min(only_first, only_second)
    expected = min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / 2**n)
    gold = ["a"] * (n + 7)
    first = ["a"] * only_first + ["b"] * only_second + ["a"] * 4 + ["b"] * 3
    second = ["b"] * only_first + ["a"] * only_second + ["a"] * 4 + ["c"] * 3
    assert mcnemar(gold, first, second) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_mcnemar_holds_for_counts_whose_coefficients_overflow() -> None:
    gold, first, second = ["a"] * 4000, ["a"] * 2100 + ["b"] * 1900, ["b"] * 2100 + ["a"] * 1900
    exact = 2 * sum(math.comb(4000, k) for k in range(1901)) / 2**4000
    assert mcnemar(gold, first, second) == pytest.approx(exact, rel=1e-9)


def test_negative_seeds_lists_of_different_lengths_and_no_instance_are_refused() -> None:
    with pytest.raises(InputError, match="the seed is -1; expected 0 or more"):
        paired_bootstrap(["a", "b"], ["a", "b"], ["a", "b"], ("a", "b"), seed=-1)
    with pytest.raises(InputError, match="2 gold labels, 1 and 2 predictions"):
        mcnemar(["a", "b"], ["a"], ["a", "b"])
    with pytest.raises(InputError, match="no instance"):
        estimate(np.empty((0, 2)))
    with pytest.raises(InputError, match="the seed is -1"):
        estimate(np.ones((2, 1)), -1)


def test_an_interval_is_that_of_a_plain_loop() -> None:
    values = np.random.default_rng(1).normal(size=(30, 2))
    generator = np.random.default_rng(7)
    means = [values[generator.integers(30, size=30)].mean(axis=0) for _ in range(1000)]
    for column, found in enumerate(estimate(values, seed=7)):
        low, high = np.quantile([mean[column] for mean in means], (0.025, 0.975))
        assert (found.mean, found.low, found.high) == pytest.approx((values[:, column].mean(), low, high))


def test_a_difference_is_paired() -> None:
    # Both scatter widely, but the first is always greater by one half.
    controls = np.random.default_rng(0).normal(0, 10, size=(50, 1))
    [found] = compare_with_control(controls + 0.5, controls)
    difference = found.difference
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.value.high - found.value.low > 1


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.integers(0, 5))
def test_nothing_differs_from_itself(drawn: list[float], seed: int) -> None:
    values = np.array(drawn)[:, None]
    [found] = compare_with_control(values, values, seed)
    assert found.difference == Estimate(0, 0, 0)
    assert found.value == found.control
