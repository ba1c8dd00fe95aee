"""Which heads are refined, and what they give to the words, on weights written by hand."""

from __future__ import annotations

import pytest
import torch
from tests.models.encoders import tiny_encoder
from tests.models.variants import N_LABELS, build, index, predict
from torch import Tensor

from pssa import models
from pssa.models import Heads
from pssa.models._refinement import Refinement, attention_of

# Positions: [CLS], two of the aspect, three candidates. Of the rows, the aspect's two count.
CANDIDATES = torch.tensor([[False, False, False, True, True, True]])
ROWS = torch.tensor([[False, True, True, False, False, False]])
EVEN, PEAKED = [0.0, 0.0, 0.7, 0.1, 0.1, 0.1], [0.3, 0.3, 0.3, 0.0, 0.1, 0.0]


def weights(first: list[float], second: list[float]) -> Tensor:
    """(1, 2, 6, 6) two heads whose counting rows are these; any other row would be noticed."""
    both = torch.full((1, 2, 6, 6), 100.0)
    both[0, 0, 1:3] = torch.tensor(first)
    both[0, 1, 1:3] = torch.tensor(second)
    return both


def refinement(way: str, seed: int = 0) -> Refinement:
    model = models.build("bertabsa", tiny_encoder(), N_LABELS, {"refine": way}, seed)
    found = model.get_submodule("encoder.refinement")
    assert isinstance(found, Refinement)
    return found


def test_the_head_of_the_smallest_entropy_is_the_one_that_looks_at_one_candidate() -> None:
    # Its weight on them lies on one: renormalised, the entropy is zero. As a whole, its rows have the larger one.
    choose = refinement("smallest_entropy")
    assert choose(weights(EVEN, PEAKED), ROWS, CANDIDATES).share.tolist() == [[0, 1]]
    assert choose(weights(PEAKED, EVEN), ROWS, CANDIDATES).share.tolist() == [[1, 0]]


def test_the_head_is_chosen_for_each_example_and_without_a_gradient() -> None:
    both = torch.cat([weights(EVEN, PEAKED), weights(PEAKED, EVEN)]).requires_grad_()
    heads = refinement("smallest_entropy")(both, ROWS.expand(2, -1), CANDIDATES.expand(2, -1))
    assert heads.share.tolist() == [[0, 1], [1, 0]]
    assert not heads.share.requires_grad
    assert heads.weights is both


def test_without_a_candidate_some_head_is_chosen() -> None:
    heads = refinement("smallest_entropy")(weights(EVEN, PEAKED), ROWS, torch.zeros_like(CANDIDATES))
    assert heads.share.sum() == 1
    assert attention_of(heads, torch.zeros_like(CANDIDATES)).tolist() == [[0.0] * 6]


def test_the_average_gives_every_head_its_share() -> None:
    heads = refinement("average")(weights(EVEN, PEAKED).repeat(3, 1, 1, 1), ROWS, CANDIDATES)
    assert heads.share.tolist() == [[0.5, 0.5]] * 3


def test_a_random_head_follows_from_the_seed_and_is_the_same_for_all() -> None:
    drawn = {tuple(refinement("random_head", seed).get_buffer("share").tolist()) for seed in range(8)}
    assert drawn == {(1.0, 0.0), (0.0, 1.0)}
    first, again = (refinement("random_head", 5).get_buffer("share") for _ in range(2))
    assert torch.equal(first, again)
    shares = refinement("random_head", 5)(weights(EVEN, PEAKED).repeat(3, 1, 1, 1), ROWS, CANDIDATES).share
    assert torch.equal(shares, first.expand(3, -1))


def test_a_random_head_is_saved_with_the_weights() -> None:
    one, two = (f"bertabsa-{way}" for way in ("random_head", "random_head"))
    start, batch = tiny_encoder(), index(one).batch(torch.arange(5))
    shares = {seed: refinement("random_head", seed).get_buffer("share") for seed in range(8)}
    other_seed = next(seed for seed, share in shares.items() if not torch.equal(share, shares[0]))
    saved, loaded = build(one, start), build(two, start, seed=other_seed)
    loaded.load_state_dict(saved.state_dict())
    assert torch.equal(predict(loaded, batch).attention, predict(saved, batch).attention)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("share", "expected"),
    [([1.0, 0.0], [0.1, 0.1, 0.1]), ([0.0, 1.0], [0.0, 0.1, 0.0]), ([0.5, 0.5], [0.05, 0.1, 0.05])],
)
def test_attention_is_the_chosen_heads_mean_row_on_the_candidates(share: list[float], expected: list[float]) -> None:
    heads = Heads(weights(EVEN, PEAKED), ROWS, torch.tensor([share]))
    torch.testing.assert_close(attention_of(heads, CANDIDATES), torch.tensor([[0.0, 0.0, 0.0, *expected]]))


def test_the_rows_that_count_are_averaged() -> None:
    both = weights(EVEN, EVEN)
    both[0, :, 2] = torch.tensor(PEAKED)
    heads = Heads(both, ROWS, torch.tensor([[1.0, 0.0]]))
    torch.testing.assert_close(attention_of(heads, CANDIDATES)[0, 3:], torch.tensor([0.05, 0.1, 0.05]))


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
def test_the_rows_that_count_are_the_aspects_or_the_first(name: str) -> None:
    batch = index(name).batch(torch.arange(5))
    heads = predict(build(f"{name}-average", tiny_encoder()), batch).heads
    assert heads is not None
    expected = batch.aspect_positions if name == "bertabsa" else torch.arange(batch.positions.shape[1]) == 0
    assert torch.equal(heads.rows, expected.expand(batch.positions.shape))


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
def test_supervision_of_the_attention_reaches_the_encoder(name: str) -> None:
    model = build(f"{name}-random_head", tiny_encoder())
    attention = predict(model, index(name).batch(torch.arange(5))).attention
    assert attention is not None
    attention.square().sum().backward()  # type: ignore[no-untyped-call]
    query = model.get_parameter("encoder.body.encoder.layer.1.attention.self.query.weight").grad
    assert query is not None
    assert query.any()
