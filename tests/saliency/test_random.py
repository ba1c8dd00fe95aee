"""Random scores."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.saliency.toys import Toy, make_batch

from pssa.errors import InputError
from pssa.saliency.random import Random

TOY = Toy(torch.zeros(8, 1), torch.zeros(1, 2))
BATCH = make_batch([[3] * 500, [4] * 500], [[1] * 500] * 2)


def test_scores_are_uniform() -> None:
    scores = Random()(TOY, BATCH)
    assert 0 <= scores.min() < 0.01
    assert 0.99 < scores.max() <= 1
    assert scores.mean().item() == pytest.approx(0.5, abs=0.03)


def test_the_model_is_not_asked() -> None:
    Random()(TOY, BATCH)
    assert TOY.encoded == TOY.classified == []


def test_an_example_keeps_its_scores_in_another_batch() -> None:
    scores = Random(seed=4)(TOY, BATCH)
    alone = replace(make_batch([[4, 4, 4]], [[1, 1, 1]]), index=torch.tensor([1]))
    assert torch.equal(Random(seed=4)(TOY, alone)[0], scores[1, :3])
    assert not torch.equal(scores[0], scores[1])


def test_seeds_share_no_scores() -> None:
    # Example 1 of seed 0 is not example 0 of seed 1.
    assert not torch.equal(Random(0)(TOY, BATCH)[1], Random(1)(TOY, BATCH)[0])


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError, match="seed is -1"):
        Random(seed=-1)
