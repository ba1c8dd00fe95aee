"""A simulated person who corrects evidence, and the orders in which sentences come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paper.experiments.corrections import correct_sentences, order_by_use
from pssa.data import embedded
from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

CORPUS = embedded.load("train").select(range(12))


def marked(words: dict[int, int], score: float = 0.5) -> Evidence:
    """Return evidence with one word in some examples."""
    findings = [
        [Finding(words[index], ACTIVE, 1, 1.0, score, str(example.label), str(example.label))] if index in words else []
        for index, example in enumerate(CORPUS)
    ]
    return Evidence.from_findings(Header("m", "s", None, 1, CORPUS.hash(), 0, "consensus"), CORPUS, findings)


FIRST = {index: min(example.candidates) for index, example in enumerate(CORPUS)}
LAST = {index: max(example.candidates) for index, example in enumerate(CORPUS)}
MINED = marked(FIRST)
HUMAN = marked({index: word for index, word in LAST.items() if index < 8}, score=1.0)


@pytest.mark.parametrize("order", ["random", "useful"])
@pytest.mark.parametrize("count", [0, 3, 8, "all"])
def test_as_many_instances_as_asked_for_get_the_words_of_people(order: str, count: int | str) -> None:
    found = correct_sentences(MINED, HUMAN, count, order, seed=1)
    changed = [i for i, example in enumerate(found.examples) if example.findings != MINED.examples[i].findings]
    assert len(changed) == (8 if count == "all" else count)
    assert all(found.examples[index].findings == HUMAN.examples[index].findings for index in changed)
    assert max(changed, default=0) < 8  # people marked no word in the others


def test_more_corrections_contain_the_fewer() -> None:
    few, many = (correct_sentences(MINED, HUMAN, count, "random", seed=4) for count in (2, 6))
    corrected = [few.examples[i] == HUMAN.examples[i] for i in range(8)]
    assert sum(corrected) == 2
    assert all(many.examples[i] == HUMAN.examples[i] for i in range(8) if corrected[i])
    assert many != correct_sentences(MINED, HUMAN, 6, "random", seed=5)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(InputError, match="useful"):
        correct_sentences(MINED, HUMAN, 1, "best", seed=0)


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
