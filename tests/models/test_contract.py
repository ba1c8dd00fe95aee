"""What every model promises, whichever it is; a new file in `models/` is covered unasked."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load, save
from tests.models.variants import ATTENDING, N_LABELS, REFINED, VARIANTS, build, index, name_of, predict, start_of

from pssa import models
from pssa.errors import InputError
from pssa.models import AspectModel, Batch, IndexedCorpus, Pretrained, WordTable

every_model = pytest.mark.parametrize("variant", VARIANTS)
every_attending_model = pytest.mark.parametrize("variant", ATTENDING)
every_word_model = pytest.mark.parametrize(
    "variant", [name for name in models.names() if not models.uses_encoder(name)]
)
Start = WordTable | Pretrained


@pytest.fixture
def corpus(variant: str) -> IndexedCorpus:
    return index(variant)


@pytest.fixture
def start(variant: str) -> Start:
    return start_of(variant)


@every_model
def test_shapes_are_those_of_the_protocol(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start)
    assert isinstance(model, AspectModel)
    encoding = model.encode(batch)
    assert encoding.words.shape[:2] == batch.positions.shape
    assert encoding.aspect.shape == (5, encoding.words.shape[2])
    prediction = model.classify(encoding, batch)
    assert prediction.logits.shape == (5, N_LABELS)
    assert (prediction.attention is not None) == (variant in ATTENDING)
    assert prediction.attention is None or prediction.attention.shape == batch.positions.shape
    assert (encoding.top is not None) == (prediction.heads is not None) == (variant in REFINED)


@every_model
def test_padding_never_changes_a_logit(variant: str, corpus: IndexedCorpus, batch: Batch, start: Start) -> None:
    model = build(variant, start)
    together = predict(model, batch).logits
    for row in range(len(corpus)):
        alone = predict(model, corpus.batch(torch.tensor([row]))).logits
        torch.testing.assert_close(alone[0], together[row], rtol=0, atol=1e-5)


@every_model
def test_what_stands_in_padding_is_never_read(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start)
    before = predict(model, batch).logits
    batch.positions.masked_fill_(~batch.present, 5)
    torch.testing.assert_close(predict(model, batch).logits, before, rtol=0, atol=1e-6)


@every_model
def test_a_stacked_encoding_is_classified_as_its_rows(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start)
    assert isinstance(model, AspectModel)
    encoding = model.encode(batch)
    stacked = replace(
        encoding,
        words=encoding.words.repeat(3, 1, 1),
        aspect=encoding.aspect.repeat(3, 1),
        memory=None if encoding.memory is None else encoding.memory.repeat(3, 1, 1),
    )
    expected = model.classify(encoding, batch).logits.repeat(3, 1)
    torch.testing.assert_close(model.classify(stacked, batch.repeat(3)).logits, expected, rtol=0, atol=1e-6)


@every_attending_model
def test_attention_is_zero_where_nothing_may_be_read_and_sums_to_one(variant: str, batch: Batch, start: Start) -> None:
    attention = predict(build(variant, start), batch).attention
    assert attention is not None
    assert torch.all(attention[~batch.candidate_positions] == 0)
    assert torch.all(attention[batch.candidate_positions] > 0)
    assert attention[2].sum() == 0  # the third sentence is nothing but its aspect
    totals = attention.sum(1)[[0, 1, 3, 4]]
    if variant in REFINED:  # self-attention also looks at the aspect and at special tokens
        assert torch.all(totals < 1)
    else:
        torch.testing.assert_close(totals, torch.ones(4))


@every_model
def test_a_sentence_of_its_aspect_alone_is_finite(variant: str, corpus: IndexedCorpus, start: Start) -> None:
    model = build(variant, start)
    logits = predict(model, corpus.batch(torch.tensor([2]))).logits
    logits.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(logits).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@every_model
def test_the_gradient_of_a_class_reaches_the_words_and_no_padding(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start)
    assert isinstance(model, AspectModel)
    encoding = model.encode(batch)
    leaf = encoding.words.detach().requires_grad_()
    logits = model.classify(encoding.with_words(leaf, encoding.memory), batch).logits
    (gradient,) = torch.autograd.grad(logits[:, 0].sum(), leaf)
    reached = gradient.abs().sum(dim=2)
    is_reached = torch.all(reached.sum(dim=1)[[0, 1, 3, 4]] > 0)
    assert is_reached, "no gradient at h(x): are the initial weights too small? `_SMALL` in variants.py sets them"
    assert torch.all(reached[~batch.present] == 0)


@every_model
def test_every_parameter_is_trained(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start, train_embeddings=True)
    # Scores squared, since the sum of logits would leave the aspect without a say in some models.
    predict(model, batch).logits.square().sum().backward()  # type: ignore[no-untyped-call]
    untouched = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert untouched == []


@every_model
def test_every_word_of_the_aspect_counts(variant: str, corpus: IndexedCorpus, start: Start) -> None:
    model = build(variant, start)
    before = predict(model, corpus.batch(torch.tensor([1]))).logits
    for word in (0, 1):
        other = corpus.batch(torch.tensor([1]))
        other.aspect[0, word] = 4
        other.positions.masked_fill_(other.word_of == word, 4)  # what an encoder reads
        assert not torch.allclose(predict(model, other).logits, before)


@every_model
def test_a_hidden_word_gives_another_prediction(variant: str, corpus: IndexedCorpus, start: Start) -> None:
    model = build(variant, start)
    words = torch.zeros(5, 9, dtype=torch.bool)
    words[0, 8] = True
    row = torch.tensor([0])
    before = predict(model, corpus.batch(row)).logits
    after = predict(model, corpus.hide(words).batch(row)).logits
    assert not torch.allclose(before, after)


@every_model
def test_dropout_works_in_training_only(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start, dropout=0.5)
    assert torch.equal(predict(model, batch).logits, predict(model, batch).logits)
    model.train()
    assert not torch.equal(predict(model, batch).logits, predict(model, batch).logits)


@every_model
def test_a_model_survives_a_file_of_tensors(variant: str, batch: Batch, start: Start) -> None:
    model, other = build(variant, start), build(variant, start, seed=1)
    other.load_state_dict(load(save(model.state_dict())))
    before, after = predict(model, batch), predict(other, batch)
    assert torch.equal(after.logits, before.logits)
    if before.attention is not None and after.attention is not None:
        assert torch.equal(after.attention, before.attention)


@pytest.mark.slow
@every_model
def test_a_copy_is_a_model_of_its_own(variant: str, batch: Batch, start: Start) -> None:
    model = build(variant, start)
    before = predict(model, batch).logits
    copy = deepcopy(model)
    with torch.no_grad():
        for parameter in copy.parameters():
            parameter.mul_(2)
    assert torch.equal(predict(model, batch).logits, before)
    assert not torch.equal(predict(copy, batch).logits, before)


@every_model
def test_initial_parameters_follow_from_the_seed_and_from_nothing_else(variant: str, start: Start) -> None:
    before = torch.get_rng_state()
    first = build(variant, start, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(1)
    again, other = build(variant, start, seed=3), build(variant, start, seed=4)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


@every_word_model
def test_training_a_model_does_not_change_its_table(variant: str, batch: Batch, table: WordTable) -> None:
    start = table.matrix.clone()
    model = build(variant, table, train_embeddings=True)
    predict(model, batch).logits.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    assert torch.equal(table.matrix, start)


@every_model
def test_an_unknown_option_is_refused_with_the_known_ones(variant: str, start: Start) -> None:
    name = name_of(variant)
    with pytest.raises(InputError, match=rf"unknown option 'depth' of model {name}"):
        models.build(name, start, N_LABELS, {"depth": 2}, seed=0)


@every_word_model
def test_a_word_model_draws_random_numbers_by_our_dropout_alone(variant: str, batch: Batch, start: Start) -> None:
    # Trainings of word models run beside each other, so the global generator is not theirs.
    model = build(variant, start).train()
    assert isinstance(model, AspectModel)
    before, logits = torch.get_rng_state(), []
    for seed in (0, 0, 1):
        with models.draw_from(torch.Generator().manual_seed(seed)):
            logits.append(model.classify(model.encode(batch), batch).logits)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(logits[0], logits[1])
    assert not torch.equal(logits[0], logits[2])
