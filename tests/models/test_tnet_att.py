"""TNet-ATT's head on word states written by hand: dot-product attention, with and without the aspect's own words."""

from __future__ import annotations

import math

import pytest
import torch

from pssa import models
from pssa.models import Batch, Encoding, IndexedCorpus, Prediction, WordTable

LN3 = math.log(3)
# "battery life poor", of which the first two words are the aspect.
WORDS = torch.tensor([[[0.0, 1.0], [LN3, 5.0], [0.0, 7.0]]])


@pytest.fixture
def sentence(corpus: IndexedCorpus) -> Batch:
    return corpus.batch(torch.tensor([1]))


def classify(table: WordTable, batch: Batch, attend_aspect: bool) -> Prediction:
    model = models.build("tnet_att", table, 2, {"hidden": 1, "attend_aspect": attend_aspect}, seed=0).eval()
    with torch.no_grad():
        model.get_parameter("output.weight").copy_(torch.eye(2))
    prediction = model.classify(Encoding(WORDS, torch.tensor([[1.0, 0.0]])), batch)  # type: ignore[operator]
    assert isinstance(prediction, Prediction)
    return prediction


def test_the_only_other_word_has_all_the_attention(table: WordTable, sentence: Batch) -> None:
    prediction = classify(table, sentence, attend_aspect=False)
    assert prediction.attention is not None
    assert prediction.attention.tolist() == [[0.0, 0.0, 1.0]]
    assert prediction.logits.tolist() == [[0.0, 7.0]]


def test_the_aspects_own_words_can_be_attended(table: WordTable, sentence: Batch) -> None:
    # Scores 0, ln 3, 0: weights 1/5, 3/5, 1/5; o = (3/5 ln 3, 1/5 + 15/5 + 7/5).
    prediction = classify(table, sentence, attend_aspect=True)
    assert prediction.attention is not None
    torch.testing.assert_close(prediction.attention, torch.tensor([[0.2, 0.6, 0.2]]))
    torch.testing.assert_close(prediction.logits, torch.tensor([[0.6 * LN3, 4.6]]))


def test_hidden_words_stay_out_even_where_the_aspect_is_attended(table: WordTable, corpus: IndexedCorpus) -> None:
    words = torch.zeros(5, 9, dtype=torch.bool)
    words[1, 2] = True
    prediction = classify(table, corpus.hide(words).batch(torch.tensor([1])), attend_aspect=True)
    assert prediction.attention is not None
    torch.testing.assert_close(prediction.attention, torch.tensor([[0.25, 0.75, 0.0]]))
