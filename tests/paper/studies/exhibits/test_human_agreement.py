"""Mined and attended words against those that people marked, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.looked import judged, look, marked_scope, one_round
from tests.paper.studies.exhibits.toys import row_of

from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import Figure
from paper.studies.exhibits import find

EXHIBIT = find("human-agreement")
PLACE = Place("laptop", "memnet", 0)
UNTRAINED = Place("laptop", "memnet", 0, settings=settings(epochs=1, learning_rate=1e-9))
NO_THRESHOLD = Mining(PLACE, "consensus", settings(consensus_threshold=0.0))
REFERENCE = {"positive": {"instances": 20, "random": 2.0, "nearest": 5.0}}


def mined(*rounds: Record, covered: int = 0, **others: object) -> Record:
    """Of a mining in twenty instances in which people marked a word."""
    numbered = {str(number): each for number, each in enumerate(rounds, start=1)}
    return {"judged": 20, "judged_with_active": covered, "rounds": numbered, "reference": REFERENCE, **others}


def overlap(first: float, mass: float, chance: float = 0.125) -> Record:
    hits = {"precision_at_1": judged(first, chance), "mass": judged(mass, chance)}
    return {"overall": hits, "per_label": {"negative": hits}}


def attended(first: float) -> Record:
    found = {"attention": overlap(first, 0.5), "gradient": overlap(0.25, 0.375), "nearest word": overlap(0.3125, 0.2)}
    return {"found": {"agreement": {"saliencies": found}}}


def test_rounds_are_told_one_by_one_and_together(tmp_path: Path) -> None:
    first = one_round(16, judged={"positive": 12, "negative": 4}, marked={"positive": 9, "negative": 1})
    second = one_round(4, judged={"positive": 4}, marked={"positive": 0})
    records: dict[Cell, Record] = {Mining(PLACE, "pg-as"): mined(first, second, covered=18)}
    table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "PG", 1) == (16, 0.625, 0.75, 0.25, None, 0.8)
    assert row_of(table, "MN", "PG", 2) == (4, 0.0, 0.0, None, None, 0.2)
    assert row_of(table, "MN", "PG", 3) == (0, None, None, None, None, 0.0)
    assert row_of(table, "MN", "PG", "all") == (20, 0.5, 9 / 16, 0.25, None, 0.9)


def test_words_of_several_seeds_are_summed(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        Mining(Place("laptop", "memnet", seed), "aw-as"): mined(
            one_round(10, judged={"neutral": 10}, marked={"neutral": hits}), covered=covered
        )
        for seed, (hits, covered) in enumerate(((4, 20), (8, 10)))
    }
    table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert row_of(table, "MN", "AW", "all") == (10, 0.6, None, None, 0.6, 0.75)


def test_a_consensus_is_cut_at_thresholds_afterwards(tmp_path: Path) -> None:
    by_score = {
        "0.0": {"judged": {"positive": 20}, "marked": {"positive": 10}, "covered": 20},
        "0.3": {"judged": {"positive": 16}, "marked": {"positive": 12}, "covered": 16},
        "0.5": {"judged": {"positive": 5}, "marked": {"positive": 5}, "covered": 5},
    }
    records: dict[Cell, Record] = {NO_THRESHOLD: mined(covered=20, by_score=by_score)}
    table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "consensus above 0", None) == (20, 0.5, 0.5, None, None, 1.0)
    assert row_of(table, "MN", "consensus above 0.3", None) == (16, 0.75, 0.75, None, None, 0.8)
    assert row_of(table, "MN", "consensus above 0.5", None) == (5, 1.0, 1.0, None, None, 0.25)


def test_a_consensus_that_supervises_is_cut_above_its_own_threshold(tmp_path: Path) -> None:
    by_score = {
        least: {"judged": {"positive": words}, "marked": {"positive": 4}, "covered": words}
        for least, words in (("0.0", 10), ("0.3", 8), ("0.5", 5))
    }
    records: dict[Cell, Record] = {Mining(PLACE, "consensus"): mined(covered=10, by_score=by_score)}
    # A seed whose record does not tell scores does not count, neither for words nor for instances.
    records[Mining(replace(PLACE, seed=1), "consensus")] = mined(covered=10)
    table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert row_of(table, "MN", "consensus above 0.3", None) == (8, 0.5, 0.5, None, None, 0.4)
    # Of words below 0.2 it knows nothing.
    assert row_of(table, "MN", "consensus above 0", None) == (None,) * 6


def test_chance_and_nearness_are_of_a_record_that_tells_them(tmp_path: Path) -> None:
    early = {name: value for name, value in mined(one_round(1)).items() if name != "reference"}
    records: dict[Cell, Record] = {Mining(PLACE, "aw-as"): early, Mining(PLACE, "pg-as"): mined(one_round(1))}
    table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "random candidate", None) == (20, 0.1, 0.1, None, None, 1.0)


def test_chance_and_nearness_stand_below(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {Mining(PLACE, "rm-as"): mined(one_round(1))}
    table, *_ = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(table, "MN", "random candidate", None) == (20, 0.1, 0.1, None, None, 1.0)
    assert row_of(table, "MN", "nearest word", None) == (20, 0.25, 0.25, None, None, 1.0)


def test_attended_words_stand_beside_untrained_near_and_random_ones(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("agreement", "", 0): attended(0.5),
        look("agreement", "", 1): attended(0.75),
        Analysis(Training(UNTRAINED), "agreement"): attended(0.0625),
    }
    _, table, _ = EXHIBIT.show(marked_scope(tmp_path, "memnet", seeds=2), FakeLookup(records))
    assert row_of(table, "MN", "attention") == (2, 0.625, None, 0.625, None, 0.5)
    assert row_of(table, "MN", "gradient") == (2, 0.25, None, 0.25, None, 0.375)
    assert row_of(table, "MN (untrained)", "attention") == (1, 0.0625, None, 0.0625, None, 0.5)
    assert row_of(table, "MN", "nearest word") == (1, 0.3125, None, 0.3125, None, 0.2)
    assert row_of(table, "MN", "random candidate") == (1, 0.125, None, 0.125, None, 0.125)
    assert row_of(table, "MN (+PG-AS)", "gradient") == (0, None, None, None, None, None)


def test_the_figure_has_a_line_for_each_way_that_was_mined(tmp_path: Path) -> None:
    rounds = [one_round(4, judged={"positive": 4}, marked={"positive": hits}) for hits in (3, 1)]
    records: dict[Cell, Record] = {Mining(PLACE, "pg-as"): mined(*rounds)}
    *_, figure = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup(records))
    assert isinstance(figure, Figure)
    (line,) = figure.panels[0][1]
    assert (line.name, line.x, line.y) == ("PG", (1.0, 2.0), (0.75, 0.25))
