"""The order of correcting: doubt first, frequent words first, no repetition."""

from __future__ import annotations

from dataclasses import replace

from paper.experiments.corrections import order_by_use
from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus, Example


def evidence(*given: tuple[str, str | None, float]) -> Evidence:
    """Sentences about their first word, each with a found word and its score, or none."""
    examples, findings = [], []
    for text, word, score in given:
        example = Example.from_text(text, (0, len(text.split()[0])), label="positive")
        examples.append(example)
        found = [Finding(example.words.index(word), ACTIVE, 1, 1.0, score, "positive", "positive")] if word else []
        findings.append(found)
    corpus = Corpus(tuple(examples))
    return Evidence.from_findings(Header("m", "s", None, 1, corpus.hash(), 0, "consensus"), corpus, findings)


def places(*given: tuple[str, str | None, float]) -> list[int]:
    return order_by_use(evidence(*given).examples)


def test_doubtful_sentences_come_first() -> None:
    same = "food tasted great"
    assert places((same, "great", 0.9), (same, "great", 0.4))[0] == 1
    assert places(("food tasted great", "great", 0.75), ("food was great", None, 0)) == [1, 0]


def test_the_best_word_is_one_of_the_first_round() -> None:
    first, other = evidence(("food tasted great", "great", 0.6), ("food tasted great", "great", 0.7)).examples
    late = Finding(first.words.index("tasted"), ACTIVE, 2, 1.0, 0.9, "positive", "positive")
    assert order_by_use([other, replace(first, findings=(late, *first.findings))]) == [1, 0]


def test_sentences_with_common_words_come_first_and_repetitions_later() -> None:
    rows = [("food tasted great", None, 0.0), ("menu looks odd", None, 0.0), ("soup tasted great", None, 0.0)]
    # "tasted great" is common, so one of the two comes first; the other repeats it.
    assert places(*rows) == [0, 1, 2]


def test_every_sentence_is_in_the_order_once() -> None:
    rows = [(f"thing word{number % 3} here", None, 0.0) for number in range(9)] + [("alone", None, 0.0)]
    assert sorted(places(*rows)) == list(range(10))
