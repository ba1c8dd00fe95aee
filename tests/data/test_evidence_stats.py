"""What is in a file of evidence."""

from __future__ import annotations

from pssa.data.evidence import Evidence, Finding, Header, RoundReport
from pssa.data.evidence_stats import ClassCount, IterationCount, WordProfile, stats
from pssa.data.example import Corpus, Example

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


def test_findings_are_counted() -> None:
    counted = stats(_EVIDENCE)
    assert (counted.examples, counted.examples_without, counted.active, counted.misleading) == (3, 1, 3, 1)
    assert counted.rounds == _ROUNDS


def test_there_is_an_entry_for_each_iteration_of_the_header_also_for_an_empty_one() -> None:
    assert stats(_EVIDENCE).per_iteration == (
        IterationCount(2, 0, mean_entropy=1.25),
        IterationCount(0, 0, mean_entropy=None),
        IterationCount(1, 1, mean_entropy=1.25),
        IterationCount(0, 0, mean_entropy=None),
    )


def test_findings_are_counted_by_the_label_of_their_example() -> None:
    assert stats(_EVIDENCE).per_class == {"positive": ClassCount(1, 2, 1), "negative": ClassCount(2, 1, 0)}


def test_words_come_by_frequency_with_their_gold_labels_and_without_regard_to_case() -> None:
    counted = stats(_EVIDENCE)
    assert counted.active_words == (
        WordProfile("huge", 2, {"negative": 1, "positive": 1}),
        WordProfile("slow", 1, {"positive": 1}),
    )
    assert counted.misleading_words == (WordProfile("but", 1, {"positive": 1}),)
    assert [profile.word for profile in stats(_EVIDENCE, top=1).active_words] == ["huge"]
