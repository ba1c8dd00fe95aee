"""Masking, normalising and the entropy."""

from __future__ import annotations

import pytest
import torch
from tests.saliency.toys import Toy, make_batch
from torch import Tensor

from pssa.data.batch import Batch
from pssa.errors import InputError
from pssa.models import AspectClassifier
from pssa.saliency import entropy_bits, normalise, score_words
from pssa.saliency._scores import to_words

BATCH = make_batch([[3, 4, 5, 6]], [[0, 1, 1, 0]])
TOY = Toy(torch.zeros(8, 1), torch.zeros(1, 2))


def scripted(scores: list[list[float]]) -> object:
    def saliency(model: AspectClassifier, batch: Batch) -> Tensor:
        return torch.tensor(scores)

    return saliency


def test_scores_are_masked_to_the_candidates_and_sum_to_one() -> None:
    scores = score_words(scripted([[9.0, 1.0, 3.0, 5.0]]), TOY, BATCH)  # type: ignore[arg-type]
    assert scores.tolist() == [[0.0, 0.25, 0.75, 0.0]]


def test_scores_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(1, 2\); expected \(1, 4\)"):
        score_words(scripted([[1.0, 2.0]]), TOY, BATCH)  # type: ignore[arg-type]


def test_a_row_without_candidates_or_without_scores_is_all_zero() -> None:
    candidates = torch.tensor([[False, False], [True, True]])
    assert normalise(torch.tensor([[1.0, 2.0], [0.0, 0.0]]), candidates).tolist() == [[0, 0], [0, 0]]


def test_a_negative_score_gets_no_share() -> None:
    assert normalise(torch.tensor([[-3.0, 2.0, 2.0]]), torch.ones(1, 3, dtype=torch.bool)).tolist() == [[0, 0.5, 0.5]]


def test_what_is_no_candidate_is_not_looked_at() -> None:
    scores = torch.tensor([[float("nan"), float("inf"), 2.0]])
    assert normalise(scores, torch.tensor([[False, False, True]])).tolist() == [[0, 0, 1]]


def test_samples_are_normalised_one_by_one() -> None:
    samples = torch.tensor([[[1.0, 3.0]], [[30.0, 10.0]]])  # (S, B, N)
    assert normalise(samples, torch.ones(1, 2, dtype=torch.bool)).tolist() == [[[0.25, 0.75]], [[0.75, 0.25]]]


def test_half_precision_scores_become_single() -> None:
    assert normalise(torch.ones(1, 3, dtype=torch.bfloat16), torch.ones(1, 3, dtype=torch.bool)).dtype == torch.float32


def test_the_entropy_of_equal_shares_is_the_logarithm_of_their_number() -> None:
    shares = torch.tensor([[0.125] * 8, [0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0]])
    assert entropy_bits(shares).tolist() == pytest.approx([3.0, 2.0])


def test_the_entropy_of_unequal_shares_is_in_bits() -> None:
    # 1/2 * 1 + 1/4 * 2 + 2 * 1/8 * 3
    assert entropy_bits(torch.tensor([0.5, 0.25, 0.125, 0.125])).item() == pytest.approx(1.75)


def test_the_entropy_of_a_single_share_and_of_none_is_zero() -> None:
    assert entropy_bits(torch.tensor([[0.0, 1.0], [0.0, 0.0]])).tolist() == [0, 0]


def test_the_positions_of_a_word_are_summed() -> None:
    batch = make_batch([[9, 3, 4, 5, 9]], [[1, 1]], word_of=[[-1, 0, 1, 1, -1]])
    assert to_words(torch.tensor([[100.0, 1.0, 2.0, 3.0, 100.0]]), batch).tolist() == [[1.0, 5.0]]
