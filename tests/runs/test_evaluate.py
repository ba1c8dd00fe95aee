"""Evaluation: scores, slices, comparison, and overlap with the training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import pssa
from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.runs import Classifier
from pssa.runs.evaluate import compare, count_train_overlap, evaluate, require_same_labels


class Always:
    """A classifier that always gives the same answer."""

    labels = ("positive", "negative", "neutral")

    def __init__(self, label: str) -> None:
        self.label = label

    def predicted_labels(self, examples: Corpus) -> list[str]:
        return [self.label] * len(examples)


def always(label: str) -> Classifier:
    return cast(Classifier, Always(label))


@pytest.fixture
def labelled(corpus: Corpus) -> Corpus:
    """Three positive instances, one of them tagged, and one negative, tagged too."""
    chosen = [corpus[row] for row in (0, 6, 3, 1)]
    assert [example.label for example in chosen] == ["positive", "positive", "positive", "negative"]
    return Corpus(tuple(chosen))


def test_accuracy_and_slices_are_those_counted_by_hand(labelled: Corpus) -> None:
    result = evaluate(always("positive"), labelled)
    assert result.scores.accuracy == 0.75
    assert result.scores.macro_f1 == pytest.approx((2 * 3 / 7) / 3)
    assert list(result.slices) == ["odd"]
    assert result.slices["odd"].instances == 2
    assert result.slices["odd"].accuracy == 0.5
    assert result.gold == ("positive", "positive", "positive", "negative")
    assert result.predicted == ("positive",) * 4


def test_a_classifier_is_no_better_than_itself(labelled: Corpus) -> None:
    first = evaluate(always("positive"), labelled)
    bootstrap, p_mcnemar = compare(first, first, resamples=50, seed=0)
    assert p_mcnemar == 1
    assert bootstrap.p_accuracy == 1


def test_a_corpus_without_examples_or_labels_is_refused(labelled: Corpus) -> None:
    with pytest.raises(InputError, match="the corpus is empty"):
        evaluate(always("positive"), Corpus(()))
    bare: Example = replace(labelled[0], id="bare", label=None)
    with pytest.raises(InputError, match="instance bare has no label"):
        evaluate(always("positive"), Corpus((labelled[1], bare)))


def test_a_label_that_the_run_does_not_know_is_refused(finished_run: Path, labelled: Corpus) -> None:
    with pytest.raises(InputError, match="label 'mixed', and the run knows positive, negative, neutral; relabel"):
        evaluate(pssa.load(finished_run), Corpus((replace(labelled[0], label="mixed"),)))


def test_runs_of_other_labels_are_not_compared() -> None:
    ours, theirs = always("positive"), Always("good")
    theirs.labels = ("good", "bad")  # type: ignore[assignment]
    with pytest.raises(
        InputError, match=r"^b has other labels, good, bad, than a, positive, negative, neutral; compare"
    ):
        require_same_labels(ours, cast(Classifier, theirs), ("a", "b"))
    theirs.labels = ("neutral", "negative", "positive")
    require_same_labels(ours, cast(Classifier, theirs), ("a", "b"))


@pytest.fixture(scope="module")
def trained(train_tiny: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_tiny(tmp_path_factory.mktemp("runs") / "run", epochs=1, method="aw-as", iterations=1)


def test_texts_that_a_run_was_trained_on_are_counted(trained: Path, corpus: Corpus) -> None:
    new = Example.from_text("a fine menu", (7, 11), label="positive", id="new")
    data = Corpus((new, *corpus.examples[:3]))
    assert count_train_overlap(trained, data) == 3
    assert count_train_overlap(trained / "stages" / "initial", data) == 3
    assert count_train_overlap(trained, Corpus((new,))) == 0


def test_a_run_that_has_not_kept_its_data_or_not_whole_knows_of_none(
    trained: Path, corpus: Corpus, tmp_path: Path
) -> None:
    assert count_train_overlap(tmp_path, corpus) is None
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "corpus.jsonl").write_text("{")
    assert count_train_overlap(tmp_path, corpus) is None
