"""What choosing on the test set is worth, on made-up curves."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import row_of, toy_scope

import paper
import pssa
from paper.experiments.cells import Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import Figure
from paper.studies.exhibits import find
from paper.studies.exhibits.selection import best_of

EXHIBIT = find("selection")
HERE = Place("laptop", "tnet_att", 0)


def again(place: Place) -> Training:
    return Training(place, evidence=(Mining(place, "aw-as"),), settings=settings(gamma=0.0))


def test_only_trainings_without_evidence_are_chosen_from(tmp_path: Path) -> None:
    long = Training(Place("laptop", "tnet_att", 0, settings=settings(epochs=50)))
    assert list(EXHIBIT.cells(toy_scope(tmp_path, "tnet_att"))) == [Training(HERE), again(HERE), long]


@pytest.mark.parametrize("number", [1, 3, 5])
def test_the_best_of_some_is_the_mean_over_all_draws(number: int) -> None:
    scores = [(70.0, 66.0), (71.0, 60.0), (71.0, 61.0), (68.0, 69.0), (73.0, 62.0)]
    best = [max(drawn) for drawn in combinations(scores, number)]
    expected = tuple(fmean(column) for column in zip(*best, strict=True))
    assert best_of(number, scores) == pytest.approx(expected)
    assert best_of(6, scores) is None


def test_each_choice_stands_beside_the_paper_s_gain(tmp_path: Path) -> None:
    # Six trainings: five end at 60 / 50 after 62 / 40, and one at 70 / 60, its best.
    low, high = {"curve": [[0.62, 0.4], [0.6, 0.5]]}, {"curve": [[0.5, 0.5], [0.7, 0.6]]}
    places = [Place("laptop", "tnet_att", seed) for seed in range(3)]
    records: dict[Cell, Record] = {cell: low for place in places for cell in (Training(place), again(place))}
    records[Training(HERE)] = high
    warning, table, looks, figure = EXHIBIT.show(toy_scope(tmp_path, "tnet_att", seeds=3), FakeLookup(records))
    assert isinstance(warning, str)
    assert "NOTHING ON THIS PAGE IS A RESULT" in warning
    # One training has (5 * 60 + 70) / 6 = 61.67; at its best epoch (5 * 62 + 70) / 6 = 63.33 and (5 * 40 + 60) / 6 = 43.33.
    # Five of six have the high one in 5 of 6 draws: 68.33 / 58.33. The best of six is the high one.
    assert row_of(table, "TNet-ATT", "LAPTOP") == (
        *(6, "61.67 / 51.67", "+1.67 / -8.33", "+6.67 / +6.67", "+6.67 / +16.67", "+8.33 / +8.33"),
        *("+1.62 / +2.15", "+1.93 / +2.54"),
    )
    assert row_of(table, "mean")[3:5] == ("+1.67 / -8.33", "+6.67 / +6.67")
    assert row_of(looks, "TNet-ATT", "LAPTOP") == (0, 0, None, None, None)
    assert isinstance(figure, Figure)
    ((_, (line,)),) = figure.panels
    assert line.x == (1, 2, 3, 4, 5, 6)
    assert line.y == pytest.approx([10 * n / 6 - 10 / 6 for n in line.x])


def test_test_scores_by_epoch_are_read_by_pages_alone() -> None:
    """Nothing that trains, tunes or sets a default reads what choosing on test would report."""
    folders = (Path(pssa.__file__).parent, Path(paper.__file__).parent)
    sources = (path for folder in folders for path in folder.rglob("*.py"))
    readers = {path.stem for path in sources if '["curve"]' in path.read_text("utf-8")}
    assert readers == {"_rows", "selection"}
