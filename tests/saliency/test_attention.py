"""Attention weights as saliency."""

from __future__ import annotations

import pytest
import torch
from tests.saliency.toys import Toy, make_batch

from pssa.errors import InputError
from pssa.saliency import score_words
from pssa.saliency.attention import Attention

# A special token, the aspect, a word of two pieces and a word of one.
BATCH = make_batch([[9, 3, 4, 5, 6]], [[0, 1, 1]], word_of=[[-1, 0, 1, 1, 2]])


def test_the_weights_of_a_words_pieces_are_summed() -> None:
    model = Toy(torch.zeros(10, 1), torch.zeros(1, 2), attention=torch.tensor([[0.0, 0.2, 0.1, 0.3, 0.4]]))
    assert Attention()(model, BATCH)[0].tolist() == pytest.approx([0.2, 0.4, 0.4])
    assert score_words(Attention(), model, BATCH)[0].tolist() == pytest.approx([0.0, 0.5, 0.5])


def test_a_model_without_attention_is_refused_with_another_way() -> None:
    with pytest.raises(InputError, match="no attention weights; use another"):
        Attention()(Toy(torch.zeros(10, 1), torch.zeros(1, 2)), BATCH)
