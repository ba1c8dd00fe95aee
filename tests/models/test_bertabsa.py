"""BERTABSA's head on states written by hand: the gate over the aspect, and the layers on v(t)."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from tests.models.variants import build, index, start_of
from torch import nn

from pssa.errors import InputError
from pssa.models import Batch, Encoding, Prediction
from pssa.models.bertabsa import BertAbsaOptions

LN3 = math.log(3)
ASPECT = (1, 2)  # positions of "battery life" in [CLS] battery life p ##o ##o ##r [SEP]


@pytest.fixture
def sentence() -> Batch:
    return index("bertabsa").batch(torch.tensor([1]))


def states(batch: Batch) -> torch.Tensor:
    """The first cell is what the gate looks at, the second what v(t) is read from; other positions would be noticed."""
    words = torch.zeros(*batch.positions.shape, 16)
    words[..., :2] = 50.0
    words[0, ASPECT, :2] = torch.tensor([[0.0, 4.0], [LN3, 8.0]])
    return words


def make(**options: Any) -> nn.Module:
    model = build("bertabsa", start_of("bertabsa"), **options)
    with torch.no_grad():
        for name in ("gate.weight", "output.weight", "output.bias"):
            model.get_parameter(name).zero_()
        model.get_parameter("gate.weight")[0, 0] = 1
        model.get_parameter("output.weight")[:2, :2] = torch.eye(2)
    return model


def classify(model: nn.Module, words: torch.Tensor, batch: Batch) -> Prediction:
    prediction = model.classify(Encoding(words, words[:, 0]), batch)  # type: ignore[operator]
    assert isinstance(prediction, Prediction)
    return prediction


def test_the_aspect_is_its_states_under_a_softmax(sentence: Batch) -> None:
    # Scores 0 and ln 3: weights 1/4 and 3/4.
    prediction = classify(make(), states(sentence), sentence)
    torch.testing.assert_close(prediction.logits, torch.tensor([[0.75 * LN3, 0.25 * 4 + 0.75 * 8, 0.0]]))
    assert prediction.attention is None
    assert prediction.heads is None


def test_a_dense_layer_with_tanh_can_stand_before_the_classes(sentence: Batch) -> None:
    model = make(head="dense")
    with torch.no_grad():
        model.get_parameter("dense.weight").copy_(torch.eye(16) / 10)
        model.get_parameter("dense.bias").zero_()
    logits = classify(model, states(sentence), sentence).logits
    torch.testing.assert_close(logits, torch.tensor([[math.tanh(0.075 * LN3), math.tanh(0.7), 0.0]]))


def test_only_the_aspects_states_reach_a_logit(sentence: Batch) -> None:
    words = states(sentence).requires_grad_()
    (gradient,) = torch.autograd.grad(classify(make(), words, sentence).logits.sum(), words)
    assert sorted(set(gradient[0].nonzero()[:, 0].tolist())) == list(ASPECT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"head": "deep"}, "head is 'deep'; it can be linear or dense"),
        ({"refine": "head"}, "refine is 'head'; it can be none"),
        ({"dropout": 1.0}, "dropout is 1.0"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BertAbsaOptions(**options)
