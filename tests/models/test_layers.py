"""The layers that models share, by numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from pssa.models._layers import (
    WordTable,
    _RowProduct,
    attend,
    dropout,
    lookup,
    masked_softmax,
    match,
    pool_words,
    reset_parameters,
)

LN3 = math.log(3)


def test_softmax_runs_over_the_mask_alone_and_does_not_overflow() -> None:
    weights = masked_softmax(torch.tensor([[LN3, 9.0, 0.0]]), torch.tensor([[True, False, True]]))
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.0, 0.25]]))
    mask = torch.tensor([[True, True, False]])
    assert masked_softmax(torch.tensor([[1e30, -1e30, 1e38]]), mask).tolist() == [[1.0, 0.0, 0.0]]


def test_a_row_without_anything_to_attend_is_all_zero() -> None:
    scores = torch.tensor([[1.0, 2.0], [0.0, 0.0]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[False, False], [True, True]]))
    assert weights.tolist() == [[0.0, 0.0], [0.5, 0.5]]
    weights[:, 0].sum().backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0.0, 0.0], [0.25, -0.25]]


def test_words_are_summed_by_their_weights() -> None:
    words = torch.tensor([[[4.0, 0.0], [0.0, 8.0], [100.0, 100.0]]])
    summary, weights = attend(torch.tensor([[LN3, 0.0, 5.0]]), torch.tensor([[True, True, False]]), words)
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.25, 0.0]]))
    torch.testing.assert_close(summary, torch.tensor([[3.0, 2.0]]))


def test_our_own_gradients_of_attention_are_those_of_autograd() -> None:
    # Whole numbers, so that no order of adding rounds. Without gradients, attention is a plain product of tensors.
    generator = torch.Generator().manual_seed(0)
    query, weights, words = (
        torch.randint(-8, 9, shape, generator=generator).float().requires_grad_()
        for shape in ((2, 3), (2, 4), (2, 4, 3))
    )
    ours = match(query, words), _RowProduct.apply(weights, words, False)  # type: ignore[no-untyped-call]
    plain = torch.einsum("bd,bpd->bp", query, words), torch.einsum("bp,bpd->bd", weights, words)
    for own, expected, row in zip(ours, plain, (query, weights), strict=True):
        assert torch.equal(own, expected)
        pairs = (torch.autograd.grad(each.square().sum(), (row, words)) for each in (own, expected))
        assert all(map(torch.equal, *pairs))


def test_the_pieces_of_a_word_are_added_up_and_special_tokens_left_out() -> None:
    values = torch.tensor([[0.4, 0.1, 0.2, 0.3], [0.5, 0.25, 0.125, 9.0]])
    word_of = torch.tensor([[-1, 0, 0, 1], [2, 0, 1, -1]])
    expected = torch.tensor([[0.3, 0.3, 0.0], [0.25, 0.125, 0.5]])
    torch.testing.assert_close(pool_words(values, word_of, n_words=3), expected)


N = 1 << 18
RATES = [(0.1, 26), (0.3, 77), (0.5, 128), (0.9, 230)]  # and how many of the 256 values of a byte drop


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(("rate", "dropping"), RATES)
def test_the_share_that_is_dropped_is_the_rate_and_the_mean_stays(rate: float, dropping: int) -> None:
    share = float((dropout(torch.ones(N), rate, training=True) == 0).float().mean())
    exact = dropping / 256
    assert abs(exact - rate) <= 1 / 512
    assert abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / N)
    values = torch.full((N,), 3.0)
    out = dropout(values, rate, training=True)
    scale = 256 / (256 - dropping)
    assert sorted(set(out.tolist())) == pytest.approx([0.0, 3.0 * scale])
    deviation = 3.0 * math.sqrt((scale - 1) / N)  # of the mean of N values that are 3 * scale with probability 1/scale
    assert abs(float(out.mean()) - 3.0) < 5 * deviation


def test_no_value_of_a_draw_depends_on_its_neighbours() -> None:
    kept = (dropout(torch.ones(N), 0.5, training=True) > 0).float() - 0.5
    for distance in range(1, 9):  # eight values share one random number
        correlation = float((kept[:-distance] * kept[distance:]).mean()) * 4
        assert abs(correlation) < 5 / math.sqrt(N)


def test_nothing_happens_outside_training_or_at_rate_zero() -> None:
    values = torch.randn(5, 3)
    state = torch.get_rng_state()
    assert dropout(values, 0.5, training=False) is values
    assert dropout(values, 0.0, training=True) is values
    assert torch.equal(torch.get_rng_state(), state)


def test_the_same_seed_drops_the_same_values_and_the_next_call_others() -> None:
    values = torch.arange(1.0, 3001.0).view(100, 30)
    first, second = dropout(values, 0.3, training=True), dropout(values, 0.3, training=True)
    torch.manual_seed(0)
    assert torch.equal(dropout(values, 0.3, training=True), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (8,), (3, 5, 2), (0, 4)])
def test_any_shape_is_kept(shape: tuple[int, ...]) -> None:
    out = dropout(torch.ones(shape), 0.5, training=True)
    assert out.shape == shape
    assert set(out.flatten().tolist()) <= {0.0, 2.0}


def test_the_gradient_is_zero_where_a_value_was_dropped_and_scaled_elsewhere() -> None:
    values = torch.ones(1000, requires_grad=True)
    out = dropout(values, 0.5, training=True)
    out.sum().backward()  # type: ignore[no-untyped-call]
    assert values.grad is not None
    assert torch.equal(values.grad, out.detach())


def test_some_values_live_at_any_rate_below_one() -> None:
    out = dropout(torch.ones(N), 0.9999, training=True)
    assert set(out.tolist()) == {0.0, 256.0}


MATRIX = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def test_only_training_words_become_parameters_of_their_own() -> None:
    trained, fixed = WordTable(MATRIX, n_trained=3).divide(trainable=True)
    assert trained.tolist() == MATRIX[:3].tolist()
    assert fixed.tolist() == [[3.0, 3.0]]
    trained, fixed = WordTable(MATRIX, n_trained=3).divide(trainable=False)
    assert trained.shape == (0, 2)
    assert torch.equal(fixed, MATRIX)
    table = WordTable(MATRIX.clone(), n_trained=3)
    for part in table.divide(trainable=True):
        part.add_(9)
    assert torch.equal(table.matrix, MATRIX)


def test_rows_are_found_wherever_the_table_is_divided_and_get_the_gradient() -> None:
    ids = torch.tensor([[3, 0], [1, 2]])
    for cut in range(5):
        assert torch.equal(lookup(MATRIX[:cut], MATRIX[cut:], ids), MATRIX[ids])
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
