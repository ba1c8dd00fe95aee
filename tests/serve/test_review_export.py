"""What comes out of a review: a file with its history, and a command that is true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.serve.review_toys import CORPUS, EVIDENCE, HUGE, SLOW, write_files

from pssa.data.evidence import Finding
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.serve.review.export import export
from pssa.serve.review.session import Review


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def test_an_export_holds_the_changes_and_says_each_in_its_header(path: Path) -> None:
    review = Review.open(path)
    review.change(0, 0, "flip", 0)
    review.change(0, 1, "active", 2)
    review.change(1, 0, "drop", 1)
    review.change(2, 0, "misleading", 3)
    review.change(2, 4, "flip", 3)
    made = export(review)
    review.close()
    evidence = read_evidence(made.path)
    assert made.path.name == "evidence.reviewed-1.jsonl"
    assert evidence.header.edits == ("before", *made.edits)
    assert made.edits == (
        f"review of {review.sources.digest[:12]}: 4 changed",
        "review flip 'Huge', word 0 of 1: 1 changed",
        "review add active 'but', word 2 of 1: 1 changed",
        "review drop 'huge', word 1 of 2: 1 changed",
        "review add active 'cold', word 3 of 3: 1 changed",
    )
    assert [example.findings for example in evidence.examples] == [
        (
            SLOW,
            replace(HUGE, kind="misleading", expected=None),
            Finding(2, "active", 1, 0.0, 1.0, "positive", "positive"),
        ),
        (),
        (Finding(3, "active", 1, 0.0, 1.0, "negative", "negative"),),
    ]
    evidence.check_corpus(CORPUS)


def test_a_review_that_was_taken_back_changes_nothing_but_the_header(path: Path) -> None:
    review = Review.open(path)
    review.change(0, 0, "drop", 3)
    review.undo(1)
    evidence = read_evidence(export(review).path)
    review.close()
    assert evidence.examples == EVIDENCE.examples
    assert evidence.header.edits[1:] == (f"review of {review.sources.digest[:12]}: 0 changed",)


def test_exports_never_overwrite_and_are_not_repeated(path: Path) -> None:
    review = Review.open(path)
    first = export(review)
    assert export(review) == first
    review.change(0, 0, "drop", 3)
    second = export(review)
    assert (first.path.name, second.path.name) == ("evidence.reviewed-1.jsonl", "evidence.reviewed-2.jsonl")
    assert sorted(path.parent.glob("*.reviewed-*")) == [first.path, second.path]
    review.close()


def test_a_word_added_where_nothing_was_mined_is_of_a_first_iteration(path: Path) -> None:
    header = replace(EVIDENCE.header, iterations=0)
    bare = tuple(replace(example, findings=()) for example in EVIDENCE.examples)
    write_evidence(replace(EVIDENCE, header=header, examples=bare), path)
    review = Review.open(path)
    review.change(0, 0, "active", 0)
    assert read_evidence(export(review).path).header.iterations == 1
    review.close()
