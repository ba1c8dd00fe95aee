"""Ranks of words and rank correlations."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pssa.evaluation.agreement import correlate, rank_correlations, rank_words


def test_the_highest_score_comes_first_and_other_words_come_last() -> None:
    scores = torch.tensor([[0.1, 0.9, 0.5, 7.0]])
    candidates = torch.tensor([[True, True, True, False]])
    assert rank_words(scores, candidates).tolist() == [[2, 0, 1, 3]]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=8), st.integers(0, 9))
def test_ranks_are_an_order_of_the_words(drawn: list[tuple[float, bool]], seed: int) -> None:
    scores = torch.tensor([[score for score, _ in drawn]])
    candidates = torch.tensor([[candidate for _, candidate in drawn]])
    [ranks] = rank_words(scores, candidates, seed).tolist()
    assert sorted(ranks) == list(range(len(drawn)))
    for (score, candidate), rank in zip(drawn, ranks, strict=True):
        for (other, also), after in zip(drawn, ranks, strict=True):
            if (candidate, score) > (also, other) and candidate:
                assert rank < after


def test_equal_scores_come_in_every_order_equally_often() -> None:
    scores, candidates = torch.zeros(6000, 3), torch.ones(6000, 3, dtype=torch.bool)
    orders, times = rank_words(scores, candidates, 1).unique(dim=0, return_counts=True)  # type: ignore[no-untyped-call]
    assert len(orders) == 6
    # Six standard deviations of a count of 6000 at 1/6 are 173.
    assert all(abs(count - 1000) < 173 for count in times.tolist())


few_values = st.sampled_from([0.0, 0.1, 0.2, 0.5])  # equal scores are common
sentences = st.lists(st.tuples(few_values, few_values), min_size=3, max_size=9)


def of(first: list[float], second: list[float]) -> list[float]:
    both = torch.tensor([first]), torch.tensor([second])
    [found] = rank_correlations(*both, torch.ones(1, len(first), dtype=torch.bool)).tolist()
    return list(found)


def test_cases_worked_by_hand() -> None:
    assert of([1, 2, 3], [10, 20, 90]) == pytest.approx([1, 1])
    assert of([1, 2, 3], [3, 2, 1]) == pytest.approx([-1, -1])
    # Two pairs agree and one does not; rho = 1 - 6 * (0 + 1 + 1) / (3 * 8).
    assert of([1, 2, 3], [1, 3, 2]) == pytest.approx([1 / 3, 0.5])
    # One of three pairs is a tie on the right: 2 / sqrt(3 * 2); ranks 1, 2, 3 and 1, 2.5, 2.5.
    assert of([1, 2, 3], [1, 2, 2]) == pytest.approx([2 / math.sqrt(6), 1.5 / math.sqrt(2 * 1.5)])


@pytest.mark.slow
@settings(deadline=None)  # the first example imports scipy
@given(sentences)
def test_both_equal_those_of_scipy(drawn: list[tuple[float, float]]) -> None:
    from scipy import stats  # type: ignore[import-untyped]

    first, second = [a for a, _ in drawn], [b for _, b in drawn]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        expected = [stats.kendalltau(first, second).statistic, stats.spearmanr(first, second).statistic]
    assert of(first, second) == pytest.approx(expected, nan_ok=True)


@pytest.mark.slow
@given(sentences)
def test_it_does_not_matter_which_comes_first_nor_on_what_scale(drawn: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in drawn], [b for _, b in drawn]
    assert of(first, second) == pytest.approx(of(second, first), nan_ok=True)
    assert of(first, second) == pytest.approx(of([math.exp(a) for a in first], second), nan_ok=True)


def test_only_candidates_count() -> None:
    first, second = torch.tensor([[1.0, 9.0, 2.0, 3.0]]), torch.tensor([[1.0, 0.0, 3.0, 2.0]])
    candidates = torch.tensor([[True, False, True, True]])
    assert rank_correlations(first, second, candidates)[0].tolist() == pytest.approx([1 / 3, 0.5])


def test_short_sentences_and_those_without_differences_are_left_out_and_counted() -> None:
    scores = {
        "a": torch.tensor([[1.0, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]),
        "b": torch.tensor([[1.0, 2, 3], [1, 3, 2], [5, 5, 5], [1, 2, 3]]),
    }
    candidates = torch.ones(4, 3, dtype=torch.bool)
    candidates[3, 0] = False
    [found] = correlate(scores, candidates)
    assert (found.first, found.second, found.instances, found.left_out) == ("a", "b", 2, 2)
    assert found.kendall is not None
    assert found.spearman is not None
    assert (found.kendall.mean, found.spearman.mean) == pytest.approx((2 / 3, 0.75))
    assert found.kendall.low == pytest.approx(1 / 3)
    assert found.kendall.high == pytest.approx(1)


def test_every_pair_is_compared_once_and_without_a_sentence_there_is_no_number() -> None:
    [found] = correlate({"a": torch.ones(2, 3), "b": torch.ones(2, 3)}, torch.ones(2, 3, dtype=torch.bool))
    assert (found.kendall, found.spearman, found.instances, found.left_out) == (None, None, 0, 2)
    scores = {name: torch.rand(5, 4, generator=torch.Generator().manual_seed(0)) for name in "abc"}
    pairs = correlate(scores, torch.ones(5, 4, dtype=torch.bool))
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert correlate({"a": torch.ones(1, 3)}, torch.ones(1, 3, dtype=torch.bool)) == ()


def test_sentences_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    first, second = torch.rand(7, 5, generator=generator), torch.rand(7, 5, generator=generator)
    candidates = torch.rand(7, 5, generator=generator) < 0.8
    whole = rank_correlations(first, second, candidates)
    monkeypatch.setattr("pssa.evaluation.agreement._AT_ONCE", 2)
    np.testing.assert_array_equal(rank_correlations(first, second, candidates), whole)
