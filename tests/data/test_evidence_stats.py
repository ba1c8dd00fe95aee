"""Statistics of evidence, and the difference of two files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pssa.data.evidence import Evidence, Finding, Header, RoundReport, diff, stats
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

_CORPUS = Corpus(
    (
        Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1"),
        Example.from_text("a huge bar", (7, 10), label="negative", id="2"),
        Example.from_text("a bar", (2, 5), label="negative", id="3"),
    )
)
_ROUNDS = (RoundReport(1, 0.5, 1.5, 0.75, 2, 0),)
_HEADER = Header("memnet", "gradient", 3.0, 4, _CORPUS.hash(), 0, "pg-as", _ROUNDS)
_EVIDENCE = Evidence.from_findings(
    _HEADER,
    _CORPUS,
    [
        [
            Finding(0, "active", 1, 1.0, 0.5, "positive", "positive"),
            Finding(2, "misleading", 3, 0.5, 0.5, "negative", "positive"),
            Finding(3, "active", 3, 2.0, 0.5, "positive", "positive"),
        ],
        [Finding(1, "active", 1, 1.5, 0.5, "negative", "negative")],
        [],
    ],
)


def test_there_is_an_entry_for_each_iteration_of_the_header_also_for_an_empty_one() -> None:
    assert stats(_EVIDENCE).per_iteration == (
        {"active": 2, "misleading": 0, "mean_entropy": 1.25},
        {"active": 0, "misleading": 0, "mean_entropy": None},
        {"active": 1, "misleading": 1, "mean_entropy": 1.25},
        {"active": 0, "misleading": 0, "mean_entropy": None},
    )


def test_findings_are_counted_by_the_label_of_their_example() -> None:
    assert stats(_EVIDENCE).per_class == {
        "negative": {"examples": 2, "active": 1, "misleading": 0},
        "positive": {"examples": 1, "active": 2, "misleading": 1},
    }


def test_words_come_by_frequency_with_their_gold_labels_and_without_regard_to_case() -> None:
    counted = stats(_EVIDENCE)
    assert counted.active_words == (
        {"word": "huge", "count": 2, "labels": {"negative": 1, "positive": 1}},
        {"word": "slow", "count": 1, "labels": {"positive": 1}},
    )
    assert counted.misleading_words == ({"word": "but", "count": 1, "labels": {"positive": 1}},)
    assert [profile["word"] for profile in stats(_EVIDENCE, top=1).active_words] == ["huge"]


_EXAMPLE = Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1")
_DIFF_CORPUS = Corpus((_EXAMPLE, replace(_EXAMPLE, id="2")))
_DIFF_HEADER = Header("memnet", "gradient", 3.0, 5, _DIFF_CORPUS.hash(), 0, "pg-as")


def _evidence(first: dict[int, str], second: dict[int, str]) -> Evidence:
    findings = [
        [Finding(word, kind, 1, 1.0, 0.5, "positive", "positive") for word, kind in kinds.items()]
        for kinds in (first, second)
    ]
    return Evidence.from_findings(_DIFF_HEADER, _DIFF_CORPUS, findings)


def test_words_are_added_removed_or_flipped() -> None:
    first = _evidence({0: "active", 2: "active"}, {3: "active"})
    second = _evidence({3: "misleading", 2: "misleading"}, {3: "active"})
    assert diff(first, second) == {
        **{"added": 1, "removed": 1, "flipped": 1, "same": 1},
        "examples": [
            {
                "id": "1",
                "added": [{"word": 3, "text": "slow", "kind": "misleading"}],
                "removed": [{"word": 0, "text": "Huge", "kind": "active"}],
                "flipped": [{"word": 2, "text": "but", "kind": "misleading"}],
            }
        ],
    }


def test_evidence_of_different_corpora_is_not_compared() -> None:
    first = _evidence({}, {})
    with pytest.raises(InputError, match="different corpora"):
        diff(first, replace(first, header=replace(_DIFF_HEADER, corpus_hash="other")))
