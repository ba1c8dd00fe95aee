"""The shared attention, on numbers whose softmax is known."""

from __future__ import annotations

import math

import torch

from pssa.models._attention import attend, masked_softmax, pool_words

LN3 = math.log(3)


def test_softmax_runs_over_the_mask_alone() -> None:
    weights = masked_softmax(torch.tensor([[LN3, 9.0, 0.0]]), torch.tensor([[True, False, True]]))
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.0, 0.25]]))


def test_a_row_without_anything_to_attend_is_all_zero() -> None:
    scores = torch.tensor([[1.0, 2.0], [0.0, 0.0]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[False, False], [True, True]]))
    assert weights.tolist() == [[0.0, 0.0], [0.5, 0.5]]
    weights[:, 0].sum().backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0.0, 0.0], [0.25, -0.25]]


def test_large_scores_do_not_overflow() -> None:
    mask = torch.tensor([[True, True, False]])
    assert masked_softmax(torch.tensor([[1e30, -1e30, 1e38]]), mask).tolist() == [[1.0, 0.0, 0.0]]


def test_words_are_summed_by_their_weights() -> None:
    words = torch.tensor([[[4.0, 0.0], [0.0, 8.0], [100.0, 100.0]]])
    summary, weights = attend(torch.tensor([[LN3, 0.0, 5.0]]), torch.tensor([[True, True, False]]), words)
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.25, 0.0]]))
    torch.testing.assert_close(summary, torch.tensor([[3.0, 2.0]]))


def test_the_pieces_of_a_word_are_added_up_and_special_tokens_left_out() -> None:
    values = torch.tensor([[0.4, 0.1, 0.2, 0.3], [0.5, 0.25, 0.125, 9.0]])
    word_of = torch.tensor([[-1, 0, 0, 1], [2, 0, 1, -1]])
    expected = torch.tensor([[0.3, 0.3, 0.0], [0.25, 0.125, 0.5]])
    torch.testing.assert_close(pool_words(values, word_of, n_words=3), expected)
