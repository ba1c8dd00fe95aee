"""Chances of no gain, on runs whose answer is known."""

from __future__ import annotations

from pssa.experiments.chance import chance_of_no_gain

LABELS = ("positive", "negative", "neutral")
GOLD = LABELS * 40
WRONG = [LABELS[(LABELS.index(label) + 1) % 3] for label in GOLD]


def test_what_is_always_better_has_no_chance_of_no_gain() -> None:
    assert chance_of_no_gain(GOLD, [GOLD, GOLD], [WRONG, WRONG], LABELS) == (0.0, 0.0)
    assert chance_of_no_gain(GOLD, [WRONG, WRONG], [GOLD, GOLD], LABELS) == (1.0, 1.0)


def test_equal_runs_gain_nothing() -> None:
    assert chance_of_no_gain(GOLD, [GOLD, WRONG], [GOLD, WRONG], LABELS) == (1.0, 1.0)


def test_a_gain_of_one_seed_of_three_is_chance_where_seeds_are_drawn() -> None:
    # No resample of instances hides it, but those of the seeds do that leave the one out: (2/3)^3 of them.
    half = [*WRONG[:60], *GOLD[60:]]
    found = chance_of_no_gain(GOLD, [GOLD, half, half], [WRONG, half, half], LABELS)
    assert all(abs(chance - 8 / 27) < 0.05 for chance in found)
