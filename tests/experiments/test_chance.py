"""Chances of no gain, on runs whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence

from pssa.experiments.chance import Contest, chance_of_no_gain, chance_on_other_tests

LABELS = ("positive", "negative", "neutral")
GOLD = LABELS * 40
WRONG = [LABELS[(LABELS.index(label) + 1) % 3] for label in GOLD]
HALF = [*WRONG[:60], *GOLD[60:]]


def contest(ours: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> Contest:
    return Contest(GOLD, ours, theirs, LABELS)


def test_what_is_always_better_has_no_chance_of_no_gain() -> None:
    assert chance_of_no_gain([contest([GOLD, GOLD], [WRONG, WRONG])]) == (0.0, 0.0)
    assert chance_of_no_gain([contest([WRONG, WRONG], [GOLD, GOLD])]) == (1.0, 1.0)


def test_equal_runs_gain_nothing() -> None:
    assert chance_of_no_gain([contest([GOLD, WRONG], [GOLD, WRONG])]) == (1.0, 1.0)


def test_a_gain_of_one_seed_of_three_is_chance_where_seeds_are_drawn() -> None:
    # No resample of instances hides it, but those of the seeds do that leave the one out: (2/3)^3 of them.
    lucky = contest([GOLD, HALF, HALF], [WRONG, HALF, HALF])
    assert all(abs(chance - 8 / 27) < 0.05 for chance in chance_of_no_gain([lucky]))
    assert chance_on_other_tests([lucky]) == (0.0, 0.0)


def test_a_loss_on_one_test_set_can_outweigh_a_gain_on_another() -> None:
    gain, loss = contest([GOLD], [HALF]), contest([WRONG], [GOLD])
    assert chance_of_no_gain([gain]) == (0.0, 0.0)
    assert chance_of_no_gain([gain, loss]) == (1.0, 1.0)
    assert chance_of_no_gain([contest([GOLD], [WRONG]), contest([HALF], [GOLD])]) == (0.0, 0.0)


def test_test_sets_are_drawn_apart_from_each_other() -> None:
    # Each set's gain hangs on one seed of three; no gain at all takes resamples of both that leave it out: (8/27)^2 of them.
    uncertain = contest([GOLD, HALF, HALF], [WRONG, HALF, HALF])
    found = chance_of_no_gain([uncertain, uncertain])
    assert all(abs(chance - (8 / 27) ** 2) < 0.05 for chance in found)
