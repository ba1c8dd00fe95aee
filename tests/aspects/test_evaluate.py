"""Scores of found aspects, alone and with their labels, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest

from pssa.aspects import AspectSentence, NameFinder, evaluate_aspects, evaluate_end_to_end
from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.runs.classifier import Answer, Classifier


@dataclass
class Says:
    """Stands in for a classifier: the label of each aspect."""

    labels: dict[str, str]

    def answer(self, examples: Sequence[Example]) -> list[Answer]:
        return [Answer(self.labels[each.aspect_text], {}, each.aspect_text, *each.aspect_chars) for each in examples]


SENTENCES = (
    AspectSentence.build("The Screen isn't bad, the fan's loud.", [(4, 10), (26, 29)]),
    AspectSentence.build("A keyboard.", []),
    AspectSentence.build("The staff!", [(4, 9)]),
)


def labelled(*given: tuple[str, str, str]) -> Corpus:
    return Corpus(
        tuple(
            Example.from_text(text, (text.index(aspect), text.index(aspect) + len(aspect)), label=label)
            for text, aspect, label in given
        )
    )


def test_an_aspect_is_right_with_its_label_wherever_the_labels_are_written() -> None:
    finder = NameFinder(("screen", "fan", "keyboard", "staff"))
    classifier: Any = Says({"Screen": "positive", "fan": "positive", "keyboard": "neutral", "staff": "negative"})
    # Labels of a tokenised file; that of the staff is not known.
    corpus = labelled(
        ("the screen is n't bad , the fan 's loud .", "screen", "positive"),
        ("the screen is n't bad , the fan 's loud .", "fan", "negative"),
    )
    assert evaluate_aspects(finder, SENTENCES).right == 3
    scores = evaluate_end_to_end(finder, cast(Classifier, classifier), SENTENCES, corpus)
    assert (scores.gold, scores.found, scores.right, scores.left_out) == (2, 3, 1, 1)
    assert scores.as_dict()["f1"] == pytest.approx(2 / 5)


def test_labels_of_other_sentences_are_refused() -> None:
    classifier: Any = Says({"fan": "positive"})
    with pytest.raises(InputError, match="label"):
        evaluate_end_to_end(NameFinder(("fan",)), classifier, SENTENCES, labelled(("Another.", "Another", "positive")))
