"""MN on a toy of two dimensions, worked out by hand.

The sentence is "deep blue sea" with the aspect "sea". Rows: deep = (2, ln 3), blue = (4, 0), sea = (1, 0). With
M = [[0, 1], [0, 0]], v(t)'M = (0, 1): a word's score is the second value of its memory, ln 3 and 0; weights 3/4, 1/4.
Then o = 3/4 (2, ln 3) + 1/4 (4, 0) = (2.5, 0.75 ln 3), and with the identity as output layer the logits are o + v(t).
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from pssa import models
from pssa.data.example import Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import AspectModel, Batch, Prediction, WordTable, index_words
from pssa.models.memnet import MemoryNetworkOptions

LN3 = math.log(3)
PICK_SECOND = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
# Ids: 3 blue, 4 deep, 5 sea.
VOCABULARY = Vocabulary.build(["deep", "blue", "sea"])
MATRIX = torch.tensor([[7.0, 7.0], [7.0, 7.0], [7.0, 7.0], [4.0, 0.0], [2.0, LN3], [1.0, 0.0]])


def batch_of(text: str, aspect: str) -> Batch:
    start = text.index(aspect)
    example = Example.from_text(text, (start, start + len(aspect)))
    return index_words([example], VOCABULARY, ("a", "b")).batch(torch.tensor([0]))


def predict(batch: Batch, **options: Any) -> Prediction:
    model = models.build("memnet", WordTable(MATRIX, 6), 2, {"hops": 1} | options, seed=0).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in ("match", "shift"):
                parameter.copy_(PICK_SECOND)
            elif name == "output.weight":
                parameter.copy_(torch.eye(2))
        assert isinstance(model, AspectModel)
        return model.classify(model.encode(batch), batch)


@pytest.mark.parametrize("train_embeddings", [True, False])
def test_attention_and_logits_are_those_worked_out_by_hand(train_embeddings: bool) -> None:
    prediction = predict(batch_of("deep blue sea", "sea"), scale_scores=False, train_embeddings=train_embeddings)
    assert prediction.attention is not None
    torch.testing.assert_close(prediction.attention, torch.tensor([[0.75, 0.25, 0.0]]))
    torch.testing.assert_close(prediction.logits, torch.tensor([[3.5, 0.75 * LN3]]))


def test_scores_are_divided_by_the_root_of_the_dimension() -> None:
    prediction = predict(batch_of("deep blue sea", "sea"), scale_scores=True)
    odds = 3 ** (1 / math.sqrt(2))
    assert prediction.attention is not None
    torch.testing.assert_close(prediction.attention, torch.tensor([[odds / (1 + odds), 1 / (1 + odds), 0.0]]))


def test_the_extra_matrix_changes_the_aspect_in_the_sum_only() -> None:
    prediction = predict(batch_of("deep blue sea", "sea"), scale_scores=False, aspect_matrix=True)
    assert prediction.attention is not None
    torch.testing.assert_close(prediction.attention, torch.tensor([[0.75, 0.25, 0.0]]))
    torch.testing.assert_close(prediction.logits, torch.tensor([[2.5, 0.75 * LN3 + 1]]))


def test_an_aspect_of_two_words_is_their_mean() -> None:
    # v(t) = ((4, 0) + (1, 0)) / 2; the only other word has all the attention.
    prediction = predict(batch_of("deep blue sea", "blue sea"))
    torch.testing.assert_close(prediction.logits, torch.tensor([[2 + 2.5, LN3]]))


def test_without_context_the_aspect_speaks_alone() -> None:
    torch.testing.assert_close(predict(batch_of("sea", "sea")).logits, torch.tensor([[1.0, 0.0]]))


def test_a_second_hop_asks_with_the_sum_of_the_first() -> None:
    # The first hop's sum is (3.5, 0.75 ln 3), so the second scores `deep` by 3.5 ln 3 and `blue` by 0.
    prediction = predict(batch_of("deep blue sea", "sea"), scale_scores=False, hops=2)
    deep = 3**3.5 / (1 + 3**3.5)
    assert prediction.attention is not None
    torch.testing.assert_close(prediction.attention, torch.tensor([[deep, 1 - deep, 0.0]]))
    expected = [[3.5 + 2 * deep + 4 * (1 - deep), (0.75 + deep) * LN3]]
    torch.testing.assert_close(prediction.logits, torch.tensor(expected))


def test_hops_without_end_are_refused() -> None:
    with pytest.raises(InputError, match="hops is 18045232; it must be at most 100"):
        MemoryNetworkOptions(hops=18045232)
