"""Noise on h(x), and saliencies averaged over it."""

from __future__ import annotations

import pytest
import torch
from tests.saliency.toys import Toy, make_batch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding
from pssa.saliency import Smooth, score_words
from pssa.saliency._noise import Noise
from pssa.saliency.gradient import Gradient
from pssa.saliency.leave_one_out import LeaveOneOut

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


TABLE = torch.tensor([[0.0], [0.0], [0.0], [1.0], [2.0], [6.0]], dtype=torch.float64)
WEIGHTS = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
BATCH = make_batch([[3, 4, 5]], [[0, 1, 1]])


def first_cell(model: AspectModel, batch: Batch) -> Tensor:
    return model.encode(batch).words[..., 0]


def test_the_mean_of_the_samples_shares_is_given() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.shares: list[Tensor] = []

        def __call__(self, model: AspectModel, batch: Batch) -> Tensor:
            cells = first_cell(model, batch)
            self.shares.append(cells[0, 1:] / cells[0, 1:].sum())
            return cells

    recorder = Recorder()
    scores = score_words(Smooth(recorder, samples=5, sigma=0.2), Toy(TABLE, WEIGHTS), BATCH)
    assert len({share[0].item() for share in recorder.shares}) == 5
    torch.testing.assert_close(scores[0, 1:], torch.stack(recorder.shares).mean(dim=0))


def test_without_noise_nothing_changes() -> None:
    for inner in (Gradient(samples=0), LeaveOneOut()):
        model = Toy(TABLE, WEIGHTS, saturates=True)
        smooth = score_words(Smooth(inner, samples=3, sigma=0.0), model, BATCH)
        torch.testing.assert_close(smooth, score_words(inner, model, BATCH))


def test_the_encoder_reads_the_batch_once() -> None:
    model = Toy(TABLE, WEIGHTS)
    Smooth(Gradient(samples=0), samples=4)(model, BATCH)
    assert model.encoded == [1]


def test_the_seed_decides() -> None:
    def scores(seed: int) -> Tensor:
        return score_words(Smooth(first_cell, samples=2, seed=seed), Toy(TABLE, WEIGHTS), BATCH)

    assert torch.equal(scores(0), scores(0))
    assert not torch.equal(scores(0), scores(1))


def test_the_models_own_mask_token_is_still_known() -> None:
    class Masking(Toy):
        mask_id = 5

    model = Masking(TABLE, WEIGHTS)
    Smooth(LeaveOneOut(), samples=1)(model, BATCH)
    assert model.seen[-1].positions.tolist() == [[3, 5, 5], [3, 4, 5]]


@pytest.mark.parametrize(("samples", "sigma"), [(0, 0.1), (3, -1.0)])
def test_impossible_options_are_refused(samples: int, sigma: float) -> None:
    with pytest.raises(InputError, match="expected 1 or more, a finite sigma"):
        Smooth(first_cell, samples, sigma)
