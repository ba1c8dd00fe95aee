"""BERTABSA and its variants: what is read of the encoder's states, and classified."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.models.variants import build, index, predict, set_parameters, start_of
from torch import nn

from pssa.data.features import SPECIAL
from pssa.errors import InputError
from pssa.models import Batch, Encoding, IndexedCorpus, Prediction
from pssa.models.bertabsa import BertAbsaOptions

LN3 = math.log(3)
IDENTITY: dict[str, float | torch.Tensor] = {"output.weight": torch.eye(3, 16), "output.bias": 0.0}
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
    first, second = torch.eye(16)[:2]
    rows = torch.stack([first, second, torch.zeros(16)])
    set_parameters(model, {"gate.weight": first, "output.weight": rows, "output.bias": 0.0})
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
    set_parameters(model, {"dense.weight": torch.eye(16) / 10, "dense.bias": 0.0})
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


# "great price" is [CLS] great p ##r ##i ##c ##e [SEP]; "this is not great price" begins [CLS] t ##h ##i ##s is not great,
# where "this" and "great" are hidden.
IS, NOT = 5, 6


@pytest.fixture
def corpus() -> IndexedCorpus:
    return index("bertabsa_att")


def classify_att(words: torch.Tensor, batch: Batch) -> Prediction:
    model = build("bertabsa_att", start_of("bertabsa_att"))
    set_parameters(model, IDENTITY)
    aspect = torch.zeros(1, 16)
    aspect[0, :3] = torch.tensor([4.0, 0.0, 1.0])  # four, by which sqrt(16) divides
    prediction = model.classify(Encoding(words, aspect), batch)  # type: ignore[operator]
    assert isinstance(prediction, Prediction)
    return prediction


def test_the_aspect_attends_to_the_candidates_alone(corpus: IndexedCorpus) -> None:
    batch = corpus.batch(torch.tensor([4]))
    words = torch.full((1, batch.positions.shape[1], 16), 9.0)
    words[0, [IS, NOT]] = torch.zeros(16)
    words[0, [IS, NOT], :2] = torch.tensor([[0.0, 4.0], [LN3, 8.0]])
    prediction = classify_att(words, batch)
    assert prediction.attention is not None
    assert prediction.attention[0].nonzero().flatten().tolist() == [IS, NOT]
    torch.testing.assert_close(prediction.attention[0, [IS, NOT]], torch.tensor([0.25, 0.75]))
    # o + v(t) = (3/4 ln 3, 1 + 6, 0) + (4, 0, 1)
    torch.testing.assert_close(prediction.logits, torch.tensor([[0.75 * LN3 + 4, 7.0, 1.0]]))


def test_without_a_candidate_the_aspect_speaks_alone(corpus: IndexedCorpus) -> None:
    batch = corpus.batch(torch.tensor([2]))
    prediction = classify_att(torch.full((1, batch.positions.shape[1], 16), 9.0), batch)
    assert prediction.logits.tolist() == [[4.0, 0.0, 1.0]]


def test_the_pieces_of_a_word_are_attended_one_by_one(corpus: IndexedCorpus) -> None:
    batch = corpus.batch(torch.tensor([1]))  # [CLS] battery life p ##o ##o ##r [SEP]
    prediction = classify_att(torch.zeros(1, batch.positions.shape[1], 16), batch)
    assert prediction.attention is not None
    assert prediction.attention[0].tolist() == [0, 0, 0, 0.25, 0.25, 0.25, 0.25, 0]


def test_neighbours_of_the_aspect_are_part_of_it(corpus: IndexedCorpus) -> None:
    # [CLS] the screen of t ##h ##i ##s ...; then: this is not great price, where "this" and "great" are hidden.
    batch = corpus.batch(torch.tensor([0, 4]))
    assert torch.equal(batch.aspect_in_context(0), batch.aspect_positions)
    for n_words, expected in ((1, [[0, 1, 2], [4]]), (3, [[0, 1, 2, 3, 4], [1, 2, 4]])):
        read = batch.aspect_in_context(n_words)
        assert [sorted(set(row[mask].tolist())) for row, mask in zip(batch.word_of, read, strict=True)] == expected
    model = build("bertabsa_att", start_of("bertabsa_att"), context=3)
    set_parameters(model, {"gate.weight": 0.0})
    encoding = model.encode(batch)  # type: ignore[operator]
    near = batch.aspect_in_context(3)[0]
    torch.testing.assert_close(encoding.aspect[0], encoding.words[0, near].mean(dim=0))


@pytest.fixture
def batch() -> Batch:
    return index("bertabsa_cls").batch(torch.tensor([0, 1]))


def test_the_first_state_alone_is_classified_and_named_as_the_aspect(batch: Batch) -> None:
    model = build("bertabsa_cls", start_of("bertabsa_cls"))
    words = torch.full((*batch.positions.shape, 16), 9.0)
    words[:, 0] = torch.arange(32.0).view(2, 16)
    set_parameters(model, IDENTITY)
    prediction = model.classify(Encoding(words, words[:, 0]), batch)  # type: ignore[operator]
    assert prediction.logits.tolist() == [[0, 1, 2], [16, 17, 18]]
    assert prediction.attention is None
    encoding = model.encode(batch)  # type: ignore[operator]
    assert torch.equal(encoding.aspect, encoding.words[:, 0])


def test_a_pooler_is_a_dense_layer_with_tanh(batch: Batch) -> None:
    model = build("bertabsa_cls", start_of("bertabsa_cls"), pooler=True)
    set_parameters(model, {"pooler.weight": torch.eye(16) / 2, "pooler.bias": 0.0, **IDENTITY})
    words = torch.ones(*batch.positions.shape, 16)
    prediction = model.classify(Encoding(words, words[:, 0]), batch)  # type: ignore[operator]
    torch.testing.assert_close(prediction.logits, torch.full((2, 3), math.tanh(0.5)))


def test_the_second_segment_has_a_type_of_its_own(batch: Batch) -> None:
    model = build("bertabsa_cls", start_of("bertabsa_cls"))
    one_segment = replace(batch, word_of=batch.word_of.masked_fill(batch.second, SPECIAL))
    before, without = predict(model, batch).logits, predict(model, one_segment).logits
    assert not torch.allclose(before, without)
    with torch.no_grad():
        types = model.get_parameter("encoder.body.embeddings.token_type_embeddings.weight")
        types[1] = types[0]
    torch.testing.assert_close(predict(model, batch).logits, without)
