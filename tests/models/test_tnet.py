"""TNet and TNet-ATT: their common body, the convolution, and the attention in its place."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from pssa import models
from pssa.errors import InputError
from pssa.models import Batch, Encoding, IndexedCorpus, Prediction, WordTable
from pssa.models.tnet import BidirectionalLSTM, TNet, TransformationEncoder, TransformationOptions, proximity


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


def test_only_other_words_are_attended_unless_the_aspect_may_be(table: WordTable, sentence: Batch) -> None:
    prediction = classify(table, sentence, attend_aspect=False)
    assert prediction.attention is not None
    assert prediction.attention.tolist() == [[0.0, 0.0, 1.0]]
    assert prediction.logits.tolist() == [[0.0, 7.0]]
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


def spanned(aspect: tuple[int, int], lengths: list[int], width: int) -> Batch:
    """Sentences of which only lengths and aspect matter."""
    places = torch.arange(width).expand(len(lengths), -1)
    word_of = places.masked_fill(places >= torch.tensor(lengths)[:, None], -1)
    rows = torch.zeros(len(lengths), dtype=torch.long)
    span = torch.tensor([aspect] * len(lengths))
    return Batch(word_of, word_of, word_of, span, word_of >= 0, rows, rows)


def test_weights_fall_by_a_fortieth_a_word_left_of_the_last_and_right_of_the_first_aspect_word() -> None:
    # The aspect is words 3 and 4: word 0 is 4 - 0 away, word 4 is 4 - 3, word 43 is 43 - 3.
    weights = proximity(spanned((3, 5), [50, 6], width=50))
    expected = {0: 36 / 40, 2: 38 / 40, 3: 1.0, 4: 39 / 40, 5: 38 / 40, 42: 1 / 40, 43: 0.0, 49: 0.0}
    assert {place: float(weights[0, place]) for place in expected} == pytest.approx(expected, abs=1e-6)
    assert weights[1, 6:].tolist() == [0.0] * 44
    assert float(weights[1, 5]) == pytest.approx(38 / 40)
    weights = proximity(spanned((45, 46), [46], width=46))
    assert weights[0, :6].tolist() == [0.0] * 6
    assert float(weights[0, 6]) == pytest.approx(1 / 40, abs=1e-6)


@pytest.fixture
def rows() -> torch.Tensor:
    return torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(0))


def test_it_is_the_bidirectional_lstm_of_torch(rows: torch.Tensor) -> None:
    ours, theirs = BidirectionalLSTM(5, 3, tied=False), nn.LSTM(5, 3, batch_first=True, bidirectional=True)
    ours.forwards.load_state_dict({key: theirs.state_dict()[key] for key in ours.forwards.state_dict()})
    assert ours.backwards is not None
    reverse = {key: theirs.state_dict()[f"{key}_reverse"] for key in ours.backwards.state_dict()}
    ours.backwards.load_state_dict(reverse)
    states, last = ours(rows, torch.tensor([4, 4]))
    expected, (ends, _) = theirs(rows)
    torch.testing.assert_close(states, expected)
    torch.testing.assert_close(last, torch.cat([ends[0], ends[1]], dim=1))


def test_padding_is_never_read_and_has_zero_states(rows: torch.Tensor) -> None:
    lstm = BidirectionalLSTM(5, 3, tied=False)
    states, last = lstm(rows, torch.tensor([2, 4]))
    alone, alone_last = lstm(rows[:1, :2], torch.tensor([2]))
    torch.testing.assert_close(states[:1, :2], alone)
    torch.testing.assert_close(last[:1], alone_last)
    assert torch.all(states[0, 2:] == 0)


def test_tied_directions_share_their_weights(rows: torch.Tensor) -> None:
    lstm = BidirectionalLSTM(5, 3, tied=True)
    lengths = torch.tensor([4, 4])
    states, last = lstm(rows, lengths)
    mirrored, mirrored_last = lstm(rows.flip(1), lengths)
    torch.testing.assert_close(states[..., :3], mirrored[..., 3:].flip(1))
    torch.testing.assert_close(last[:, :3], mirrored_last[:, 3:])
    assert sum(p.numel() for p in lstm.parameters()) == 4 * 3 * (5 + 3) + 2 * 4 * 3
    assert all(name.startswith("forwards.") for name in lstm.state_dict())


@pytest.mark.parametrize(("gating", "factor"), [("adaptive", 0.5), ("lossless", 1.0)])
def test_layers_that_add_nothing_preserve_the_context_by_their_gate_and_distance(
    gating: str, factor: float, batch: Batch, table: WordTable
) -> None:
    # With zero weights the merged part is zero and the gate is half open, in both of the two layers.
    options = TransformationOptions(hidden=3, gating=gating, initial_bound=0.5)
    encoder = TransformationEncoder(table, options, torch.Generator().manual_seed(0)).eval()
    for layer in (encoder.merge, encoder.gate):
        if layer is not None:
            layer.weight.detach().zero_()
    states, _ = encoder.context(table.matrix[batch.positions], batch.lengths)
    expected = states * (factor * proximity(batch)[..., None]) ** 2
    torch.testing.assert_close(encoder(batch).words, expected)


def test_a_word_asks_the_aspect_for_what_concerns_it(table: WordTable) -> None:
    # Dot products ln 3 and 0 with two aspect states: 3/4 of the first and 1/4 of the second; the third is padding.
    options = TransformationOptions(hidden=1, gating="lossless")
    encoder = TransformationEncoder(table, options, torch.Generator().manual_seed(0)).eval()
    encoder.merge.weight.detach().copy_(torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]))
    words = torch.tensor([[[torch.tensor(3.0).log(), 0.0]]])
    target = torch.tensor([[[1.0, 4.0], [0.0, 8.0], [9.0, 9.0]]])
    transformed = encoder._transform(words, target, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(transformed, words + torch.tensor([[[0.75, 0.75 * 4 + 0.25 * 8]]]))


def test_an_unknown_gating_is_refused() -> None:
    with pytest.raises(InputError, match="gating is 'loss'; it can be adaptive or"):
        TransformationOptions(gating="loss")
