"""Answers for raw text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import pssa
from pssa.data.example import Corpus, Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import Batch, Encoding, Prediction, WordTable
from pssa.runs import Answer, Classifier
from pssa.runs.explain import explain
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.torch_runtime import TorchRuntime

VOCABULARY = Vocabulary.build(["a", "b"])
FEATURIZER = WordFeaturizer(VOCABULARY, WordTable(torch.zeros(len(VOCABULARY), 1), len(VOCABULARY)))
LABELS = ("first", "second")


class FirstWord(nn.Module):
    """Votes for `first` where the sentence begins with a, else for `second`, with odds of three to one."""

    def __init__(self, sign: int = 1) -> None:
        super().__init__()
        self.odds = nn.Parameter(torch.tensor(3.0).log() * sign)

    def encode(self, batch: Batch) -> Encoding:
        return Encoding(batch.positions.float().unsqueeze(-1), batch.aspect.float())

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        first = (encoding.words[:, 0, 0] == 3).float()
        return Prediction(torch.stack([first, 1 - first], dim=1) * self.odds, None)


@pytest.fixture
def classifier() -> Classifier:
    return Classifier(TorchRuntime("toy", LABELS, FEATURIZER, (FirstWord(),), (1.0,)))


def test_an_answer_says_label_probabilities_and_where_the_aspect_stands(classifier: Classifier) -> None:
    answer = classifier.predict("a good b", "b")
    assert answer == Answer("first", answer.probabilities, "b", 7, 8)
    assert answer.probabilities == pytest.approx({"first": 0.75, "second": 0.25})
    assert answer.as_dict() == {
        "aspect": "b",
        "from": 7,
        "to": 8,
        "label": "first",
        "probabilities": answer.probabilities,
    }


def test_an_aspect_may_be_given_by_offsets_or_by_its_occurrence(classifier: Classifier) -> None:
    assert classifier.predict("b or b", (5, 6)).start == 5
    assert classifier.predict("b or b", "b", ordinal=1).start == 5


def test_pairs_of_texts_and_aspects_are_answered_in_order(classifier: Classifier) -> None:
    pairs = [("a good b", "b"), ("b or b", (5, 6))]
    assert classifier.predict(pairs) == classifier.predict(["a good b", "b or b"], ["b", (5, 6)])
    with pytest.raises(InputError, match="item 2 is 'a'; expected a pair of a text"):
        classifier.predict([pairs[0], "a"])


def test_the_first_of_several_occurrences_is_taken_with_a_warning(classifier: Classifier) -> None:
    with pytest.warns(UserWarning, match="'b' occurs 2 times; the first is taken") as told:
        assert classifier.predict("b or b", "b").start == 0
    assert [warning.filename for warning in told] == [__file__]  # where the caller is, not the library


@pytest.mark.parametrize("aspect", ["screen", (3, 99), ""])
def test_an_aspect_that_is_not_in_the_text_is_refused(classifier: Classifier, aspect: str | tuple[int, int]) -> None:
    with pytest.raises(InputError):
        classifier.predict("a good b", aspect)


def test_answers_come_in_the_order_of_the_examples_whatever_their_length(finished_run: Path, corpus: Corpus) -> None:
    classifier = pssa.load(finished_run)
    together = classifier.answer(corpus, batch_size=5)
    for example, answer in zip(corpus, together, strict=True):
        alone = classifier.predict(example.text, example.aspect_chars)
        assert alone.label == answer.label
        assert alone.probabilities == pytest.approx(answer.probabilities, abs=1e-6)
        assert sum(answer.probabilities.values()) == pytest.approx(1)


def test_several_members_vote_by_their_says() -> None:
    members = (FirstWord(), FirstWord(sign=-1), FirstWord(sign=-1))
    equal = Classifier(TorchRuntime("toy", LABELS, FEATURIZER, members, (1.0, 1.0, 1.0)))
    heavy = Classifier(TorchRuntime("toy", LABELS, FEATURIZER, members, (9.0, 1.0, 1.0)))
    assert equal.predict("a b", "b").label == "second"
    assert heavy.predict("a b", "b").label == "first"


@pytest.mark.parametrize("ask", [Classifier.answer, Classifier.probabilities])
def test_texts_are_no_examples(classifier: Classifier, ask: Callable[..., object]) -> None:
    for each in (classifier, pssa.load("starter")):
        with pytest.raises(InputError, match="one of the examples is 'a menu'"):
            ask(each, ["a menu"])


@pytest.mark.parametrize("model", ["memnet", "tnet", "tnet_att"])
def test_what_lies_far_from_the_aspect_is_not_read(train_tiny: Callable[..., Path], tmp_path: Path, model: str) -> None:
    run = train_tiny(tmp_path / "run", model=model, epochs=1, **({} if model == "memnet" else {"hidden": 4}))
    classifier, near = pssa.load(run), " ".join(["so"] * 300)
    answers = []
    for far in ("great", "poor"):
        text = f"{far} {near} the screen is usual {near} {far}"
        start = text.index("screen")
        example = Example.from_text(text, (start, start + len("screen")))
        with pytest.warns(UserWarning, match="longer than 256 words"):
            answers += classifier.answer([example])
    assert answers[0].probabilities == answers[1].probabilities
    with pytest.warns(UserWarning, match="longer than 256 words"):
        (found,) = explain(classifier, [example], "gradient")
    assert (found.shares[0], len(found.shares)) == (0, len(found.spans))
