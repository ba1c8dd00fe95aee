"""Which texts to label next."""

from __future__ import annotations

import math

import pytest
import torch

from pssa.evaluation.active_learning import DoubtfulText, choose_diverse, disagreement, margin_doubt


def _text(doubt: float, aspect: str = "a", words: str = "") -> DoubtfulText:
    return DoubtfulText(doubt, aspect, frozenset(words.split()))


def test_doubt_is_what_the_margin_leaves() -> None:
    found = margin_doubt(torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.7, 0.1], [0.0, 0.0, 1.0]]))
    assert found.tolist() == pytest.approx([1.0, 0.5, 0.0])


def test_disagreement_is_the_divergence_of_the_answers() -> None:
    sure_and_other = torch.tensor([[[1.0, 0.0], [0.8, 0.2]], [[0.0, 1.0], [0.8, 0.2]]])
    assert disagreement(sure_and_other).tolist() == pytest.approx([1.0, 0.0], abs=1e-6)
    one_of_two = torch.tensor([[[1.0, 0.0, 0.0]], [[0.5, 0.5, 0.0]]])
    # Entropy of the mean (3/4, 1/4) less the mean entropy (half of log 2), as a share of log 2.
    mean = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert disagreement(one_of_two).tolist() == pytest.approx([(mean - math.log(2) / 2) / math.log(2)])
    assert disagreement(one_of_two[:1]).tolist() == [0.0]


def test_the_most_doubtful_comes_first_and_others_must_be_unlike_it() -> None:
    texts = [_text(0.5, "x", "a"), _text(1.0, "y", "b"), _text(0.9, "z", "c")]
    same, other = [1.0, 0.0], [-1.0, 0.0]
    chosen = choose_diverse(texts, torch.tensor([other, same, same]), count=3)
    assert [choice.index for choice in chosen] == [1, 0, 2]
    assert [choice.novelty for choice in chosen] == pytest.approx([1.0, 1.0, 0.0])


def test_an_aspect_that_was_chosen_counts_less() -> None:
    texts = [_text(1.0, "x", "a"), _text(0.9, "x", "b"), _text(0.8, "y", "c")]
    points = torch.eye(3)  # equally far from each other
    chosen = choose_diverse(texts, points, count=3)
    assert [(choice.index, choice.times) for choice in chosen] == [(0, 0), (2, 0), (1, 1)]


def test_near_duplicates_are_left_out_and_equal_texts_are_taken_in_order() -> None:
    texts = [_text(0.5, "x", "a b c d e"), _text(0.5, "y", "a b c d e f"), _text(0.5, "z", "a b q")]
    chosen = choose_diverse(texts, torch.eye(3), count=9)
    assert [choice.index for choice in chosen] == [0, 2]
    assert choose_diverse([], torch.zeros(0, 1), count=3) == []
