"""A simulated person corrects mined evidence."""

from __future__ import annotations

import pytest

from paper.experiments.corrections import correct_sentences
from pssa.data import embedded
from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
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
