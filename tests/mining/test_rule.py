"""Which word is taken: lines 13 to 21 of Algorithm 1, and the random pick of RM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from pssa.errors import InputError
from pssa.mining import Rule
from pssa.saliency import Observation

HALVES = [0.5, 0.5, 0.0, 0.0]  # 1 bit
QUARTERS = [0.25] * 4  # 2 bits
SURE = [0.0, 0.0, 1.0, 0.0]  # 0 bits


def extract(
    rule: Rule, scores: list[list[float]], *, candidates: Tensor | None = None, iteration: int = 1
) -> list[int]:
    """Return the word that is taken from each example; the words to hide must be the same."""
    seen = Observation(torch.eye(2)[torch.zeros(len(scores), dtype=torch.long)], torch.tensor(scores))
    everything = torch.ones(len(scores), len(scores[0]), dtype=torch.bool)
    words, _ = rule.extract(seen, everything if candidates is None else candidates, iteration)
    return words.tolist()


def test_the_top_word_is_taken_where_entropy_in_bits_is_below_epsilon() -> None:
    assert extract(Rule(epsilon=1.5), [HALVES, QUARTERS, SURE]) == [0, -1, 2]
    assert extract(Rule(epsilon=1.0), [HALVES]) == [-1]
    assert extract(Rule(epsilon=1.01), [HALVES]) == [0]


@pytest.mark.parametrize("drawn", ["nothing", "word", "mask"])
def test_a_sentence_whose_scores_say_nothing_gives_no_word(drawn: str) -> None:
    assert extract(Rule(epsilon=2.0, drawn=drawn), [[0.0] * 4]) == [-1]


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"epsilon": 0.0}, "epsilon is 0.0; it must be greater than 0"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"epsilon": 1.0, "drawn": "both"}, "drawn is 'both'; it can be nothing, word, mask"),
    ],
)
def test_a_rule_that_can_never_apply_is_refused(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        Rule(**settings)


N_ROWS = 4000
CANDIDATES = torch.tensor([[True, False, True, True]] * N_ROWS)
RANDOM = Rule(epsilon=1.0, drawn="word")


def pick(rule: Rule, iteration: int = 1) -> list[int]:
    """Words of 4000 sentences whose scores all sit on word 2 and whose word 1 is no candidate."""
    return extract(rule, [SURE] * N_ROWS, candidates=CANDIDATES, iteration=iteration)


def test_a_random_pick_is_uniform_over_the_candidates_whatever_their_scores() -> None:
    words = pick(RANDOM)
    # Each count is binomial with mean 1333 and standard deviation 29.8; five of those are allowed.
    assert set(words) == {0, 2, 3}
    assert all(abs(words.count(word) - N_ROWS / 3) < 150 for word in (0, 2, 3))
    assert pick(RANDOM, iteration=2) != words != pick(replace(RANDOM, seed=1))
    assert pick(RANDOM) == words


def test_a_random_pick_is_gated_by_the_scores() -> None:
    assert [word >= 0 for word in extract(RANDOM, [SURE, HALVES, SURE])] == [True, False, True]


def test_random_masking_can_take_the_top_word_and_hide_another() -> None:
    seen = Observation(torch.tensor([[0.9, 0.1]]).repeat(60, 1), torch.tensor([[0.7, 0.2, 0.1, 0.0]]).repeat(60, 1))
    candidates = torch.tensor([[True, True, True, False]]).repeat(60, 1)
    words, hidden = Rule(epsilon=3.0, drawn="mask").extract(seen, candidates, 1)
    assert set(words.tolist()) == {0}
    assert set(hidden.tolist()) == {0, 1, 2}
