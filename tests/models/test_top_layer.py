"""The cut below the top layer, in every architecture."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
import transformers
from tests.data.tokenizers import word_piece
from tests.models.encoders import ARCHITECTURES, tiny_encoder
from tests.models.variants import N_LABELS, build, index, predict

from pssa import models
from pssa.data.batch import Batch
from pssa.errors import InputError
from pssa.models import Pretrained
from pssa.models._top_layer import above, below, prepare

pytestmark = pytest.mark.slow

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


def inputs_of(batch: Batch) -> dict[str, Any]:
    return {"input_ids": batch.positions, "attention_mask": batch.present.long()}


def cut(architecture: str, dropout: float = 0.0) -> Any:
    body = tiny_encoder(architecture).body("eager", dropout).eval()
    prepare(body, inputs_of(index("bertabsa", architecture).batch(torch.arange(2))))
    return body


@every_architecture
@pytest.mark.parametrize("rows", [[0, 1, 2], [0]])
def test_the_two_parts_are_the_whole(architecture: str, rows: list[int]) -> None:
    body, batch = cut(architecture), index("bertabsa", architecture).batch(torch.tensor(rows))
    words, top = below(body, inputs_of(batch))
    whole = body(**inputs_of(batch)).last_hidden_state
    for times in (1, 4):
        states, weights = above(body, words.repeat(times, 1, 1), top)
        assert weights.shape == (times * len(rows), 2, *batch.positions.shape[1:], *batch.positions.shape[1:])
        torch.testing.assert_close(states, whole.repeat(times, 1, 1), rtol=0, atol=1e-6)


@every_architecture
def test_attention_is_that_of_the_top_layer_and_none_goes_to_padding(architecture: str) -> None:
    body, batch = cut(architecture), index("bertabsa", architecture).batch(torch.arange(5))
    _, weights = above(body, *below(body, inputs_of(batch)))
    own = body(**inputs_of(batch), output_attentions=True).attentions[-1]
    torch.testing.assert_close(weights, own)
    present = batch.present[:, None, None, :].expand(weights.shape)
    rows = batch.present[:, None, :, None].expand(weights.shape)
    assert torch.all(weights[rows & ~present] == 0)


@every_architecture
def test_attention_stays_a_distribution_in_training(architecture: str) -> None:
    body, batch = cut(architecture, dropout=0.5).train(), index("bertabsa", architecture).batch(torch.arange(5))
    words, top = below(body, inputs_of(batch))
    states, weights = above(body, words, top)
    totals = weights.sum(dim=-1)[batch.present[:, None].expand(-1, 2, -1)]
    torch.testing.assert_close(totals, torch.ones_like(totals))
    assert not torch.equal(states, above(body, words, top)[0])  # other dropouts are as they were


@every_architecture
def test_the_logit_depends_on_the_attention_that_is_read(architecture: str) -> None:
    body, batch = cut(architecture), index("bertabsa", architecture).batch(torch.arange(5))
    states, weights = above(body, *below(body, inputs_of(batch)))
    (gradient,) = torch.autograd.grad(states[:, 1].square().sum(), weights)
    assert gradient[:, :, 1].abs().sum() > 0
    assert gradient[:, :, 2:].abs().sum() == 0


@pytest.mark.parametrize("refine", ["random_head", "smallest_entropy", "average"])
@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
@every_architecture
def test_a_refined_model_predicts_as_the_plain_one_with_the_same_weights(
    architecture: str, name: str, refine: str
) -> None:
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


def test_the_body_still_works_by_itself() -> None:
    body, batch = cut("bert"), index("bertabsa").batch(torch.arange(5))
    below(body, inputs_of(batch))
    assert body(**inputs_of(batch)).last_hidden_state.shape == (*batch.positions.shape, 16)


def test_an_architecture_that_cannot_be_cut_is_refused() -> None:
    # One layer, used several times over.
    tokenizer = word_piece()
    sizes: dict[str, Any] = {"hidden_size": 16, "embedding_size": 16, "num_attention_heads": 2, "intermediate_size": 24}
    start = Pretrained(transformers.AlbertConfig(vocab_size=len(tokenizer), **sizes), tokenizer)
    assert models.build("bertabsa", start, N_LABELS, {}, seed=0)
    with pytest.raises(InputError, match="self-attention of albert encoders cannot be refined; set refine to none"):
        models.build("bertabsa", start, N_LABELS, {"refine": "average"}, seed=0)
