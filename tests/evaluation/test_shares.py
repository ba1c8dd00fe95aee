from __future__ import annotations

import math

import numpy as np
import pytest

from pssa.errors import InputError
from pssa.evaluation.shares import ShareEstimator, adjust, fisher_exact, trend, wilson


def test_labels_are_corrected_as_rogan_and_gladen_do_by_the_inverse_matrix() -> None:
    # Sensitivity 0.9, specificity 0.8, 62 % answered positive: (0.62 + 0.8 - 1) / (0.9 + 0.8 - 1) = 0.6.
    found = ShareEstimator([[900, 100], [200, 800]]).estimate([620, 380])
    assert [round(one.counted, 9) for one in found] == [0.62, 0.38]
    assert [round(one.corrected, 9) for one in found] == [0.6, 0.4]
    # True shares 0.5, 0.3, 0.2; of the first, 80 % are recognised and 20 % taken for the second; the others are recognised.
    found = ShareEstimator([[80, 20, 0], [0, 100, 0], [0, 0, 100]]).estimate([400, 400, 200])
    assert [round(one.corrected, 9) for one in found] == [0.5, 0.3, 0.2]


def test_intervals_contain_the_true_shares_about_as_often_as_they_say() -> None:
    rates = np.array([[0.82, 0.08, 0.10], [0.10, 0.78, 0.12], [0.15, 0.15, 0.70]])
    true = np.array([0.6, 0.3, 0.1])
    generator = np.random.default_rng(5)
    n_inside = n_wide = 0
    for seed in range(20):
        confusion = [generator.multinomial(200, row).tolist() for row in rates]
        gold = generator.multinomial(300, true)
        answers = np.sum([generator.multinomial(*each) for each in zip(gold, rates, strict=True)], axis=0)
        for share, one in zip(true, ShareEstimator(confusion, seed).estimate(answers.tolist()), strict=True):
            n_inside += one.low <= share <= one.high
            n_wide += one.high - one.low > 0.35
    assert n_inside >= 55  # of 60
    assert n_wide == 0


def test_more_answers_than_the_error_rates_allow_for_do_not_make_an_interval_certain() -> None:
    found = ShareEstimator([[70, 30], [30, 70]]).estimate([31, 8])[0]
    assert found.corrected == 1.0
    assert found.low < 0.7
    assert found.high == 1.0


def test_the_same_counts_give_the_same_numbers_whatever_came_before() -> None:
    estimator = ShareEstimator([[80, 20], [10, 90]])
    first = estimator.estimate([7, 3])
    estimator.estimate([100, 200])
    assert estimator.estimate([7, 3]) == first
    assert ShareEstimator([[80, 20], [10, 90]]).estimate([7, 3]) == first


def test_without_a_matrix_the_interval_is_that_of_the_sample() -> None:
    found = ShareEstimator().estimate([5, 5])[0]
    assert (found.counted, found.corrected) == (0.5, 0.5)
    assert (round(found.low, 4), round(found.high, 4)) == (0.2366, 0.7634)  # Wilson 1927 for 5 of 10
    assert wilson(0, 10) == pytest.approx((0.0, 0.0, 0.2775), abs=1e-4)
    assert [(one.low, one.high) for one in ShareEstimator([[80, 20], [10, 90]]).estimate([0, 0])] == [(0, 1), (0, 1)]


@pytest.mark.parametrize("confusion", [[[5, 4], [10, 90]], [[50, 50], [49, 51]]])
def test_a_matrix_of_no_use_is_not_used_and_says_why(confusion: list[list[int]]) -> None:
    estimator = ShareEstimator(confusion)
    assert not estimator.is_corrected
    assert "held-out" in estimator.reason
    assert estimator.estimate([5, 5]) == ShareEstimator().estimate([5, 5])


@pytest.mark.parametrize("confusion", [[[1, 2]], [[1, -2], [3, 4]], [1, 2]])
def test_what_is_no_confusion_matrix_is_refused(confusion: list[list[int]]) -> None:
    with pytest.raises(InputError, match="confusion matrix"):
        ShareEstimator(confusion)


def test_fishers_test_gives_published_values() -> None:
    assert fisher_exact([[3, 1], [1, 3]]) == pytest.approx(0.4857143)  # Fisher's tea tasting, two-sided
    assert fisher_exact([[8, 2], [1, 5]]) == pytest.approx(0.0349650, abs=1e-6)
    assert fisher_exact([[10, 0], [0, 10]]) == pytest.approx(2 / math.comb(20, 10))
    assert fisher_exact([[0, 5], [0, 9]]) == 1.0


def test_adjusted_p_values_are_those_of_benjamini_and_hochberg() -> None:
    assert adjust([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert adjust([]) == []


def test_a_trend_is_found_where_a_share_rises() -> None:
    slope, p = trend([1, 5, 9], [10, 10, 10])
    # Mean 0.5; sum of (t - 1)(x - n / 2) = 8, spread 20: slope 0.4; variance 0.25 * 20 = 5, z = 8 / sqrt(5).
    assert slope == pytest.approx(0.4)
    assert p == pytest.approx(math.erfc(8 / math.sqrt(5) / math.sqrt(2)))
    assert trend([5, 5, 5], [10, 10, 10])[1] == pytest.approx(1.0)
    assert trend([0, 0], [0, 0]) == (0.0, 1.0)


def test_answers_that_are_left_out_count_for_the_errors_and_not_for_the_shares() -> None:
    estimator = ShareEstimator([[800, 100, 100], [100, 800, 100], [100, 100, 800]])
    none, all_, some = (estimator.estimate([300, 100, 20], [0, 0, n])[2] for n in (0, 10_000, 80))
    assert none == estimator.estimate([300, 100, 20])[2]
    assert none.counted == all_.counted == some.counted == 20 / 420
    assert none.corrected < 0.01 < some.corrected < 0.04  # of the 100, confusion explains a part
    assert some.low <= some.corrected <= some.high


def test_where_a_label_is_hardly_answered_shares_follow_from_how_often_each_answer_is_right() -> None:
    confusion = [[980, 15, 5], [50, 155, 5], [24, 16, 1]]
    estimator = ShareEstimator(confusion)
    assert estimator.uses_predictive_values
    assert estimator.is_corrected
    answers = [sum(row[place] for row in confusion) for place in range(3)]
    for gold, one in zip(confusion, estimator.estimate(answers), strict=True):
        assert abs(one.corrected - sum(gold) / 1251) < 0.005
        assert one.low <= min(one.counted, one.corrected)
        assert max(one.counted, one.corrected) <= one.high
    assert estimator.covers([900, 200, 20])
    assert not estimator.covers([700, 200, 200])  # eleven held-out answers say too little of so many
    assert not ShareEstimator([[80, 20], [10, 90]]).uses_predictive_values
    assert ShareEstimator([[60, 40], [45, 35]]).reason
