"""Votes and SAMME with numbers that can be followed on paper."""

from __future__ import annotations

import math

import pytest
import torch

from pssa.runs.methods.baselines import samme_round
from pssa.runs.torch_runtime import combine


@pytest.mark.parametrize(
    ("probabilities", "says", "decided"),
    [
        ([[0.4, 0.35, 0.25], [0.4, 0.35, 0.25], [0.0, 1.0, 0.0]], [1, 1, 1], 0),  # the majority beats confidence
        ([[0.6, 0.4, 0.0], [0.1, 0.9, 0.0]], [1, 1], 1),  # a tie is broken by the mean probability
        ([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0]], [1, 1], 0),
        ([[0.6, 0.2, 0.2], [0.2, 0.7, 0.1], [0.0, 0.45, 0.55]], [1, 1, 1], 1),
        ([[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]], [1, 1, 0], 1),  # also beside a member without a say
        ([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [3, 1, 1], 0),  # a heavy vote beats two light ones
        ([[1.0, 0.0], [0.4, 0.6], [0.4, 0.6]], [1, 0.52, 0.5], 1),  # a narrow vote counts, 1.00 against 1.02
        ([[0.6, 0.4], [0.0, 1.0], [0.0, 1.0]], [2, 0, 0], 0),  # who has no say does not vote
    ],
)
def test_votes_decide_and_means_break_ties(probabilities: list[list[float]], says: list[float], decided: int) -> None:
    assert int(combine(torch.tensor(probabilities)[:, None], torch.tensor(says).float()).argmax()) == decided


def test_answers_are_distributions_in_the_order_of_the_instances() -> None:
    probabilities = torch.tensor([[[0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6]]])
    answers = combine(probabilities, torch.ones(2))
    torch.testing.assert_close(answers.sum(dim=1), torch.ones(2))
    assert answers.argmax(dim=1).tolist() == [0, 1]


def test_a_round_of_samme_is_the_one_worked_out_by_hand() -> None:
    # One of four is wrong: error 1/4, vote weight ln 3 + ln 2 = ln 6; weights 1 1 1 6, of sum 9, brought to a mean of one.
    vote_weight, weights = samme_round(torch.ones(4), torch.tensor([False, False, False, True]), n_classes=3)
    assert vote_weight == pytest.approx(math.log(6))
    torch.testing.assert_close(weights, torch.tensor([1.0, 1.0, 1.0, 6.0]) * 4 / 9)


def test_the_error_is_weighted() -> None:
    # The mistake holds 1 of 8: vote weight ln 7 in two classes; weights 3 4 7 of sum 14.
    vote_weight, weights = samme_round(torch.tensor([3.0, 4.0, 1.0]), torch.tensor([False, False, True]), n_classes=2)
    assert vote_weight == pytest.approx(math.log(7))
    torch.testing.assert_close(weights, torch.tensor([3.0, 4.0, 7.0]) * 3 / 14)


def test_a_member_without_mistakes_has_a_large_but_finite_say_and_leaves_the_weights() -> None:
    before = torch.tensor([0.5, 1.5])
    vote_weight, weights = samme_round(before, torch.tensor([False, False]), n_classes=3)
    assert vote_weight == pytest.approx(math.log((1 - 1e-5) / 1e-5) + math.log(2))
    torch.testing.assert_close(weights, before)


@pytest.mark.parametrize("n_wrong", [3, 4])
def test_a_member_worse_than_chance_has_no_say_and_the_weights_start_afresh(n_wrong: int) -> None:
    # Chance in three classes is an error of 2/3.
    wrong = torch.arange(4) < n_wrong
    vote_weight, weights = samme_round(torch.tensor([1.0, 1.0, 1.0, 1.0]), wrong, n_classes=3)
    assert vote_weight == 0
    assert weights.tolist() == [1.0] * 4


def test_three_classes_allow_more_errors_than_two() -> None:
    wrong = torch.tensor([True, True, True, False, False])
    assert samme_round(torch.ones(5), wrong, n_classes=2)[0] == 0
    assert samme_round(torch.ones(5), wrong, n_classes=3)[0] == pytest.approx(math.log(2 / 3) + math.log(2))
