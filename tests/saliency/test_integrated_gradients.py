"""Integrated gradients, by hand and by completeness."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.saliency.toys import Toy, draw_model, make_batch

from pssa import models
from pssa.errors import InputError
from pssa.saliency import score_words
from pssa.saliency._noise import logits_of, predicted_classes
from pssa.saliency.integrated_gradients import IntegratedGradients

TABLE = torch.tensor([[0.0], [0.0], [0.0], [0.5], [2.0], [-1.0]], dtype=torch.float64)
WEIGHTS = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
BATCH = make_batch([[3, 4, 5], [3, 4, 0]], [[0, 1, 1], [0, 1, 0]])


def test_a_sum_of_functions_gives_each_word_its_own() -> None:
    # The integral of (1 - tanh(a h)^2) h over a from 0 to 1 is tanh(h).
    scores = IntegratedGradients(steps=500)(Toy(TABLE, WEIGHTS, saturates=True), BATCH)
    assert scores[0].tolist() == pytest.approx([math.tanh(0.5), math.tanh(2), math.tanh(1)], rel=1e-4)
    assert scores[1].tolist() == pytest.approx([math.tanh(0.5), math.tanh(2), 0], rel=1e-4)


def test_a_linear_head_needs_one_step() -> None:
    scores = score_words(IntegratedGradients(steps=1), Toy(TABLE, WEIGHTS), BATCH)
    assert scores.tolist() == [pytest.approx([0, 2 / 3, 1 / 3]), [0, 1, 0]]


def test_the_encoder_runs_once_and_the_steps_are_one_batch() -> None:
    model = Toy(TABLE, WEIGHTS)
    IntegratedGradients(steps=20)(model, BATCH)
    assert model.encoded == [2]
    assert model.classified == [2, 40]


@pytest.mark.parametrize(("most", "rows"), [(13, [4, 4, 2]), (1, [2] * 5)])  # two steps of two rows of three, and a bit
def test_many_steps_go_in_parts_and_say_the_same(most: int, rows: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    saliency = IntegratedGradients(steps=5)
    whole = saliency(Toy(TABLE, WEIGHTS, saturates=True), BATCH)
    monkeypatch.setattr("pssa.saliency.integrated_gradients._MOST_POSITIONS", most)
    model = Toy(TABLE, WEIGHTS, saturates=True)
    torch.testing.assert_close(saliency(model, BATCH), whole)
    assert model.classified == [2, *rows]


@torch.no_grad()
def completeness_gap(steps: int, model: Any) -> float:
    """Return the signed attributions minus logit(h) - logit(0): what too few steps miss, zero in the limit."""
    encoding = model.encode(BATCH)
    classes = predicted_classes(model, encoding, BATCH)
    nothing = replace(encoding, words=torch.zeros_like(encoding.words))
    change = logits_of(model, encoding, BATCH, classes) - logits_of(model, nothing, BATCH, classes)
    found = IntegratedGradients(steps).attributions(model, encoding, BATCH, classes).sum(dim=1)
    return float((found - change).abs().max())


@pytest.mark.parametrize("name", models.names())
def test_attributions_sum_to_the_change_of_the_logit(name: str) -> None:
    model = draw_model(name, 6)
    coarse, fine = (completeness_gap(steps, model) for steps in (1, 400))
    assert fine < 0.01  # TNet's path has kinks, so its error falls only as fast as the steps shrink
    assert fine <= max(coarse / 100, 1e-12)


def test_no_steps_are_refused() -> None:
    with pytest.raises(InputError, match="steps is 0"):
        IntegratedGradients(steps=0)
