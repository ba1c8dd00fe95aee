"""Leave one out, by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from tests.models.encoders import tiny_encoder
from tests.saliency.toys import Toy, make_batch
from torch import Tensor

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.errors import InputError
from pssa.models import IndexedCorpus
from pssa.saliency import score_words
from pssa.saliency.leave_one_out import LeaveOneOut

# Each word adds its number to class 0's logit against class 1's zero; the mask token, id 2, adds nothing.
TABLE = torch.tensor([[0.0], [0.0], [0.0], [1.0], [2.0], [-1.0]], dtype=torch.float64)
WEIGHTS = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
BATCH = make_batch([[3, 4, 5], [3, 3, 0]], [[0, 1, 1], [0, 1, 0]])


def probability(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def drops(saliency: LeaveOneOut) -> Tensor:
    return saliency(Toy(TABLE, WEIGHTS), BATCH)


def test_a_drop_is_the_lost_probability_of_the_predicted_class() -> None:
    # 1 + 2 - 1 = 2 without the word of 2 is 0, without that of -1 is 3; 1 + 1 = 2 without one is 1.
    signed = drops(LeaveOneOut(signed=True)).tolist()
    assert signed[0] == pytest.approx([0, probability(2) - probability(0), probability(2) - probability(3)])
    assert signed[1] == pytest.approx([0, probability(2) - probability(1), 0])
    assert signed[0][2] < 0


def test_a_word_whose_absence_helps_has_no_score() -> None:
    assert drops(LeaveOneOut())[0, 2] == 0
    for saliency in (LeaveOneOut(), LeaveOneOut(signed=True)):
        assert score_words(saliency, Toy(TABLE, WEIGHTS), BATCH).tolist() == [[0, 1, 0], [0, 1, 0]]


def test_the_class_stays_the_one_predicted_from_the_whole_sentence() -> None:
    # 1 - 3 = -2 predicts class 1; without the -3, class 0 leads, and class 1 has lost.
    table = torch.tensor([[0.0], [0.0], [0.0], [1.0], [-3.0]], dtype=torch.float64)
    scores = LeaveOneOut()(Toy(table, WEIGHTS), make_batch([[3, 4]], [[0, 1]]))
    assert scores.tolist() == [pytest.approx([0, probability(2) - probability(-1)])]


def test_the_models_own_mask_token_hides_words() -> None:
    class Masking(Toy):
        mask_id = 5

    model = Masking(TABLE, WEIGHTS)
    LeaveOneOut()(model, BATCH)
    assert model.seen[-1].positions.tolist() == [[3, 5, 5], [3, 4, 5], [3, 5, 0]]


def test_a_hidden_word_is_the_mask_token_in_all_its_pieces_and_no_candidate() -> None:
    model = Toy(TABLE, WEIGHTS)
    LeaveOneOut()(model, BATCH)
    hidden = model.seen[1]
    assert hidden.positions.tolist() == [[3, 2, 5], [3, 4, 2], [3, 2, 0]]
    assert hidden.candidates.tolist() == [[False, False, True], [False, True, False], [False, False, False]]
    model = Toy(TABLE, WEIGHTS)
    LeaveOneOut()(model, make_batch([[1, 3, 4, 5, 1]], [[0, 1]], word_of=[[-1, 0, 1, 1, -1]]))
    assert model.seen[1].positions.tolist() == [[1, 3, 2, 2, 1]]


def test_chunks_bound_the_rows_read_at_once_and_change_nothing() -> None:
    model = Toy(TABLE, WEIGHTS)
    chunked = LeaveOneOut(chunk=2)(model, BATCH)
    assert model.encoded == [2, 2, 1]
    assert torch.equal(chunked, drops(LeaveOneOut()))
    with pytest.raises(InputError, match="chunk is 0"):
        LeaveOneOut(chunk=0)


def test_long_sentences_are_read_fewer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.saliency.leave_one_out._MOST_POSITIONS", 7)  # two sentences of three, and a bit
    model = Toy(TABLE, WEIGHTS)
    assert torch.equal(LeaveOneOut()(model, BATCH), drops(LeaveOneOut()))
    assert model.encoded == [2, 2, 1]


def test_aspects_of_one_sentence_share_what_is_read_without_a_word() -> None:
    text = "the screen is great but the price is not"
    examples = [Example.from_text(text, span) for span in ((4, 10), (28, 33))]
    corpus = IndexedCorpus.of(tiny_encoder().cutter(False, 0).features(examples, DEFAULT_LABELS))
    batch = corpus.batch(torch.arange(2))
    model: Any = models.build("bertabsa_att", tiny_encoder(), 3, {}, seed=1).eval()
    alone = LeaveOneOut()(model, batch)
    models.share_sentences(model)
    read: list[int] = []
    model.encoder.body.register_forward_pre_hook(
        lambda module, given, named: read.append(len(named["input_ids"])), with_kwargs=True
    )
    torch.testing.assert_close(LeaveOneOut()(model, batch), alone, atol=1e-6, rtol=1e-4)
    assert read == [1, 9]  # the sentence, and without each of its words
