"""Attention times gradient: by hand, by finite differences of the attention, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from tests.models.encoders import ARCHITECTURES, tiny_encoder
from tests.models.variants import REFINED, build, index, predict
from tests.saliency.toys import Toy, draw_model, make_batch
from torch import Tensor

from pssa import models
from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Encoding, Heads, Prediction
from pssa.saliency import normalise, score_words
from pssa.saliency._noise import Noise
from pssa.saliency.self_attention import SelfAttention

# Four positions, each a word, of which the first two are the rows that count and the last three may be scored. What each
# head gives, and what an attention of one would be worth to class 0; class 1 has nothing.
GIVEN = torch.tensor(
    [
        [[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]],
        [[0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]],
    ],
    dtype=torch.float64,
)
WORTH = torch.tensor(
    [
        [[9.0, 1.0, -2.0, 3.0], [9.0, 1.0, -2.0, -3.0], [9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]],
        [[9.0, 2.0, 0.0, 1.0], [9.0, 0.0, 0.0, 5.0], [9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]],
    ],
    dtype=torch.float64,
)
# Head 0: |.2 + .2|, |-.6 - .6|, |1.2 - 1.2|. Head 1: |.6 + 0|, 0, |.1 + .5|.
HEAD_0, HEAD_1 = [0, 0.25, 0.75, 0], [0, 0.5, 0, 0.5]
BATCH = make_batch([[3, 4, 5, 6]], [[0, 1, 1, 1]])


@dataclass
class HeadsToy:
    """Class 0's logit is the sum of attention times worth; calls are recorded."""

    share: list[float]
    classified: list[int] = field(default_factory=list)

    def encode(self, batch: Batch) -> Encoding:
        words = torch.zeros(*batch.positions.shape, 1, dtype=torch.float64)
        return Encoding(words, words[:, 0])

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        n_rows = len(batch.positions)
        self.classified.append(n_rows)
        # The input's own value scales what head 0 gives to the second word: noise can be followed there.
        scale = torch.ones(n_rows, 2, 4, 4, dtype=torch.float64)
        scale = scale + torch.nn.functional.one_hot(torch.tensor(1), 4) * encoding.words[:, 1, 0].view(-1, 1, 1, 1)
        weights = GIVEN * scale
        value = (weights * WORTH).sum(dim=(1, 2, 3))
        rows = torch.tensor([True, True, False, False]).expand(n_rows, -1)
        share = torch.tensor(self.share, dtype=torch.float64).expand(n_rows, -1)
        return Prediction(torch.stack([value, torch.zeros_like(value)], dim=1), None, Heads(weights, rows, share))


@pytest.mark.parametrize(
    ("share", "expected"),
    [([1.0, 0.0], HEAD_0), ([0.0, 1.0], HEAD_1), ([0.5, 0.5], [0, 0.375, 0.375, 0.25])],
)
def test_the_effect_is_summed_over_rows_then_shared_out(share: list[float], expected: list[float]) -> None:
    scores = score_words(SelfAttention(samples=0), HeadsToy(share), BATCH)
    assert scores.tolist() == [pytest.approx(expected)]


def test_pieces_of_a_word_are_added_up() -> None:
    batch = make_batch([[3, 4, 5, 6]], [[0, 1, 1]], word_of=[[0, 1, 2, 2]])
    scores = score_words(SelfAttention(samples=0), HeadsToy([0.0, 1.0]), batch)
    assert scores.tolist() == [pytest.approx([0, 0.5, 0.5])]
    only = make_batch([[3, 4, 5, 6]], [[0, 1]], word_of=[[0, -2, 1, -2]])
    assert score_words(SelfAttention(samples=0), HeadsToy([1.0, 0.0]), only).tolist() == [pytest.approx([0, 1])]


def test_each_sample_is_normalised_and_then_averaged() -> None:
    noise = Noise(4, 0.5, seed=3)
    noised = noise.add(HeadsToy([1.0, 0.0]).encode(BATCH), BATCH.real).words[:, 1, 0]  # (S,)
    effects = torch.stack([0.4 * (1 + noised).abs(), torch.full((4,), 1.2)], dim=1)
    expected = (effects / effects.sum(dim=1, keepdim=True)).mean(dim=0)
    scores = score_words(SelfAttention(samples=4, sigma=0.5, seed=3), HeadsToy([1.0, 0.0]), BATCH)
    assert scores[0].tolist() == pytest.approx([0, *expected.tolist(), 0])


def test_the_samples_are_one_batch() -> None:
    model = HeadsToy([1.0, 0.0])
    SelfAttention(samples=10)(model, BATCH)
    assert model.classified == [1, 10]


