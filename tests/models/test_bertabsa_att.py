"""BERTABSA-ATT's head on states written by hand: scaled attention on the candidates, and the sum with v(t)."""

from __future__ import annotations

import math

import pytest
import torch
from tests.models.variants import build, index, start_of

from pssa.models import Batch, Encoding, IndexedCorpus, Prediction

LN3 = math.log(3)
# "great price" is [CLS] great p ##r ##i ##c ##e [SEP]; "this is not great price" begins [CLS] t ##h ##i ##s is not great,
# where "this" and "great" are hidden.
IS, NOT = 5, 6


@pytest.fixture
def corpus() -> IndexedCorpus:
    return index("bertabsa_att")


def classify(words: torch.Tensor, batch: Batch) -> Prediction:
    model = build("bertabsa_att", start_of("bertabsa_att"))
    with torch.no_grad():
        model.get_parameter("output.weight").copy_(torch.eye(3, 16))
        model.get_parameter("output.bias").zero_()
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
    prediction = classify(words, batch)
    assert prediction.attention is not None
    assert prediction.attention[0].nonzero().flatten().tolist() == [IS, NOT]
    torch.testing.assert_close(prediction.attention[0, [IS, NOT]], torch.tensor([0.25, 0.75]))
    # o + v(t) = (3/4 ln 3, 1 + 6, 0) + (4, 0, 1)
    torch.testing.assert_close(prediction.logits, torch.tensor([[0.75 * LN3 + 4, 7.0, 1.0]]))


def test_without_a_candidate_the_aspect_speaks_alone(corpus: IndexedCorpus) -> None:
    batch = corpus.batch(torch.tensor([2]))
    prediction = classify(torch.full((1, batch.positions.shape[1], 16), 9.0), batch)
    assert prediction.logits.tolist() == [[4.0, 0.0, 1.0]]


def test_the_pieces_of_a_word_are_attended_one_by_one(corpus: IndexedCorpus) -> None:
    batch = corpus.batch(torch.tensor([1]))  # [CLS] battery life p ##o ##o ##r [SEP]
    prediction = classify(torch.zeros(1, batch.positions.shape[1], 16), batch)
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
    with torch.no_grad():
        model.get_parameter("gate.weight").zero_()
        encoding = model.encode(batch)  # type: ignore[operator]
    near = batch.aspect_in_context(3)[0]
    torch.testing.assert_close(encoding.aspect[0], encoding.words[0, near].mean(dim=0))
