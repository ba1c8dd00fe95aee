"""The table of data sets, on a toy and on the public files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.toys import row_of, toy_scope

from paper.experiments.resources import DataSource, Resources, Scope
from paper.studies.exhibits import find

EXHIBIT = find("datasets")


def test_nothing_is_trained(tmp_path: Path) -> None:
    assert list(EXHIBIT.cells(toy_scope(tmp_path))) == []


def test_counts_stand_beside_the_papers(tmp_path: Path) -> None:
    counts, _, _ = EXHIBIT.show(toy_scope(tmp_path), FakeLookup())
    assert row_of(counts, "LAPTOP", "train") == (
        *("2 / 1 / 1", 4, "980 / 858 / 454", 2292, "-978 / -857 / -453"),
        "2 / 1 / 1",
    )


def test_a_line_with_two_tags_counts_twice_as_the_paper_counts(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("a plug/p for $100/Person or n/0\n")
    scope = Scope(Resources({"laptop": DataSource(path)}))
    counts, _, unseen = EXHIBIT.show(scope, FakeLookup())
    row = row_of(counts, "LAPTOP", "train")
    assert (row[0], row[-1]) == ("1 / 0 / 0", "1 / 0 / 1")
    assert getattr(unseen, "rows", None) == ()


def test_facts_are_derived_by_hand(tmp_path: Path) -> None:
    # Words of train: 4, 3, 5, 5; two instances share a sentence, with different labels; half are positive.
    _, facts, unseen = EXHIBIT.show(toy_scope(tmp_path), FakeLookup())
    assert row_of(facts, "LAPTOP", "train") == (
        *(4, 4.25, 5, 5, 1, 1),
        *(3, "50.0%", "50.0%", 0, "50.0%"),
    )
    # Test: twelve things, `is`, and `here`; `is` alone is known, a third of all words.
    assert row_of(unseen, "LAPTOP") == ("92.9%", "66.7%", "100.0%", 0)


def test_copies_are_no_further_targets(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("the screen/p is great\nthe screen/p is great\n")
    _, facts, _ = EXHIBIT.show(Scope(Resources({"laptop": DataSource(path)})), FakeLookup())
    assert row_of(facts, "LAPTOP", "train")[6:] == (1, "0.0%", "0.0%", 1, "100.0%")


def test_files_without_tags_have_no_lines_to_count(tmp_path: Path) -> None:
    scope = Scope(replace(tiny_resources(tmp_path), vectors=None))
    counts, *_ = EXHIBIT.show(scope, FakeLookup())
    assert [str(row[-1]) for row in getattr(counts, "rows", ())] == ["", ""]


@pytest.mark.shared
@pytest.mark.slow
def test_the_public_files_hold_what_is_known_of_them(shared_data: Path) -> None:
    counts, facts, unseen = EXHIBIT.show(Scope(Resources.find(shared_data, None, None)), FakeLookup())
    assert row_of(counts, "LAPTOP", "train")[-2:] == ("0 / 0 / -1", "980 / 858 / 454")
    assert row_of(counts, "REST", "test")[:3] == ("728 / 195 / 195", 1118, "730 / 195 / 196")
    assert row_of(counts, "TWITTER", "train")[-2:] == ("-6 / -3 / 0", "1567 / 1563 / 3127")
    # Lines by tag are the paper's counts, but for one positive instance of one file.
    tagged = {row[:2]: (row[4], row[7]) for row in getattr(counts, "rows", ())}
    assert [file for file, (paper, lines) in tagged.items() if paper != lines] == [("TWITTER", "test")]
    # 1375 of 2291 instances, 451 of them of mixed polarity; 16 copies.
    laptop = row_of(facts, "LAPTOP", "train")
    assert laptop[1] == pytest.approx(22.05, abs=0.005)
    assert laptop[4] == pytest.approx(1.49, abs=0.005)
    assert (*laptop[2:4], *laptop[5:]) == (44, 84, 7, 1448, "60.0%", "19.7%", 16, "42.8%")
    assert row_of(unseen, "REST") == ("33.5%", "8.3%", "32.1%", 1)
