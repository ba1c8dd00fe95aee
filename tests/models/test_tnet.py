"""TNet's head on word states written by hand: windows of three words, ReLU, and the maximum of each filter."""

from __future__ import annotations

import pytest
import torch

from pssa import models
from pssa.models import Encoding, IndexedCorpus, WordTable
from pssa.models.tnet import TNet


@pytest.fixture
def head(table: WordTable) -> TNet:
    """Two values a word; one filter adds up the first values, the other takes them away; the output is the identity."""
    model = models.build("tnet", table, 2, {"hidden": 1, "filters": 2}, seed=0).eval()
    assert isinstance(model, TNet)
    with torch.no_grad():
        model.convolution.weight.zero_()
        model.convolution.weight[0, 0], model.convolution.weight[1, 0] = 1.0, -1.0
        model.output.weight.copy_(torch.eye(2))
    return model


def encoding(values: list[list[float]]) -> Encoding:
    first = torch.tensor(values)
    return Encoding(torch.stack([first, torch.full_like(first, 9.0)], dim=-1), torch.zeros(len(values), 2))


def test_each_filter_answers_with_its_strongest_window(head: TNet, corpus: IndexedCorpus) -> None:
    # Windows of 1 2 -4 -5 6: sums -1, -7, -3; the first filter finds nothing above zero, the second 7.
    prediction = head.classify(encoding([[1.0, 2.0, -4.0, -5.0, 6.0]]), corpus.batch(torch.tensor([4])))
    assert prediction.logits.tolist() == [[0.0, 7.0]]
    assert prediction.attention is None


def test_a_window_that_reaches_into_padding_does_not_count(head: TNet, corpus: IndexedCorpus) -> None:
    # A sentence of three words beside one of five: its only window is 1 + 2 + 3, although 2 + 3 + 0 also fits.
    rows = [[1.0, 2.0, 3.0, 0.0, 0.0], [-1.0, 5.0, 5.0, 0.0, 0.0]]
    batch = corpus.batch(torch.tensor([1, 4]))
    assert head.classify(encoding(rows), batch).logits.tolist() == [[6.0, 0.0], [10.0, 0.0]]
    minus = [[-1.0, 5.0, 5.0, 0.0, 0.0], [-1.0, 5.0, 5.0, 0.0, 0.0]]
    assert head.classify(encoding(minus), batch).logits.tolist() == [[9.0, 0.0], [10.0, 0.0]]


def test_a_sentence_shorter_than_a_window_has_one_all_the_same(head: TNet, corpus: IndexedCorpus) -> None:
    prediction = head.classify(encoding([[4.0, 1.0]]), corpus.batch(torch.tensor([3])))
    assert prediction.logits.tolist() == [[5.0, 0.0]]
