"""The objective on predictions written by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from pssa.data.batch import Batch
from pssa.models import Prediction
from pssa.training.losses import DISTANCES, Supervision, attention_penalty, cross_entropy

LN3 = math.log(3)
LOSSES = (math.log(2), math.log(4 / 3))  # of an even guess, and of three to one for the right class


def batch_of(index: list[int], word_of: list[list[int]], n_words: int) -> Batch:
    """Only labels, index and the map from positions to words matter here."""
    n = len(index)
    filler = torch.zeros(n, 2, dtype=torch.long)
    candidates = torch.ones(n, n_words, dtype=torch.bool)
    labels = torch.zeros(n, dtype=torch.long)
    return Batch(filler, torch.tensor(word_of), filler, filler, candidates, labels, torch.tensor(index))


# Examples 1 and 0 of a corpus, in this order, of three words each.
BATCH = batch_of([1, 0], [[0, 1, 2], [0, 1, 2]], 3)


def predicted(logits: list[list[float]] | None = None, attention: Tensor | None = None) -> Prediction:
    return Prediction(torch.tensor(logits or [[0.0, 0.0], [LN3, 0.0]]), attention)


def test_cross_entropy_is_a_value_for_each_example() -> None:
    assert cross_entropy(predicted(), BATCH, None).tolist() == pytest.approx(LOSSES)


def test_weights_belong_to_examples_of_the_corpus_not_to_rows_of_the_batch() -> None:
    weights = torch.tensor([3.0, 0.5])
    assert cross_entropy(predicted(), BATCH, weights).tolist() == pytest.approx([0.5 * LOSSES[0], 3.0 * LOSSES[1]])


# Example 0: word 0 active, word 1 misleading, word 2 free. Example 1: no evidence. The batch is cropped by a word.
SUPERVISED = torch.tensor([[True, True, False, False], [False] * 4])
EXPECTED = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0] * 4])
ATTENTION = [[0.1, 0.2, 0.7], [0.4, 0.5, 0.1]]


@pytest.mark.parametrize(("distance", "expected"), [("squared", 0.36 + 0.25), ("norm", math.sqrt(0.36 + 0.25))])
def test_the_penalty_of_an_example_is_taken_over_its_supervised_words(distance: str, expected: float) -> None:
    supervision = Supervision(EXPECTED, SUPERVISED, gamma=10.0, distance=distance)
    penalty = attention_penalty(predicted(attention=torch.tensor(ATTENTION)), BATCH, supervision)
    assert penalty.tolist() == pytest.approx([0, expected], abs=1e-5)  # the first row has no evidence


def test_the_gradient_of_the_squared_penalty_is_twice_the_difference_on_supervised_words() -> None:
    attention = torch.tensor(ATTENTION, requires_grad=True)
    penalty = attention_penalty(predicted(attention=attention), BATCH, Supervision(EXPECTED, SUPERVISED, 1.0))
    penalty.sum().backward()  # type: ignore[no-untyped-call]
    assert attention.grad is not None
    torch.testing.assert_close(attention.grad, torch.tensor([[0.0, 0.0, 0.0], [-1.2, 1.0, 0.0]]))


@pytest.mark.parametrize("distance", DISTANCES)
def test_attention_as_expected_costs_nothing_and_has_a_finite_gradient(distance: str) -> None:
    attention = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], requires_grad=True)
    supervision = Supervision(EXPECTED, SUPERVISED, 1.0, distance)
    penalty = attention_penalty(predicted(attention=attention), BATCH, supervision)
    penalty.sum().backward()  # type: ignore[no-untyped-call]
    assert attention.grad is not None
    assert penalty.tolist() == pytest.approx([0, 0], abs=1e-9)
    assert torch.all(attention.grad == 0)


def test_the_pieces_of_a_word_are_supervised_together() -> None:
    # [CLS] first first second: word 0 has 0.3 + 0.2, which is what is expected of it.
    batch = batch_of([0], [[-1, 0, 0, 1]], 2)
    attention = torch.tensor([[0.4, 0.3, 0.2, 0.1]])
    supervision = Supervision(torch.tensor([[0.5, 0.0]]), torch.tensor([[True, True]]), 1.0)
    penalty = attention_penalty(predicted([[0.0, 0.0]], attention), batch, supervision)
    assert float(penalty) == pytest.approx(0.1**2)


def test_the_objective_is_float32_whatever_the_model_computed_in() -> None:
    attention = torch.tensor(ATTENTION, dtype=torch.bfloat16)
    prediction = Prediction(torch.zeros(2, 2, dtype=torch.bfloat16), attention)
    # Half of 16 bits would round ln 2 to 0.6914 or 0.6953.
    assert cross_entropy(prediction, BATCH, None).tolist() == pytest.approx([LOSSES[0]] * 2, abs=1e-6)
    penalty = attention_penalty(prediction, BATCH, Supervision(EXPECTED, SUPERVISED, 1.0))
    first, second = attention[1, :2].tolist()
    assert penalty.tolist() == pytest.approx([0, (1 - first) ** 2 + second**2], abs=1e-6)


def test_moving_a_supervision_keeps_its_values() -> None:
    moved = Supervision(EXPECTED, SUPERVISED, 0.5, "norm", rising=7).to(torch.device("cpu"))
    assert torch.equal(moved.expected, EXPECTED)
    assert torch.equal(moved.supervised, SUPERVISED)
    assert (moved.gamma, moved.distance, moved.rising) == (0.5, "norm", 7)
