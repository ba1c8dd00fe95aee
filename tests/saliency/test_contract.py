"""What every saliency owes with every model; a new file of either kind is covered unasked."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from tests.models.encoders import tiny_encoder
from tests.models.variants import ATTENDING, REFINED, VARIANTS, name_of
from tests.saliency.toys import draw_model
from torch import Tensor

from pssa import models, saliency
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import IndexedCorpus, index_words

TEXTS = (  # the aspect is always "screen"
    "the screen is huge and colorful but no led backlighting and it is not what i call a good screen for the money",
    "great screen",
    "i love the screen but hate the keys",
    "screen",
)
EXAMPLES = [
    Example.from_text(text, (text.index("screen"), text.index("screen") + 6), label="positive", id=str(place))
    for place, text in enumerate(TEXTS)
]
EXAMPLES[2] = EXAMPLES[2].hide([1])
HIDDEN, NO_CANDIDATE = 2, 3
# No word but the aspect's, or none at all, reaches a logit through its own state: nothing to differentiate there.
STATELESS = ("bertabsa", "bertabsa_cls")
ABLE = {"attention": ATTENDING, "refined": REFINED}  # by what a saliency needs
# To a saliency that does not ask for attention, one refined model is like the other.
ALIKE = [model for model in VARIANTS if model not in REFINED or model.endswith("-average")]
EVERY = list(product(VARIANTS, saliency.names()))
PAIRS = [(model, name) for model, name in EVERY if model in ABLE.get(saliency.needs(name), ALIKE)]
REFUSED = [(model, name) for model, name in EVERY if model not in ABLE.get(saliency.needs(name), VARIANTS)]


@pytest.fixture
def corpus(model_name: str) -> IndexedCorpus:
    name = name_of(model_name)
    if models.uses_encoder(name):
        return IndexedCorpus.of(tiny_encoder().cutter(pair=models.reads_pairs(name)).features(EXAMPLES, DEFAULT_LABELS))
    vocabulary = Vocabulary.build(word for text in TEXTS for word in text.split())
    return index_words(EXAMPLES, vocabulary, DEFAULT_LABELS)


def build_model(variant: str, corpus: IndexedCorpus) -> Any:
    return draw_model(variant, n_words=int(corpus.table.positions.max()) + 1)


def scores_of(model: Any, name: str, corpus: IndexedCorpus, rows: list[int]) -> Tensor:
    return saliency.score_words(saliency.build(name, {}), model, corpus.batch(torch.tensor(rows)))


@pytest.mark.parametrize(("model_name", "name"), PAIRS)
def test_every_saliency_keeps_its_contract_with_every_model(model_name: str, name: str, corpus: IndexedCorpus) -> None:
    model = build_model(model_name, corpus)
    state = {key: value.clone() for key, value in model.state_dict().items()}
    randomness = torch.random.get_rng_state()
    scores = scores_of(model, name, corpus, [0, 1, 2, 3])

    totals = scores.sum(dim=1)
    assert ((totals - 1).abs().lt(1e-5) | totals.eq(0)).all()
    is_blind = saliency.needs(name) == "states" and model_name in STATELESS
    assert totals.gt(0).any() != is_blind, "a saliency that is zero there differentiates: does it say what it `needs`?"
    assert (scores >= 0).all()
    assert (scores[~corpus.table.candidates] == 0).all()
    assert scores[HIDDEN, 1] == 0
    assert (scores[NO_CANDIDATE] == 0).all()

    assert torch.equal(scores, scores_of(model, name, corpus, [0, 1, 2, 3]))
    assert torch.equal(randomness, torch.random.get_rng_state())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())


@pytest.mark.slow
@pytest.mark.parametrize(("model_name", "name"), PAIRS)
def test_neither_padding_nor_other_rows_change_the_scores(model_name: str, name: str, corpus: IndexedCorpus) -> None:
    model = build_model(model_name, corpus)
    together = scores_of(model, name, corpus, [0, 1, 2, 3])
    for row, example in enumerate(EXAMPLES):
        alone = scores_of(model, name, corpus, [row])
        torch.testing.assert_close(alone[0], together[row, : len(example.spans)], atol=1e-6, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("model_name", "name"), PAIRS)
def test_raw_scores_carry_no_gradient_in_any_mode(model_name: str, name: str, corpus: IndexedCorpus) -> None:
    model, batch = build_model(model_name, corpus), corpus.batch(torch.tensor([0, 2]))
    outside = saliency.build(name, {})(model, batch)
    with torch.no_grad():
        inside = saliency.build(name, {})(model, batch)
    assert not outside.requires_grad
    assert torch.equal(outside, inside)


@pytest.mark.parametrize(("model_name", "name"), REFUSED)
def test_a_saliency_of_attention_is_refused_without_it(model_name: str, name: str, corpus: IndexedCorpus) -> None:
    with pytest.raises(InputError, match=r"no attention|is not refined"):
        scores_of(build_model(model_name, corpus), name, corpus, [0])
