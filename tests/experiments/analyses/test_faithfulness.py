"""What answers lose without the words that attention names, as a look."""

from __future__ import annotations

from tests.experiments.analyses.by_word import weighing
from tests.experiments.analyses.subjects import corpus

from pssa.experiments.analyses.faithfulness import look

SEEN = weighing(corpus("a dim grey screen", "a bright sharp screen", "screen"), {"dim": 0.5, "bright": 0.5})


def test_words_that_change_no_answer_are_neither_needed_nor_enough() -> None:
    found = look(SEEN, saliencies=("attention",))
    assert (found["instances"], found["left_out"]) == (2, 1)
    for way in ("mask", "deletion"):
        for measure in ("comprehensiveness", "sufficiency"):
            assert found[way]["attention"][measure]["aopc"]["difference"]["mean"] == 0.0


def test_a_part_of_the_instances_can_do() -> None:
    found = look(SEEN, saliencies=("attention",), limit=2)
    assert found["instances"] + found["left_out"] == 2
