"""Noise on h(x)."""

from __future__ import annotations

import pytest
import torch

from pssa.errors import InputError
from pssa.models import Encoding
from pssa.saliency._noise import Noise

REAL = torch.ones(1, 80, dtype=torch.bool)


def zeros(rows: int, positions: int, width: int = 6, memory: bool = False) -> Encoding:
    words = torch.zeros(rows, positions, width)
    return Encoding(words, torch.arange(rows)[:, None].float(), words.clone() if memory else None)


def test_noise_has_mean_zero_and_the_asked_deviation() -> None:
    noised = Noise(200, 0.15, seed=0).add(zeros(1, 80), REAL).words
    assert noised.mean().item() == pytest.approx(0, abs=0.002)
    assert noised.std().item() == pytest.approx(0.15, rel=0.02)


def test_samples_differ_and_rows_share_them() -> None:
    noised = Noise(2, 0.1, seed=0).add(zeros(3, 5), REAL[:, :5].expand(3, -1)).words.view(2, 3, 5, 6)
    assert torch.equal(noised[:, 0], noised[:, 2])
    assert not torch.equal(noised[0], noised[1])


def test_wider_padding_leaves_the_noise_of_a_word_as_it_was() -> None:
    narrow = Noise(3, 0.1, seed=0).add(zeros(1, 7, memory=True), REAL[:, :7])
    wide = Noise(3, 0.1, seed=0).add(zeros(1, 80, memory=True), REAL)
    assert narrow.memory is not None
    assert wide.memory is not None
    assert torch.equal(narrow.words, wide.words[:, :7])
    assert torch.equal(narrow.memory, wide.memory[:, :7])


def test_padding_gets_no_noise_and_memory_its_own() -> None:
    noised = Noise(1, 0.1, seed=0).add(zeros(1, 3), torch.tensor([[True, True, False]])).words
    assert (noised[0, :2] != 0).all()
    assert (noised[0, 2] == 0).all()
    remembered = Noise(1, 0.1, seed=0).add(zeros(1, 3, memory=True), REAL[:, :3])
    assert remembered.memory is not None
    assert (remembered.memory != remembered.words).all()


def test_the_seed_decides_and_the_global_state_does_not_notice() -> None:
    before = torch.random.get_rng_state()
    first, again, other = (Noise(1, 0.1, seed).add(zeros(1, 3), REAL[:, :3]).words for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize(("samples", "sigma"), [(0, 0.1), (3, -1.0)])
def test_impossible_options_are_refused(samples: int, sigma: float) -> None:
    with pytest.raises(InputError, match="expected 1 or more, a finite sigma"):
        Noise(samples, sigma, seed=0)
