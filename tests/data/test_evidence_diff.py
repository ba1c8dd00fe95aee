"""The difference of two files of evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.evidence_diff import Diff, ExampleDiff, Mark, diff
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

_EXAMPLE = Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1")
_CORPUS = Corpus((_EXAMPLE, replace(_EXAMPLE, id="2")))
_HEADER = Header("memnet", "gradient", 3.0, 5, _CORPUS.hash(), 0, "pg-as")


def _evidence(first: dict[int, str], second: dict[int, str]) -> Evidence:
    findings = [
        [Finding(word, kind, 1, 1.0, 0.5, "positive", "positive") for word, kind in kinds.items()]
        for kinds in (first, second)
    ]
    return Evidence.from_findings(_HEADER, _CORPUS, findings)


def test_words_are_added_removed_or_flipped() -> None:
    first = _evidence({0: "active", 2: "active"}, {3: "active"})
    second = _evidence({3: "misleading", 2: "misleading"}, {3: "active"})
    assert diff(first, second) == Diff(
        added=1,
        removed=1,
        flipped=1,
        same=1,
        examples=(
            ExampleDiff(
                "1",
                added=(Mark(3, "slow", "misleading"),),
                removed=(Mark(0, "Huge", "active"),),
                flipped=(Mark(2, "but", "misleading"),),
            ),
        ),
    )


def test_the_other_way_round_what_was_added_is_removed() -> None:
    first, second = _evidence({0: "active"}, {}), _evidence({}, {0: "active", 2: "active"})
    there, back = diff(first, second), diff(second, first)
    assert (there.added, there.removed) == (back.removed, back.added) == (2, 1)


def test_evidence_does_not_differ_from_itself() -> None:
    evidence = _evidence({0: "active"}, {2: "misleading"})
    assert diff(evidence, evidence) == Diff(added=0, removed=0, flipped=0, same=2, examples=())


def test_evidence_of_different_corpora_is_not_compared() -> None:
    first = _evidence({}, {})
    with pytest.raises(InputError, match="of different corpora"):
        diff(first, replace(first, header=replace(_HEADER, corpus_hash="other")))