REAL_BATCH = make_batch([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]], [[0, 1, 1, 1, 1], [0, 1, 1, 0, 0]])


@pytest.mark.slow
@pytest.mark.parametrize("variant", REFINED)
def test_scores_agree_with_finite_differences_of_the_attention(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = draw_model(variant, 12)
    with torch.no_grad():
        encoding = model.encode(REAL_BATCH)
        clean = model.classify(encoding, REAL_BATCH)
        noised = Noise(1, 0.15, seed=5).add(encoding, REAL_BATCH.real)
        heads = model.classify(noised, REAL_BATCH).heads
        slope = _finite_differences(model, noised, clean.logits.argmax(dim=1), heads.weights, monkeypatch)
    effects = (heads.weights * slope * heads.rows[:, None, :, None]).sum(dim=2).abs()  # (B, H, P)
    shares = torch.stack([normalise(effects[:, head], REAL_BATCH.candidates) for head in range(2)], dim=1)
    expected = (shares * clean.heads.share[:, :, None]).sum(dim=1)
    scores = score_words(SelfAttention(samples=1, seed=5), model, REAL_BATCH)
    torch.testing.assert_close(scores, expected, atol=1e-7, rtol=1e-6)
    assert (scores[REAL_BATCH.candidates] > 0).all()


def _finite_differences(
    model: Any, encoding: Encoding, classes: Tensor, weights: Tensor, monkeypatch: pytest.MonkeyPatch
) -> Tensor:
    """(B, H, P, P) the change of each row's logit with each weight, by adding to what the top layer's softmax returns."""
    softmax, nudge, step = torch.nn.functional.softmax, torch.zeros_like(weights), 1e-5
    monkeypatch.setattr(torch.nn.functional, "softmax", lambda scores, dim: softmax(scores, dim=dim) + nudge)

    def logits() -> Tensor:
        every: Tensor = model.classify(encoding, REAL_BATCH).logits
        return every.gather(1, classes[:, None]).squeeze(1)

    slope = torch.zeros_like(weights)
    for head, row, column in torch.cartesian_prod(*(torch.arange(size) for size in weights.shape[1:])).tolist():
        nudge[:, head, row, column] = step
        above = logits()
        nudge[:, head, row, column] = -step
        slope[:, head, row, column] = (above - logits()) / (2 * step)
        nudge[:, head, row, column] = 0
    monkeypatch.undo()
    return slope


def test_heads_are_mixed_by_the_clean_choice() -> None:
    # A random head alone, and the mean of both, of one model with the same weights.
    one, both = (draw_model(f"bertabsa-{way}", 12) for way in ("random_head", "average"))
    other = draw_model("bertabsa-random_head", 12)
    share = other.get_buffer("encoder.refinement.share")
    share.copy_(1 - share)
    scores = [score_words(SelfAttention(), model, REAL_BATCH) for model in (one, other, both)]
    assert not torch.allclose(scores[0], scores[1])
    torch.testing.assert_close((scores[0] + scores[1]) / 2, scores[2])


def test_a_model_whose_parameters_are_frozen_can_be_asked() -> None:
    model = draw_model("bertabsa_cls-average", 12)
    expected = score_words(SelfAttention(), model, REAL_BATCH)
    assert torch.equal(score_words(SelfAttention(), model.requires_grad_(False), REAL_BATCH), expected)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("variant", REFINED)
def test_weights_in_half_the_space_score_almost_the_same(variant: str, architecture: str) -> None:
    model, batch = build(variant, tiny_encoder(architecture)), index(variant, architecture).batch(torch.arange(5))
    assert isinstance(model, AspectModel)
    exact, classes = score_words(SelfAttention(samples=3), model, batch), predict(model, batch).logits.argmax(dim=1)
    models.narrow(model)
    scores = score_words(SelfAttention(samples=3), model, batch)
    same = (
        predict(model, batch).logits.argmax(dim=1) == classes
    )  # scores are of the predicted class, and some are close
    assert scores.dtype == torch.float32
    assert same.sum() >= 4
    torch.testing.assert_close(scores[same], exact[same], rtol=0, atol=0.2)


def test_a_model_without_refined_self_attention_is_refused() -> None:
    toy = Toy(torch.zeros(8, 1), torch.zeros(1, 2))
    with pytest.raises(InputError, match="self-attention is not refined; set its"):
        SelfAttention()(toy, BATCH)


@pytest.mark.parametrize(("options", "message"), [({"samples": -1}, "samples is -1"), ({"sigma": -0.1}, "sigma >= 0")])
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SelfAttention(**options)
