"""Reviews: what they say of their aspects, and reading them from formats other than triplets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.reviews import Opinion, Review, read_reviews
from pssa.errors import InputError


def test_the_overall_label_is_that_of_implied_opinions() -> None:
    named = Opinion("negative", (0, 1))
    for labels, overall in {(): "none", ("positive", "positive"): "positive", ("positive", "neutral"): None}.items():
        assert Review("a b", (named, *map(Opinion, labels))).overall == overall
    assert Review("a b", (Opinion("conflict"),)).overall is None


def test_an_aspect_with_two_labels_has_none() -> None:
    review = Review(
        "a b c", (Opinion("x", (2, 3)), Opinion("y", (0, 1)), Opinion("x", (0, 1)), Opinion("conflict", (4, 5)))
    )
    assert review.aspects == {(0, 1): None, (2, 3): "x", (4, 5): None}


def test_xml_lists_the_aspects_of_its_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<sentences><sentence id="1"><text>A dim screen, a fan</text><aspectTerms>'
        '<aspectTerm term="screen" polarity="negative" from="6" to="12"/>'
        '<aspectTerm term="fan" polarity="conflict" from="16" to="19"/></aspectTerms></sentence>'
        "<sentence><text>It came.</text></sentence></sentences>"
    )
    (first, second), dropped = read_reviews(path)
    assert first.aspects == {(6, 12): "negative", (16, 19): None}
    assert (second.text, second.overall, dropped) == ("It came.", "none", {})


def test_a_format_that_may_leave_aspects_out_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,aspect,label\na fan,fan,positive\n")
    with pytest.raises(InputError, match=r"a\.csv: the format csv does not list all"):
        read_reviews(path)
