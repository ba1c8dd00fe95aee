"""The order of words by their scores."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from pssa.evaluation.ranking import rank_words


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
