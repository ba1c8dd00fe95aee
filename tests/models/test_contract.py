"""What every model promises, whichever it is; a new file in `models/` is covered unasked."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from pssa import models
from pssa.data.batch import Batch, IndexedCorpus
from pssa.errors import InputError
from pssa.models import AspectClassifier, Prediction, WordTable

# Small, but with initial weights large enough that every word matters.
SMALL = {"hidden": 3, "filters": 4, "initial_bound": 0.5}
N_LABELS = 3

every_model = pytest.mark.parametrize("name", models.names())
every_attending_model = pytest.mark.parametrize("name", [name for name in models.names() if models.attends(name)])


def build(name: str, table: WordTable, seed: int = 0, **options: Any) -> nn.Module:
    small = {key: value for key, value in SMALL.items() if key in models.option_defaults(name)}
    return models.build(name, table, N_LABELS, small | options, seed).eval()


def predict(model: nn.Module, batch: Batch) -> Prediction:
    assert isinstance(model, AspectClassifier)
    return model.classify(model.encode(batch), batch)


@every_model
def test_shapes_are_those_of_the_protocol(name: str, batch: Batch, table: WordTable) -> None:
    model = build(name, table)
    assert isinstance(model, AspectClassifier)
    encoding = model.encode(batch)
    assert encoding.words.shape[:2] == (5, 9)
    assert encoding.aspect.shape == (5, encoding.words.shape[2])
    prediction = model.classify(encoding, batch)
    assert prediction.logits.shape == (5, N_LABELS)
    assert (prediction.attention is not None) == models.attends(name)
    assert prediction.attention is None or prediction.attention.shape == (5, 9)


@every_model
def test_padding_never_changes_a_logit(name: str, corpus: IndexedCorpus, batch: Batch, table: WordTable) -> None:
    model = build(name, table)
    together = predict(model, batch).logits
    for row in range(len(corpus)):
        alone = predict(model, corpus.batch(torch.tensor([row]))).logits
        torch.testing.assert_close(alone[0], together[row], rtol=0, atol=1e-6)


@every_model
def test_what_stands_in_padding_is_never_read(name: str, batch: Batch, table: WordTable) -> None:
    model = build(name, table)
    before = predict(model, batch).logits
    batch.positions.masked_fill_(~batch.real, 5)
    torch.testing.assert_close(predict(model, batch).logits, before, rtol=0, atol=1e-6)


@every_attending_model
def test_attention_is_zero_on_padding_aspect_and_hidden_words_and_sums_to_one_elsewhere(
    name: str, batch: Batch, table: WordTable
) -> None:
    attention = predict(build(name, table), batch).attention
    assert attention is not None
    assert torch.all(attention[~batch.candidate_positions] == 0)
    assert torch.all(attention[batch.candidate_positions] > 0)
    # The third sentence is nothing but its aspect.
    torch.testing.assert_close(attention.sum(1), torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0]))


@every_model
def test_a_sentence_that_is_only_its_aspect_has_finite_logits_and_gradients(
    name: str, corpus: IndexedCorpus, table: WordTable
) -> None:
    model = build(name, table)
    logits = predict(model, corpus.batch(torch.tensor([2]))).logits
    logits.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@every_model
def test_the_gradient_of_a_class_reaches_the_words_and_no_padding(name: str, batch: Batch, table: WordTable) -> None:
    model = build(name, table)
    assert isinstance(model, AspectClassifier)
    encoding = model.encode(batch)
    leaf = encoding.words.detach().requires_grad_()
    logits = model.classify(encoding.with_words(leaf, encoding.memory), batch).logits
    (gradient,) = torch.autograd.grad(logits[:, 0].sum(), leaf)
    reached = gradient.abs().sum(dim=2)
    assert torch.all(reached.sum(dim=1)[[0, 1, 3, 4]] > 0)
    assert torch.all(reached[~batch.real] == 0)


@every_model
def test_every_parameter_is_trained(name: str, batch: Batch, table: WordTable) -> None:
    model = build(name, table, train_embeddings=True)
    # Scores squared, since the sum of logits would leave the aspect without a say in some models.
    predict(model, batch).logits.square().sum().backward()  # type: ignore[no-untyped-call]
    untouched = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert untouched == []


@every_model
def test_every_word_of_the_aspect_counts(name: str, corpus: IndexedCorpus, table: WordTable) -> None:
    model = build(name, table)
    batch = corpus.batch(torch.tensor([1]))
    before = predict(model, batch).logits
    for word in (0, 1):
        other = corpus.batch(torch.tensor([1]))
        other.aspect[0, word] = 4
        assert not torch.allclose(predict(model, other).logits, before)


@every_model
def test_a_hidden_word_gives_another_prediction(name: str, corpus: IndexedCorpus, table: WordTable) -> None:
    model = build(name, table)
    words = torch.zeros(5, 9, dtype=torch.bool)
    words[0, 8] = True
    row = torch.tensor([0])
    before = predict(model, corpus.batch(row)).logits
    after = predict(model, corpus.hide(words).batch(row)).logits
    assert not torch.allclose(before, after)


@every_model
def test_dropout_works_in_training_only(name: str, batch: Batch, table: WordTable) -> None:
    model = build(name, table, dropout=0.5)
    assert torch.equal(predict(model, batch).logits, predict(model, batch).logits)
    model.train()
    assert not torch.equal(predict(model, batch).logits, predict(model, batch).logits)


@every_model
@pytest.mark.parametrize("train_embeddings", [True, False])
def test_a_model_survives_a_file_of_tensors(name: str, train_embeddings: bool, batch: Batch, table: WordTable) -> None:
    model = build(name, table, train_embeddings=train_embeddings)
    tensors = load(save(model.state_dict()))
    empty = WordTable(torch.zeros_like(table.matrix), table.n_trained)
    other = build(name, empty, seed=1, train_embeddings=train_embeddings)
    other.load_state_dict(tensors)
    assert torch.equal(predict(other, batch).logits, predict(model, batch).logits)


@every_model
def test_initial_parameters_follow_from_the_seed_and_from_nothing_else(name: str, table: WordTable) -> None:
    before = torch.get_rng_state()
    first = build(name, table, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(1)
    again, other = build(name, table, seed=3), build(name, table, seed=4)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


@every_model
def test_training_a_model_does_not_change_the_table_it_started_from(name: str, batch: Batch, table: WordTable) -> None:
    start = table.matrix.clone()
    model = build(name, table, train_embeddings=True)
    predict(model, batch).logits.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    assert torch.equal(table.matrix, start)


@every_model
def test_an_unknown_option_is_refused_with_the_known_ones(name: str, table: WordTable) -> None:
    with pytest.raises(InputError, match=rf"unknown option 'heads' of model {name}; known: .*dropout.*initial_bound"):
        models.build(name, table, N_LABELS, {"heads": 2}, seed=0)
