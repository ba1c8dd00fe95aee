"""Shares of words from raw scores, entropy, and a saliency over a whole corpus."""

from __future__ import annotations

import math

import pytest
import torch
from tests.mining.toys import NEGATIVE, POSITIVE, index, scripted
from tests.saliency.toys import Toy, make_batch
from torch import Tensor

from pssa.errors import InputError
from pssa.models import AspectModel, Batch
from pssa.saliency import Observation, build, entropy_bits, normalise, observe, score_words

BATCH = make_batch([[3, 4, 5, 6]], [[0, 1, 1, 0]])
TOY = Toy(torch.zeros(8, 1), torch.zeros(1, 2))


def fixed(scores: list[list[float]]) -> object:
    def saliency(model: AspectModel, batch: Batch) -> Tensor:
        return torch.tensor(scores)

    return saliency


def test_scores_are_masked_to_the_candidates_and_sum_to_one_or_have_the_wrong_shape() -> None:
    scores = score_words(fixed([[9.0, 1.0, 3.0, 5.0]]), TOY, BATCH)  # type: ignore[arg-type]
    assert scores.tolist() == [[0.0, 0.25, 0.75, 0.0]]
    with pytest.raises(InputError, match=r"shape \(1, 2\); expected \(1, 4\)"):
        score_words(fixed([[1.0, 2.0]]), TOY, BATCH)  # type: ignore[arg-type]


def test_only_positive_scores_of_candidates_get_a_share() -> None:
    candidates = torch.tensor([[False, False], [True, True]])
    assert normalise(torch.tensor([[1.0, 2.0], [0.0, 0.0]]), candidates).tolist() == [[0, 0], [0, 0]]
    assert normalise(torch.tensor([[-3.0, 2.0, 2.0]]), torch.ones(1, 3, dtype=torch.bool)).tolist() == [[0, 0.5, 0.5]]
    scores = torch.tensor([[float("nan"), float("inf"), 2.0]])
    assert normalise(scores, torch.tensor([[False, False, True]])).tolist() == [[0, 0, 1]]


def test_entropy_is_in_bits() -> None:
    shares = torch.tensor([[0.125] * 8, [0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0]])
    assert entropy_bits(shares).tolist() == pytest.approx([3.0, 2.0])
    # 1/2 * 1 + 1/4 * 2 + 2 * 1/8 * 3
    assert entropy_bits(torch.tensor([0.5, 0.25, 0.125, 0.125])).item() == pytest.approx(1.75)
    assert entropy_bits(torch.tensor([[0.0, 1.0], [0.0, 0.0]])).tolist() == [0, 0]


ATTENTION = build("attention", {})
CORPUS = index("screen good", "a screen so very good", "bad screen")
MODEL_SAYS = [[9.0, 2.0, 0.0, 0.0, 0.0], [1.0, 9.0, 1.0, 0.0, 2.0], [0.0, 9.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("batch_size", [1, 2, 128])
def test_what_is_seen_is_in_the_order_of_the_corpus(batch_size: int) -> None:
    seen = observe(scripted(MODEL_SAYS, [POSITIVE, NEGATIVE, NEGATIVE]), CORPUS, ATTENTION, batch_size)
    assert seen.predicted.tolist() == [POSITIVE, NEGATIVE, NEGATIVE]
    torch.testing.assert_close(seen.probabilities[0], torch.tensor([0.9, 0.05, 0.05]))
    # Shares over the candidates: the aspect's weight is nobody's, and what has no weight at all says nothing.
    expected = [[0.0, 1.0, 0.0, 0.0, 0.0], [0.25, 0.0, 0.25, 0.0, 0.5], [0.0, 0.0, 0.0, 0.0, 0.0]]
    torch.testing.assert_close(seen.scores, torch.tensor(expected))


def test_the_model_is_looked_at_in_eval_mode_and_on_batches_that_are_no_wider_than_they_must_be() -> None:
    model = scripted(MODEL_SAYS, [POSITIVE] * 3)
    model.train()
    observe(model, CORPUS.select([0, 2]), ATTENTION)
    assert model.modes
    assert not any(model.modes)
    assert {batch.positions.shape[1] for batch in model.shown} == {2}


def test_what_is_left_without_words_is_again_shares_of_a_whole() -> None:
    scores = torch.tensor([[0.7, 0.1, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0], [0.2, 0.3, 0.5, 0.0]])
    words = torch.tensor([[True, False, False, False]] * 2 + [[False, False, False, True]])
    left = Observation(torch.eye(3), scores).without(words).scores
    torch.testing.assert_close(left[0], torch.tensor([0.0, 1 / 3, 1 / 3, 1 / 3]))
    torch.testing.assert_close(entropy_bits(left)[0], torch.tensor(math.log2(3)))
    assert left[1].tolist() == [0.0] * 4  # nothing is left to say
    assert torch.equal(left[2], scores[2])


def test_a_part_of_the_corpus_is_filled_into_its_places() -> None:
    whole = Observation.blank(3, 4, 2)
    part = Observation(torch.tensor([[0.3, 0.7], [0.8, 0.2]]), torch.tensor([[0.5, 0.5], [1.0, 0.0]]))
    whole.fill(torch.tensor([2, 0]), part)
    assert whole.predicted.tolist() == [0, 0, 1]
    assert whole.scores.tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0] * 4, [0.5, 0.5, 0.0, 0.0]]
