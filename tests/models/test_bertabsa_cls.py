"""BERTABSA-CLS: the first state, on states written by hand, and the second segment."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from tests.models.variants import build, index, predict, start_of

from pssa.data.features import SPECIAL
from pssa.models import Batch, Encoding


@pytest.fixture
def batch() -> Batch:
    return index("bertabsa_cls").batch(torch.tensor([0, 1]))


def test_the_first_state_alone_is_classified(batch: Batch) -> None:
    model = build("bertabsa_cls", start_of("bertabsa_cls"))
    words = torch.full((*batch.positions.shape, 16), 9.0)
    words[:, 0] = torch.arange(32.0).view(2, 16)
    with torch.no_grad():
        model.get_parameter("output.weight").copy_(torch.eye(3, 16))
        model.get_parameter("output.bias").zero_()
    prediction = model.classify(Encoding(words, words[:, 0]), batch)  # type: ignore[operator]
    assert prediction.logits.tolist() == [[0, 1, 2], [16, 17, 18]]
    assert prediction.attention is None


def test_a_pooler_is_a_dense_layer_with_tanh(batch: Batch) -> None:
    model = build("bertabsa_cls", start_of("bertabsa_cls"), pooler=True)
    with torch.no_grad():
        model.get_parameter("pooler.weight").copy_(torch.eye(16) / 2)
        model.get_parameter("pooler.bias").zero_()
        model.get_parameter("output.weight").copy_(torch.eye(3, 16))
        model.get_parameter("output.bias").zero_()
    words = torch.ones(*batch.positions.shape, 16)
    prediction = model.classify(Encoding(words, words[:, 0]), batch)  # type: ignore[operator]
    torch.testing.assert_close(prediction.logits, torch.full((2, 3), math.tanh(0.5)))


def test_the_encoding_names_the_first_state_as_the_aspect(batch: Batch) -> None:
    encoding = build("bertabsa_cls", start_of("bertabsa_cls")).encode(batch)  # type: ignore[operator]
    assert torch.equal(encoding.aspect, encoding.words[:, 0])


def test_the_second_segment_has_a_type_of_its_own(batch: Batch) -> None:
    model = build("bertabsa_cls", start_of("bertabsa_cls"))
    one_segment = replace(batch, word_of=batch.word_of.masked_fill(batch.second, SPECIAL))
    before, without = predict(model, batch).logits, predict(model, one_segment).logits
    assert not torch.allclose(before, without)
    with torch.no_grad():
        types = model.get_parameter("encoder.body.embeddings.token_type_embeddings.weight")
        types[1] = types[0]
    torch.testing.assert_close(predict(model, batch).logits, without)
