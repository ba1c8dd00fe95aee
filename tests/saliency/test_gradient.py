"""Gradient times representation: by hand, by finite differences, and what it costs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.models.variants import VARIANTS
from tests.saliency.toys import Toy, draw_model, make_batch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch
from pssa.saliency import normalise, score_words
from pssa.saliency._noise import Noise, stack
from pssa.saliency.gradient import Gradient

# Ids 3 to 6 stand for (1, 0), (0, 2), (3, 1), (-1, -1); against class 0's (1, 2) they score 1, 4, 5, -3, and class 0
# wins over class 1's (-1, 0). The first word is the aspect.
TABLE = torch.tensor([[0, 0], [0, 0], [0, 0], [1, 0], [0, 2], [3, 1], [-1, -1]], dtype=torch.float64)
WEIGHTS = torch.tensor([[1, -1], [2, 0]], dtype=torch.float64)
BATCH = make_batch([[3, 4, 5, 6], [4, 5, 6, 0]], [[0, 1, 1, 1], [0, 1, 1, 0]])


def linear() -> Toy:
    return Toy(TABLE, WEIGHTS)


def scores_of(batch: Batch = BATCH, model: AspectModel | None = None, **options: Any) -> list[list[float]]:
    rows: list[list[float]] = score_words(Gradient(**options), model or linear(), batch).tolist()
    return rows


def test_a_linear_head_is_scored_by_its_weights_times_the_representation() -> None:
    expected = [[0, 4 / 12, 5 / 12, 3 / 12], [0, 5 / 8, 3 / 8, 0]]
    assert scores_of(samples=0) == [pytest.approx(row) for row in expected]
    # A linear head has the same gradient everywhere, so noise changes nothing.
    assert scores_of(samples=7, sigma=3.0) == [pytest.approx(row) for row in expected]


def test_the_gold_class_can_be_followed_instead_where_there_is_one() -> None:
    # Class 1 sees (-1, 0): 0, -3 and 1 for the words 4, 5 and 6.
    gold = replace(BATCH, labels=torch.tensor([1, 0]))
    assert scores_of(gold, samples=0, target="gold") == [
        pytest.approx(row) for row in ([0, 0, 0.75, 0.25], [0, 5 / 8, 3 / 8, 0])
    ]
    with pytest.raises(InputError, match="needs labelled data"):
        scores_of(replace(BATCH, labels=torch.tensor([0, -1])), target="gold")


def test_signed_scores_are_shifted_by_their_minimum_if_it_is_negative() -> None:
    # 4, 5, -3 become 7, 8, 0; the excluded words stay out.
    assert scores_of(samples=0, signed_shift=True)[0] == pytest.approx([0, 7 / 15, 8 / 15, 0])
    batch = make_batch([[3, 4, 5]], [[0, 1, 1]])
    assert scores_of(batch, samples=0, signed_shift=True) == [pytest.approx([0, 4 / 9, 5 / 9])]


def test_pieces_of_a_word_count_by_their_absolute_scores() -> None:
    # Pieces of 5 and -3 make a word of 8, where their sum would be 2.
    batch = make_batch([[3, 4, 5, 6]], [[0, 1, 1]], word_of=[[0, 1, 2, 2]])
    assert scores_of(batch, samples=0) == [pytest.approx([0, 4 / 12, 8 / 12])]
    assert scores_of(batch, samples=0, signed_shift=True) == [pytest.approx([0, 4 / 6, 2 / 6])]


def noised_signed_scores(noise: Noise) -> Tensor:
    # d sum tanh(h) w / dh = (1 - tanh(h)^2) w, taken at the noised h, times the clean h: (S, P).
    encoding = linear().encode(BATCH)
    noised = noise.add(encoding, BATCH.real).words.view(noise.samples, *encoding.words.shape)
    return ((1 - noised.tanh() ** 2) * WEIGHTS[:, 0] * encoding.words).sum(dim=-1)[:, 0]


def test_each_sample_is_normalised_and_then_averaged() -> None:
    noise = Noise(4, 0.5, seed=3)
    signed = noised_signed_scores(noise)
    signed[:, 0] = 0
    expected = (signed.abs() / signed.abs().sum(dim=1, keepdim=True)).mean(dim=0)
    scores = scores_of(model=Toy(TABLE, WEIGHTS, saturates=True), samples=4, sigma=0.5, seed=3)
    assert scores[0] == pytest.approx(expected.tolist())


def test_raw_averages_are_taken_before_absolute_values() -> None:
    mean = noised_signed_scores(Noise(4, 0.5, seed=3)).mean(dim=0).abs()
    mean[0] = 0
    scores = scores_of(model=Toy(TABLE, WEIGHTS, saturates=True), samples=4, sigma=0.5, seed=3, average="raw")
    assert scores[0] == pytest.approx((mean / mean.sum()).tolist())


def test_the_released_reading_is_average_shift_mask_normalise() -> None:
    mean = noised_signed_scores(Noise(4, 0.5, seed=3)).mean(dim=0)
    mean[0] = 0
    shifted = mean - mean.min()
    shifted[0] = 0
    options: dict[str, Any] = {"target": "gold", "signed_shift": True, "average": "raw"}
    scores = scores_of(model=Toy(TABLE, WEIGHTS, saturates=True), samples=4, sigma=0.5, seed=3, **options)
    assert mean.min() < 0
    assert scores[0] == pytest.approx((shifted / shifted.sum()).tolist())


def test_the_encoder_runs_once_and_the_samples_are_one_batch() -> None:
    model = linear()
    Gradient(samples=10)(model, BATCH)
    assert model.encoded == [2]
    assert model.classified == [2, 20]  # the clean prediction, then all samples


def test_the_class_is_the_one_of_the_clean_prediction() -> None:
    # Class 0 leads by a hair in h and loses in many noisy samples, whose own class would score the words otherwise.
    table = torch.tensor([[0.0, 0], [0, 0], [0, 0], [1, 0.99], [1, 0]])
    model = Toy(table, torch.tensor([[1.0, 0], [0, 1.0]]))
    batch = make_batch([[3, 3, 4]], [[0, 1, 1]])
    assert scores_of(batch, model, samples=50, sigma=5.0) == [pytest.approx([0, 0.5, 0.5])]


REAL_BATCH = make_batch([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]], [[0, 1, 1, 1, 1], [0, 1, 1, 0, 0]])


def test_mn_of_one_hop_without_noise_is_attention_times_the_words_own_logit() -> None:
    model = draw_model("memnet", 12, bound=1.0, hops=1)
    encoding = model.encode(REAL_BATCH)
    prediction = model.classify(encoding, REAL_BATCH)
    own = torch.einsum("bpd,bd->bp", encoding.words, model.output.weight[prediction.logits.argmax(dim=1)])
    expected = normalise((prediction.attention * own).abs(), REAL_BATCH.candidates)
    torch.testing.assert_close(score_words(Gradient(samples=0), model, REAL_BATCH), expected)


def test_noise_reaches_mn_through_its_memory() -> None:
    model = draw_model("memnet", 12, bound=1.0)
    plain = score_words(Gradient(samples=0), model, REAL_BATCH)
    noised = score_words(Gradient(samples=10, sigma=0.5), model, REAL_BATCH)
    assert not torch.allclose(plain, noised, atol=1e-3)


def test_noise_on_the_word_vectors_is_another_reading_and_none_of_it_changes_nothing() -> None:
    model, batch = draw_model("tnet_att", 7), BATCH
    clean = score_words(Gradient(samples=0), model, batch)
    quiet = score_words(Gradient(sigma=0.0, samples=3, noise_on="input"), model, batch)
    assert torch.allclose(clean, quiet)
    on_states, on_input = (
        score_words(Gradient(sigma=0.5, noise_on=place), model, batch) for place in ("states", "input")
    )
    assert not torch.allclose(on_states, on_input)
    assert torch.allclose(on_input.sum(dim=1), torch.ones(len(on_input), dtype=on_input.dtype))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_agree_with_finite_differences(variant: str) -> None:
    model = draw_model(variant, 12)
    with torch.no_grad():
        encoding = model.encode(REAL_BATCH)
        classes = model.classify(encoding, REAL_BATCH).logits.argmax(dim=1)
        samples = []
        for seed in (5, 6):
            noised = Noise(1, 0.15, seed).add(encoding, REAL_BATCH.real)
            slope = _finite_differences(model, noised, REAL_BATCH, classes)
            samples.append(normalise((slope * encoding.words).sum(dim=-1).abs(), REAL_BATCH.candidates))
    for seed, expected in zip((5, 6), samples, strict=True):
        scores = score_words(Gradient(samples=1, sigma=0.15, seed=seed), model, REAL_BATCH)
        torch.testing.assert_close(scores, expected, atol=1e-7, rtol=1e-6)


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
def test_words_whose_states_reach_no_logit_have_no_score_at_all(name: str) -> None:
    # Only the aspect's states, or that of [CLS], are classified: the gradient at every other one is exactly zero.
    assert Gradient()(draw_model(name, 12), REAL_BATCH).tolist() == torch.zeros(2, 5).tolist()
    # Below the top layer there is one: its attention leads from the words to the aspect.
    refined = score_words(Gradient(), draw_model(f"{name}-average", 12), REAL_BATCH)
    assert (refined[REAL_BATCH.candidates] > 0).all()


def _finite_differences(model: Any, encoding: Any, batch: Batch, classes: Tensor, step: float = 1e-5) -> Tensor:
    n_rows, *cells = encoding.words.shape
    nudges = torch.eye(math.prod(cells), dtype=torch.float64).view(-1, 1, *cells) * step
    stacked, times = stack(encoding, len(nudges)), len(nudges)

    def logits(words: Tensor) -> Tensor:
        every: Tensor = model.classify(replace(stacked, words=words.flatten(0, 1)), batch.repeat(times)).logits
        return every.gather(1, classes.repeat(times)[:, None]).view(times, n_rows)

    slope = (logits(encoding.words + nudges) - logits(encoding.words - nudges)) / (2 * step)
    return slope.T.reshape(encoding.words.shape)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": -1}, "samples is -1"),
        ({"sigma": -0.1}, "sigma >= 0"),
        ({"sigma": math.nan}, "sigma >= 0"),
        ({"target": "best"}, "target is 'best'; it can be predicted or gold"),
        ({"average": "mean"}, "average is 'mean'; it can be scores or raw"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gradient(**options)
