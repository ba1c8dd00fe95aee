"""Rows side by side: means in points, gains over common seeds, and chances of no gain on runs whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import tiny_resources

from paper.experiments.cells import Place
from paper.experiments.comparison import (
    Change,
    Resampling,
    Row,
    average,
    gold_labels,
    other_tests,
    other_trainings,
    stars,
)
from paper.experiments.resources import Scope
from paper.studies.exhibit import format_mean

LABELS = ["positive", "negative", "neutral"]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paper.experiments.comparison.RESAMPLES", 2000)


def test_a_single_value_has_no_spread() -> None:
    several, one = format_mean([0.5, 0.7]), format_mean([0.5], "+")
    assert several is not None
    assert one is not None
    assert (several.text, one.text, format_mean([])) == ("60.00 ± 14.14", "+50.00", None)
    assert several.parts == {"mean": pytest.approx(60.0), "spread": pytest.approx(14.1421356)}
    assert one.parts == {"mean": 50.0, "spread": None}


def test_a_row_that_is_always_right_gains_what_the_other_lacks(tmp_path: Path) -> None:
    scope = Scope(tiny_resources(tmp_path))
    _, test = scope.resources.corpora(Place("laptop", "memnet", 0))
    gold = "".join(str(LABELS.index(example.label or "")) for example in test)
    # One label of four is wrong in the other row.
    other = "".join(str((int(digit) + 1) % 3) if place % 4 == 0 else digit for place, digit in enumerate(gold))
    ours, theirs = ({seed: {"predicted": told, "labels": LABELS} for seed in (0, 1)} for told in (gold, other))
    labels = gold_labels(scope, "laptop")
    for resampling in (other_tests, other_trainings):
        gain, back = average([(labels, ours, theirs)], resampling), average([(labels, theirs, ours)], resampling)
        assert gain is not None
        assert back is not None
        assert (gain.accuracy.points, gain.seeds, gain.places) == pytest.approx((25.0, 2, 1))
        assert stars(gain.accuracy.p_rise) == "**"
        assert back.accuracy.p_rise == gain.accuracy.p_fall == pytest.approx(1.0, abs=0.01)


def test_rows_without_a_common_seed_are_not_compared() -> None:
    record = {"predicted": "0", "labels": LABELS}
    assert average([(["positive"], {0: record}, {1: record})]) is None


@pytest.mark.parametrize(("p", "told"), [(0.0099, "**"), (0.01, "*"), (0.049, "*"), (0.05, "")])
def test_stars_follow_the_caption(p: float, told: str) -> None:
    assert stars(p) == told


GOLD = LABELS * 40
WRONG = [LABELS[(LABELS.index(label) + 1) % 3] for label in GOLD]
HALF = [*WRONG[:60], *GOLD[60:]]


def row_of(runs: Sequence[Sequence[str]]) -> Row:
    return {
        seed: {"predicted": [LABELS.index(label) for label in run], "labels": LABELS} for seed, run in enumerate(runs)
    }


Contest = tuple[Sequence[str], Row, Row | tuple[Row, ...]]


def contest(ours: Sequence[Sequence[str]], *theirs: Sequence[Sequence[str]]) -> Contest:
    return GOLD, row_of(ours), tuple(map(row_of, theirs))


def changes(*pairs: Contest, resampling: Resampling = other_trainings) -> tuple[Change, Change]:
    gain = average(pairs, resampling)
    assert gain is not None
    return gain.accuracy, gain.macro_f1


def chances(*pairs: Contest, resampling: Resampling = other_trainings) -> list[float]:
    return [change.p_rise for change in changes(*pairs, resampling=resampling)]


def test_what_is_always_better_has_no_chance_of_no_gain() -> None:
    assert chances(contest([GOLD, GOLD], [WRONG, WRONG])) == [0.0, 0.0]
    assert chances(contest([WRONG, WRONG], [GOLD, GOLD])) == [1.0, 1.0]


def test_a_gain_of_one_seed_of_three_is_chance_where_seeds_are_drawn() -> None:
    # No resample of instances hides it, but those of the seeds do that leave the one out: (2/3)^3 of them.
    lucky = contest([GOLD, HALF, HALF], [WRONG, HALF, HALF])
    assert all(abs(chance - 8 / 27) < 0.05 for chance in chances(lucky))
    assert chances(lucky, resampling=other_tests) == [0.0, 0.0]


def test_a_loss_on_one_test_set_can_outweigh_a_gain_on_another() -> None:
    gain, loss = contest([GOLD], [HALF]), contest([WRONG], [GOLD])
    assert chances(gain) == [0.0, 0.0]
    assert chances(gain, loss) == [1.0, 1.0]
    assert chances(contest([GOLD], [WRONG]), contest([HALF], [GOLD])) == [0.0, 0.0]


def test_test_sets_are_drawn_apart_from_each_other() -> None:
    # Each set's gain hangs on one seed of three; no gain at all takes resamples of both that leave it out: (8/27)^2 of them.
    uncertain = contest([GOLD, HALF, HALF], [WRONG, HALF, HALF])
    assert all(abs(chance - (8 / 27) ** 2) < 0.05 for chance in chances(uncertain, uncertain))


def test_seeds_of_several_controls_are_drawn_apart_from_ours() -> None:
    # In pairs, every seed gains the same; drawn apart, a resample may have our worst seeds and the best of the controls.
    ours, theirs = [GOLD, HALF, WRONG], [HALF, WRONG, WRONG]
    (paired, _), (apart, _) = changes(contest(ours, theirs)), changes(contest(ours, theirs, theirs))
    assert paired.points == apart.points
    assert paired.p_rise < 0.05 < apart.p_rise


def test_models_on_one_test_set_share_its_resamples() -> None:
    # Each gains on a half of the instances and loses on the other: on the same resample one makes up for the other.
    other = [*GOLD[:60], *WRONG[60:]]
    mean, _ = changes(contest([HALF], [GOLD]), contest([other], [GOLD]), resampling=other_tests)
    assert (mean.low, mean.high) == pytest.approx((mean.points, mean.points))
