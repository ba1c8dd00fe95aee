"""Saliencies by name, and the two that need no gradient: attention and random scores."""

from __future__ import annotations

import importlib
from dataclasses import FrozenInstanceError, replace

import pytest
import torch
from tests.saliency.toys import Toy, make_batch

from pssa import saliency
from pssa.errors import InputError
from pssa.saliency import score_words
from pssa.saliency.attention import Attention
from pssa.saliency.random import Random


@pytest.mark.parametrize("name", saliency.names())
def test_a_file_has_one_public_class_with_its_options_as_fields(name: str) -> None:
    assert len(importlib.import_module(f"pssa.saliency.{name}").__all__) == 1
    built = saliency.build(name, {})
    with pytest.raises(FrozenInstanceError):
        built.anything = 1  # type: ignore[attr-defined]


def test_an_unknown_saliency_or_option_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError) as refused:
        saliency.build("grad", {})
    assert str(refused.value) == f"unknown saliency 'grad'; known: {', '.join(saliency.names())}"
    with pytest.raises(InputError, match="unknown option 'step' of saliency"):
        saliency.build("integrated_gradients", {"step": 3})
    with pytest.raises(InputError, match="unknown option 'seed' of saliency"):
        saliency.build("attention", {"seed": 3})


# A special token, the aspect, a word of two pieces and a word of one.
BATCH = make_batch([[9, 3, 4, 5, 6]], [[0, 1, 1]], word_of=[[-1, 0, 1, 1, 2]])


def test_the_attention_of_a_words_pieces_is_summed_and_without_it_there_is_another_way() -> None:
    model = Toy(torch.zeros(10, 1), torch.zeros(1, 2), attention=torch.tensor([[0.0, 0.2, 0.1, 0.3, 0.4]]))
    assert Attention()(model, BATCH)[0].tolist() == pytest.approx([0.2, 0.4, 0.4])
    assert score_words(Attention(), model, BATCH)[0].tolist() == pytest.approx([0.0, 0.5, 0.5])
    with pytest.raises(InputError, match="no attention weights; use another"):
        Attention()(Toy(torch.zeros(10, 1), torch.zeros(1, 2)), BATCH)


TOY = Toy(torch.zeros(8, 1), torch.zeros(1, 2))
RANDOM_BATCH = make_batch([[3] * 500, [4] * 500], [[1] * 500] * 2)


def test_random_scores_are_uniform_by_seed_without_asking_the_model() -> None:
    scores = Random()(TOY, RANDOM_BATCH)
    assert 0 <= scores.min() < 0.01
    assert 0.99 < scores.max() <= 1
    assert scores.mean().item() == pytest.approx(0.5, abs=0.03)
    Random()(TOY, RANDOM_BATCH)
    assert TOY.encoded == TOY.classified == []
    # Example 1 of seed 0 is not example 0 of seed 1.
    assert not torch.equal(Random(0)(TOY, RANDOM_BATCH)[1], Random(1)(TOY, RANDOM_BATCH)[0])
    with pytest.raises(InputError, match="seed is -1"):
        Random(seed=-1)


def test_an_example_keeps_its_scores_in_another_batch() -> None:
    scores = Random(seed=4)(TOY, RANDOM_BATCH)
    alone = replace(make_batch([[4, 4, 4]], [[1, 1, 1]]), index=torch.tensor([1]))
    assert torch.equal(Random(seed=4)(TOY, alone)[0], scores[1, :3])
    assert not torch.equal(scores[0], scores[1])
