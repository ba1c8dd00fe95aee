"""Refined self-attention: the cut below the top layer, and the heads that are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
import transformers
from tests.models.encoders import ARCHITECTURES, tiny_encoder
from tests.models.tokenizers import word_piece
from tests.models.variants import N_LABELS, build, index, predict
from torch import Tensor

from pssa import models
from pssa.errors import InputError
from pssa.models import Batch, Heads, Pretrained
from pssa.models._refinement import Refinement, above, attention_of, below, prepare

# Positions: [CLS], two of the aspect, three candidates. The aspect's two rows count.
CANDIDATES = torch.tensor([[False, False, False, True, True, True]])
ROWS = torch.tensor([[False, True, True, False, False, False]])
EVEN, PEAKED = [0.0, 0.0, 0.7, 0.1, 0.1, 0.1], [0.3, 0.3, 0.3, 0.0, 0.1, 0.0]


def weights(first: list[float], second: list[float]) -> Tensor:
    """(1, 2, 6, 6) two heads whose counting rows are these; any other row would be noticed."""
    both = torch.full((1, 2, 6, 6), 100.0)
    both[0, 0, 1:3] = torch.tensor(first)
    both[0, 1, 1:3] = torch.tensor(second)
    return both


def refinement(way: str, seed: int = 0) -> Refinement:
    model = models.build("bertabsa", tiny_encoder(), N_LABELS, {"refine": way}, seed)
    found = model.get_submodule("encoder.refinement")
    assert isinstance(found, Refinement)
    return found


def test_the_head_of_the_smallest_entropy_is_the_one_that_looks_at_one_candidate() -> None:
    # Its weight on them lies on one: renormalised, the entropy is zero. As a whole, its rows have the larger one.
    choose = refinement("smallest_entropy")
    assert choose(weights(EVEN, PEAKED), ROWS, CANDIDATES).share.tolist() == [[0, 1]]
    assert choose(weights(PEAKED, EVEN), ROWS, CANDIDATES).share.tolist() == [[1, 0]]


def test_the_head_is_chosen_for_each_example_and_without_a_gradient() -> None:
    both = torch.cat([weights(EVEN, PEAKED), weights(PEAKED, EVEN)]).requires_grad_()
    heads = refinement("smallest_entropy")(both, ROWS.expand(2, -1), CANDIDATES.expand(2, -1))
    assert heads.share.tolist() == [[0, 1], [1, 0]]
    assert not heads.share.requires_grad
    assert heads.weights is both


def test_without_a_candidate_some_head_is_chosen() -> None:
    heads = refinement("smallest_entropy")(weights(EVEN, PEAKED), ROWS, torch.zeros_like(CANDIDATES))
    assert heads.share.sum() == 1
    assert attention_of(heads, torch.zeros_like(CANDIDATES)).tolist() == [[0.0] * 6]


def test_the_average_gives_every_head_its_share() -> None:
    heads = refinement("average")(weights(EVEN, PEAKED).repeat(3, 1, 1, 1), ROWS, CANDIDATES)
    assert heads.share.tolist() == [[0.5, 0.5]] * 3


def test_a_random_head_follows_from_the_seed_and_is_the_same_for_all() -> None:
    drawn = {tuple(refinement("random_head", seed).get_buffer("share").tolist()) for seed in range(8)}
    assert drawn == {(1.0, 0.0), (0.0, 1.0)}
    first, again = (refinement("random_head", 5).get_buffer("share") for _ in range(2))
    assert torch.equal(first, again)
    shares = refinement("random_head", 5)(weights(EVEN, PEAKED).repeat(3, 1, 1, 1), ROWS, CANDIDATES).share
    assert torch.equal(shares, first.expand(3, -1))


def test_a_random_head_is_saved_with_the_weights() -> None:
    one, two = (f"bertabsa-{way}" for way in ("random_head", "random_head"))
    start, batch = tiny_encoder(), index(one).batch(torch.arange(5))
    shares = {seed: refinement("random_head", seed).get_buffer("share") for seed in range(8)}
    other_seed = next(seed for seed, share in shares.items() if not torch.equal(share, shares[0]))
    saved, loaded = build(one, start), build(two, start, seed=other_seed)
    loaded.load_state_dict(saved.state_dict())
    assert torch.equal(predict(loaded, batch).attention, predict(saved, batch).attention)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("share", "expected"),
    [([1.0, 0.0], [0.1, 0.1, 0.1]), ([0.0, 1.0], [0.0, 0.1, 0.0]), ([0.5, 0.5], [0.05, 0.1, 0.05])],
)
def test_attention_is_the_chosen_heads_mean_row_on_the_candidates(share: list[float], expected: list[float]) -> None:
    heads = Heads(weights(EVEN, PEAKED), ROWS, torch.tensor([share]))
    torch.testing.assert_close(attention_of(heads, CANDIDATES), torch.tensor([[0.0, 0.0, 0.0, *expected]]))


def test_the_rows_that_count_are_averaged() -> None:
    both = weights(EVEN, EVEN)
    both[0, :, 2] = torch.tensor(PEAKED)
    heads = Heads(both, ROWS, torch.tensor([[1.0, 0.0]]))
    torch.testing.assert_close(attention_of(heads, CANDIDATES)[0, 3:], torch.tensor([0.05, 0.1, 0.05]))


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
def test_the_rows_that_count_are_the_aspects_or_the_first_and_supervision_reaches_the_encoder(name: str) -> None:
    batch = index(name).batch(torch.arange(5))
    heads = predict(build(f"{name}-average", tiny_encoder()), batch).heads
    assert heads is not None
    expected = batch.aspect_positions if name == "bertabsa" else torch.arange(batch.positions.shape[1]) == 0
    assert torch.equal(heads.rows, expected.expand(batch.positions.shape))
    model = build(f"{name}-random_head", tiny_encoder())
    attention = predict(model, batch).attention
    assert attention is not None
    attention.square().sum().backward()  # type: ignore[no-untyped-call]
    query = model.get_parameter("encoder.body.encoder.layer.1.attention.self.query.weight").grad
    assert query is not None
    assert query.any()


every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


def inputs_of(batch: Batch) -> dict[str, Any]:
    return {"input_ids": batch.positions, "attention_mask": batch.present.long()}


def cut(architecture: str, rows: Sequence[int] = range(5), dropout: float = 0.0) -> tuple[Any, Batch]:
    """A body that is prepared for the cut, and a batch for it."""
    body, corpus = tiny_encoder(architecture).body("eager", dropout).eval(), index("bertabsa", architecture)
    prepare(body, inputs_of(corpus.batch(torch.arange(2))))
    return body, corpus.batch(torch.tensor(rows))


@pytest.mark.slow
@every_architecture
@pytest.mark.parametrize("rows", [[0, 1, 2], [0]])
def test_the_two_parts_are_the_whole(architecture: str, rows: list[int]) -> None:
    body, batch = cut(architecture, rows)
    words, top = below(body, inputs_of(batch))
    whole = body(**inputs_of(batch)).last_hidden_state  # the body still works by itself
    assert whole.shape == (*batch.positions.shape, 16)
    for times in (1, 4):
        states, weights = above(body, words.repeat(times, 1, 1), top)
        assert weights.shape == (times * len(rows), 2, *batch.positions.shape[1:], *batch.positions.shape[1:])
        torch.testing.assert_close(states, whole.repeat(times, 1, 1), rtol=0, atol=1e-6)


@pytest.mark.slow
@every_architecture
def test_attention_is_that_of_the_top_layer_none_goes_to_padding_and_the_logit_depends_on_it(architecture: str) -> None:
    body, batch = cut(architecture)
    states, weights = above(body, *below(body, inputs_of(batch)))
    own = body(**inputs_of(batch), output_attentions=True).attentions[-1]
    torch.testing.assert_close(weights, own)
    present = batch.present[:, None, None, :].expand(weights.shape)
    rows = batch.present[:, None, :, None].expand(weights.shape)
    assert torch.all(weights[rows & ~present] == 0)
    (gradient,) = torch.autograd.grad(states[:, 1].square().sum(), weights)
    assert gradient[:, :, 1].abs().sum() > 0
    assert gradient[:, :, 2:].abs().sum() == 0


@pytest.mark.slow
@every_architecture
def test_attention_stays_a_distribution_in_training(architecture: str) -> None:
    body, batch = cut(architecture, dropout=0.5)
    words, top = below(body.train(), inputs_of(batch))
    states, weights = above(body, words, top)
    totals = weights.sum(dim=-1)[batch.present[:, None].expand(-1, 2, -1)]
    torch.testing.assert_close(totals, torch.ones_like(totals))
    assert not torch.equal(states, above(body, words, top)[0])  # other dropouts are as they were


@pytest.mark.slow
@pytest.mark.parametrize("refine", ["random_head", "smallest_entropy", "average"])
@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
@every_architecture
def test_a_refined_model_predicts_as_the_plain_one(architecture: str, name: str, refine: str) -> None:
    start, batch = tiny_encoder(architecture), index(name, architecture).batch(torch.arange(5))
    plain, refined = build(name, start), build(f"{name}-{refine}", start, seed=1)
    tensors = plain.state_dict()
    kept = {key: value for key, value in refined.state_dict().items() if key not in tensors}
    assert list(kept) == (["encoder.refinement.share"] if refine == "random_head" else [])
    refined.load_state_dict(tensors | kept)
    torch.testing.assert_close(predict(refined, batch).logits, predict(plain, batch).logits, rtol=0, atol=3e-6)


@pytest.mark.slow
def test_several_threads_can_use_one_model() -> None:
    model, corpus = build("bertabsa-average", tiny_encoder()), index("bertabsa")
    batches = [corpus.batch(torch.tensor([row])) for row in range(5)] * 20
    expected = [predict(model, batch).logits for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda batch: predict(model, batch).logits, batches))
    assert all(torch.equal(one, two) for one, two in zip(found, expected, strict=True))


@pytest.mark.slow
def test_an_architecture_that_cannot_be_cut_is_refused() -> None:
    # One layer, used several times over.
    tokenizer = word_piece()
    sizes: dict[str, Any] = {"hidden_size": 16, "embedding_size": 16, "num_attention_heads": 2, "intermediate_size": 24}
    start = Pretrained(transformers.AlbertConfig(vocab_size=len(tokenizer), **sizes), tokenizer)
    assert models.build("bertabsa", start, N_LABELS, {}, seed=0)
    with pytest.raises(InputError, match="self-attention of albert encoders cannot"):
        models.build("bertabsa", start, N_LABELS, {"refine": "average"}, seed=0)
