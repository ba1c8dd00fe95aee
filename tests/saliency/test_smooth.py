"""Noise around any saliency."""

from __future__ import annotations

import pytest
import torch
from tests.saliency.toys import Toy, make_batch
from torch import Tensor

from pssa.data.batch import Batch
from pssa.errors import InputError
from pssa.models import AspectClassifier
from pssa.saliency import Smooth, score_words
from pssa.saliency.gradient import Gradient
from pssa.saliency.leave_one_out import LeaveOneOut

TABLE = torch.tensor([[0.0], [0.0], [0.0], [1.0], [2.0], [6.0]], dtype=torch.float64)
WEIGHTS = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
BATCH = make_batch([[3, 4, 5]], [[0, 1, 1]])


def first_cell(model: AspectClassifier, batch: Batch) -> Tensor:
    return model.encode(batch).words[..., 0]


def test_the_mean_of_the_samples_shares_is_given() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.shares: list[Tensor] = []

        def __call__(self, model: AspectClassifier, batch: Batch) -> Tensor:
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
    with pytest.raises(InputError, match="expected 1 or more, and a finite sigma"):
        Smooth(first_cell, samples, sigma)
