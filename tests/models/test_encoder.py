"""An encoder inside a model: masks, segments, precision, and nothing that would make a device wait."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.models.encoders import ARCHITECTURES, tiny_encoder
from tests.models.variants import ENCODERS, build, index, predict
from tests.models.waiting import NoWaiting

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.models import Encoding, IndexedCorpus
from pssa.models._encoder import PieceEncoder, draw_linear

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


@pytest.mark.slow
@every_architecture
@pytest.mark.parametrize("attention", [None, "eager"])
def test_masks_say_what_the_architecture_itself_would_make_of_padding(architecture: str, attention: str | None) -> None:
    encoder = PieceEncoder(tiny_encoder(architecture), 0.0, "none" if attention is None else "average", seed=0).eval()
    batch = index("bertabsa", architecture).batch(torch.arange(5))
    own = encoder.body(input_ids=batch.positions, attention_mask=batch.present.long()).last_hidden_state
    words, top = encoder(batch)
    ours, _ = encoder.finish(Encoding(words, words[:, 0], top=top), batch.aspect_positions, batch)
    torch.testing.assert_close(ours[batch.present], own[batch.present], rtol=0, atol=2e-6)


def test_modernbert_looks_no_further_than_its_window_in_its_lower_layer() -> None:
    encoder = PieceEncoder(tiny_encoder("modernbert"), 0.0, "average", seed=0).eval()
    batch = index("bertabsa", "modernbert").batch(torch.arange(1))
    before, _ = encoder(batch)
    batch.positions[0, -1] = 7
    after, _ = encoder(batch)
    changed = (before != after).any(dim=-1)[0].nonzero().flatten().tolist()
    assert changed == [batch.positions.shape[1] - 2, batch.positions.shape[1] - 1]


@pytest.mark.slow
@every_architecture
@pytest.mark.parametrize("variant", ENCODERS)
def test_no_step_waits_for_the_device(architecture: str, variant: str) -> None:
    start, batch = tiny_encoder(architecture), index(variant, architecture).batch(torch.arange(5))
    model = build(variant, start)
    with NoWaiting():  # type: ignore[no-untyped-call]
        predict(model, batch)
        prediction = predict(model.train(), batch)
        loss = torch.nn.functional.cross_entropy(prediction.logits, batch.labels)
        loss.backward()  # type: ignore[no-untyped-call]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["bert", "modernbert"])  # the latter hands out its attention in half precision
@pytest.mark.parametrize("variant", ENCODERS)
def test_half_precision_ends_below_the_head(variant: str, architecture: str) -> None:
    model = build(variant, tiny_encoder(architecture))
    batch = index(variant, architecture).batch(torch.arange(5))
    exact = predict(model, batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = predict(model, batch)
    assert prediction.logits.dtype == torch.float32
    assert prediction.attention is None or prediction.attention.dtype == torch.float32
    assert not torch.equal(prediction.logits, exact.logits)
    torch.testing.assert_close(prediction.logits, exact.logits, rtol=0, atol=0.15)


@pytest.mark.slow
@every_architecture
@pytest.mark.parametrize("variant", ENCODERS)
def test_weights_in_half_the_space_answer_almost_the_same(variant: str, architecture: str) -> None:
    model = build(variant, tiny_encoder(architecture))
    batch = index(variant, architecture).batch(torch.arange(5))
    exact = predict(model, batch)
    models.narrow(model)
    prediction = predict(model, batch)
    assert {parameter.dtype for parameter in model.get_submodule("encoder").parameters()} == {torch.bfloat16}
    assert prediction.logits.dtype == torch.float32
    assert not torch.equal(prediction.logits, exact.logits)
    torch.testing.assert_close(prediction.logits, exact.logits, rtol=0, atol=0.15)
    if exact.attention is None:
        assert prediction.attention is None
    else:
        torch.testing.assert_close(prediction.attention, exact.attention, rtol=0, atol=0.05)


def test_weights_in_half_the_space_still_know_far_positions() -> None:
    start = replace(tiny_encoder("modernbert"), config=deepcopy(tiny_encoder("modernbert").config))
    # Heads wide enough to tell places apart by, which all look everywhere.
    start.config.hidden_size, start.config.initializer_range = 64, 0.3
    start.config.layer_types = ["full_attention"] * 2
    encoder = PieceEncoder(start, 0.0, "none", seed=0).eval()
    ids = torch.randint(5, 40, (1, 1200), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        exact = encoder.body(input_ids=ids).last_hidden_state
        encoder.narrow()
        narrow = encoder.body(input_ids=ids).last_hidden_state.float()
    # 0.02 by the rounding of weights and states; places that are rounded as well make it 0.09.
    assert (narrow - exact).norm() / exact.norm() < 0.04


@pytest.mark.parametrize("variant", ENCODERS)
def test_double_precision_stays_and_a_model_knows_its_mask_token(variant: str) -> None:
    model = build(variant, tiny_encoder()).double()
    assert predict(model, index(variant).batch(torch.arange(5))).logits.dtype == torch.float64
    assert model.mask_id == tiny_encoder().tokenizer.mask_token_id


@every_architecture
def test_segments_are_named_where_the_encoder_tells_them_apart(architecture: str) -> None:
    has_types = PieceEncoder(tiny_encoder(architecture), 0.0, "none", seed=0).has_types
    assert has_types == (architecture in ("bert", "electra"))


@every_architecture
def test_the_body_follows_from_the_seed_and_the_caller_does_not_notice(architecture: str) -> None:
    state = torch.get_rng_state()
    first, again, other = (PieceEncoder(tiny_encoder(architecture), 0.0, "none", seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    assert not all(torch.equal(one, two) for one, two in zip(first.parameters(), other.parameters(), strict=True))


def test_a_drawn_layer_has_the_usual_bounds_and_its_own_randomness() -> None:
    state = torch.get_rng_state()
    layer = draw_linear(100, 50, torch.Generator().manual_seed(0))
    torch.set_rng_state(state)
    weight, bias = layer.weight.detach(), layer.bias.detach()
    assert 0.099 < weight.abs().max() <= 0.1
    assert bias.abs().max() <= 0.1
    assert weight.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.05)
    assert torch.equal(draw_linear(100, 50, torch.Generator().manual_seed(0)).weight, layer.weight)
    assert draw_linear(3, 1, torch.Generator(), bias=False).bias is None


ASPECTS = ((0, (4, 10)), (0, (28, 33)), (1, (4, 9)), (1, (0, 9)), (1, (0, 3)), (0, (11, 13)))
TEXTS = ("the screen is great but the price is not", "the price is so so")


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_att"])
def test_rows_of_one_sentence_that_follow_each_other_are_read_once(name: str) -> None:
    examples = [Example.from_text(TEXTS[text], span, label="positive") for text, span in ASPECTS]
    corpus = IndexedCorpus.of(tiny_encoder().cutter(False, 0).features(examples, DEFAULT_LABELS))
    batch, found = corpus.batch(torch.arange(len(corpus))), {}
    for shares in (False, True):
        model: Any = models.build(name, tiny_encoder(), 3, {"dropout": 0.0}, seed=1)
        if shares:
            models.share_sentences(model)
        read: list[int] = []
        model.encoder.body.register_forward_pre_hook(
            lambda module, given, named, read=read: read.append(len(named["input_ids"])), with_kwargs=True
        )
        encoding = model.encode(batch)
        encoding.words.retain_grad()
        logits = model.classify(encoding, batch).logits
        logits.logsumexp(1).sum().backward()
        gradients = [each.grad for each in model.parameters() if each.grad is not None]
        found[shares] = [logits, encoding.words.grad, *gradients]
        assert read == [3 if shares else 6]
    for one, other in zip(found[False], found[True], strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_a_model_that_sees_the_aspect_or_refines_its_attention_reads_every_row() -> None:
    for variant in ("bertabsa_cls", "bertabsa-average"):
        model: Any = build(variant, tiny_encoder())
        models.share_sentences(model)
        assert not model.encoder.shares


def test_an_encoder_in_bfloat16_hands_out_single_precision_in_mining_too() -> None:
    model: Any = build("bertabsa_att", tiny_encoder())
    batch = index("bertabsa_att").batch(torch.arange(5))
    exact = model.encode(batch).words.detach()
    models.share_sentences(model, half=True)
    rounded = model.encode(batch).words.detach()
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, exact)
    assert float((rounded - exact).abs().mean()) < 0.1 * float(exact.abs().mean())
