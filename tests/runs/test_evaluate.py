"""Evaluation: scores, slices, comparison, and overlap with the training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import torch

import pssa
from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.runs import Classifier
from pssa.runs.evaluate import Abstention, count_train_overlap, evaluate, require_same_labels


class Always:
    """A classifier that always gives the same answer."""

    labels = ("positive", "negative", "neutral")

    def __init__(self, label: str) -> None:
        self.label, self.torch, self.runtime = label, self, self

    abstain_below = 0.0
    folder = None

    def probabilities(self, examples: Corpus) -> torch.Tensor:
        own = torch.full((len(self.labels),), 0.1, dtype=torch.double)
        own[self.labels.index(self.label)] = 0.8
        return own.expand(len(examples), -1)


def always(label: str) -> Classifier:
    return cast(Classifier, Always(label))


@pytest.fixture
def labelled(corpus: Corpus) -> Corpus:
    """Three positive instances, one of them tagged, and one negative, tagged too."""
    chosen = [corpus[row] for row in (0, 6, 3, 1)]
    assert [example.label for example in chosen] == ["positive", "positive", "positive", "negative"]
    return Corpus(tuple(chosen))


def test_answers_that_are_withheld_are_counted_by_hand(labelled: Corpus) -> None:
    bold, shy = always("positive"), always("positive")
    vars(bold)["abstain_below"], vars(shy)["abstain_below"] = 0.8, 0.81
    found = evaluate(bold, labelled)
    assert found.abstention == Abstention(0.8, 1.0, 0.75, 0.25)
    assert found.calibration_error == pytest.approx(0.05)
    assert evaluate(shy, labelled).abstention == Abstention(0.81, 0.0, None, 0.0)
    assert evaluate(always("positive"), labelled).abstention is None


def test_accuracy_and_slices_are_those_counted_by_hand(labelled: Corpus) -> None:
    result = evaluate(always("positive"), labelled)
    assert result.scores.accuracy == 0.75
    assert result.scores.macro_f1 == pytest.approx((2 * 3 / 7) / 3)
    assert list(result.slices) == ["odd"]
    assert result.slices["odd"].instances == 2
    assert result.slices["odd"].accuracy == 0.5
    assert result.gold == ("positive", "positive", "positive", "negative")
    assert result.predicted == ("positive",) * 4


def test_a_corpus_without_examples_or_known_labels_is_refused(labelled: Corpus, finished_run: Path) -> None:
    with pytest.raises(InputError, match="the corpus is empty"):
        evaluate(always("positive"), Corpus(()))
    bare: Example = replace(labelled[0], id="bare", label=None)
    with pytest.raises(InputError, match="instance bare has no label"):
        evaluate(always("positive"), Corpus((labelled[1], bare)))
    with pytest.raises(InputError, match="label 'mixed', and the run knows"):
        evaluate(pssa.load(finished_run), Corpus((replace(labelled[0], label="mixed"),)))


def test_runs_of_other_labels_are_not_compared() -> None:
    ours, theirs = always("positive"), Always("good")
    theirs.labels = ("good", "bad")  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"^b has other labels, good, bad, than a"):
        require_same_labels(ours, cast(Classifier, theirs), ("a", "b"))
    theirs.labels = ("neutral", "negative", "positive")
    require_same_labels(ours, cast(Classifier, theirs), ("a", "b"))


@pytest.fixture(scope="module")
def trained(train_tiny: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_tiny(tmp_path_factory.mktemp("runs") / "run", epochs=1, method="aw-as", iterations=1)


def test_texts_of_the_training_are_counted_if_kept_whole(trained: Path, corpus: Corpus, tmp_path: Path) -> None:
    new = Example.from_text("a fine menu", (7, 11), label="positive", id="new")
    data = Corpus((new, *corpus.examples[:3]))
    assert count_train_overlap(trained, data) == 3
    assert count_train_overlap(trained / "stages" / "initial", data) == 3
    assert count_train_overlap(trained, Corpus((new,))) == 0
    assert count_train_overlap(tmp_path, corpus) is None
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "corpus.jsonl").write_text("{")
    assert count_train_overlap(tmp_path, corpus) is None
