"""Choosing sentences, and pages that lose nothing when sentences leave the selection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serve.review_toys import write_files

from pssa.serve.review.filter import Filter, Page, select
from pssa.serve.review.session import Review


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    review = Review.open(write_files(tmp_path), None, tmp_path / "second.jsonl")
    yield review
    review.close()


def _places(page: Page) -> list[int]:
    return [sentence.index for sentence in page.sentences]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (Filter(), [0, 1, 2]),
        (Filter(word="HUGE"), [0, 1]),
        (Filter(word=" huge ", kind="active"), [0]),
        (Filter(word="huge", kind="misleading"), [1]),
        (Filter(word="menu"), []),
        (Filter(word="menu", where="sentence"), [0]),
        (Filter(word="hug", where="sentence"), []),
        (Filter(kind="active"), [0]),
        (Filter(kind="misleading"), [0, 1]),
        (Filter(kind="none"), [2]),
        (Filter(kind="none", word="huge"), []),
        (Filter(kind="none", word="soup", where="sentence"), [2]),
        (Filter(kind="none", iteration=1), []),
        (Filter(iteration=1), [0, 1]),
        (Filter(iteration=2), [0]),
        (Filter(iteration=2, kind="active"), []),  # of one and the same finding
        (Filter(iteration=5), []),
        (Filter(label="negative"), [1, 2]),
        (Filter(label="negative", word="huge"), [1]),
        (Filter(only="disagreements"), [0]),
        (Filter(only="changed"), []),
    ],
)
def test_a_filter_chooses_sentences(review: Review, wanted: Filter, places: list[int]) -> None:
    page = select(review, wanted, 0, 10)
    assert _places(page) == places
    assert page.selected == len(places)


def test_changed_sentences_can_be_asked_for(review: Review) -> None:
    review.change(2, 0, "active", 3)
    assert _places(select(review, Filter(only="changed"), 0, 10)) == [2]
    review.undo(1)
    assert _places(select(review, Filter(only="changed"), 0, 10)) == []


def test_pages_go_forward_and_back(review: Review) -> None:
    first = select(review, Filter(), 0, 2)
    assert (_places(first), first.before, first.previous, first.next) == ([0, 1], 0, None, 2)
    last = select(review, Filter(), 2, 2)
    assert (_places(last), last.before, last.previous, last.next) == ([2], 2, 0, None)
    beyond = select(review, Filter(), 99, 2)
    assert (_places(beyond), beyond.before, beyond.previous, beyond.next) == ([], 3, 1, None)


def test_the_next_page_skips_nothing_when_sentences_leave_the_selection(review: Review) -> None:
    page = select(review, Filter(kind="misleading"), 0, 1)
    assert (_places(page), page.next) == ([0], 1)
    review.change(0, 0, "flip", 3)
    assert page.next is not None
    assert _places(select(review, Filter(kind="misleading"), page.next, 1)) == [1]
