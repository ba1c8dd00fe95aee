"""Word vectors in a model: which rows are parameters, look-up over both parts, and initial values."""

from __future__ import annotations

import torch
from torch import nn

from pssa.models._words import WordTable, lookup, reset_parameters

MATRIX = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def test_only_training_words_become_parameters() -> None:
    trained, fixed = WordTable(MATRIX, n_trained=3).divide(trainable=True)
    assert trained.tolist() == MATRIX[:3].tolist()
    assert fixed.tolist() == [[3.0, 3.0]]


def test_vectors_that_stay_as_they_are_have_no_parameters() -> None:
    trained, fixed = WordTable(MATRIX, n_trained=3).divide(trainable=False)
    assert trained.shape == (0, 2)
    assert torch.equal(fixed, MATRIX)


def test_a_division_shares_no_memory_with_the_table() -> None:
    table = WordTable(MATRIX.clone(), n_trained=3)
    for part in table.divide(trainable=True):
        part.add_(9)
    assert torch.equal(table.matrix, MATRIX)


def test_rows_are_found_wherever_the_table_is_divided() -> None:
    ids = torch.tensor([[3, 0], [1, 2]])
    for cut in range(5):
        assert torch.equal(lookup(MATRIX[:cut], MATRIX[cut:], ids), MATRIX[ids])


def test_the_gradient_goes_to_the_rows_that_were_looked_up() -> None:
    trained = MATRIX[:3].clone().requires_grad_()
    lookup(trained, MATRIX[3:], torch.tensor([[1, 3, 1]])).sum().backward()  # type: ignore[no-untyped-call]
    assert trained.grad is not None
    assert trained.grad.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]


def test_matrices_are_drawn_within_the_bound_and_biases_are_zero() -> None:
    layer = nn.Linear(50, 40)
    reset_parameters(layer, 0.01, torch.Generator().manual_seed(0))
    assert layer.bias.tolist() == [0.0] * 40
    assert float(layer.weight.detach().abs().max()) <= 0.01
    # The standard deviation of a uniform distribution on [-b, b] is b / sqrt(3).
    assert abs(float(layer.weight.detach().std()) - 0.01 / 3**0.5) < 2e-4
