"""`AspectClassifier` keeps scikit-learn's conventions: by its own checks, in its tools, and in pickles."""

from __future__ import annotations

import gc
import inspect
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import pssa
from pssa import AspectClassifier
from pssa.errors import InputError

TINY = {"dimension": 8, "batch_size": 8, "initial_bound": 0.1}
PAIRS = [
    (f"the {aspect} of number {number} is {word}.", aspect)
    for number in range(12)
    for aspect, word in (("screen", "great"), ("price", "poor"))
]
Y = ["good" if "great" in text else "bad" for text, _ in PAIRS]

# Checks that fit arrays of numbers, which are no pairs of text and aspect. They pass for the subclass below, which turns
# numbers into texts and is the same in all else.
ON_NUMBERS = """
check_classifier_data_not_an_array check_classifiers_classes check_classifiers_one_label check_classifiers_regression_target
check_classifiers_train check_complex_data check_dict_unchanged check_dont_overwrite_parameters check_dtype_object
check_estimator_sparse_array check_estimator_sparse_matrix check_estimator_sparse_tag check_estimators_dtypes
check_estimators_empty_data_messages check_estimators_fit_returns_self check_estimators_nan_inf
check_estimators_overwrite_params check_estimators_pickle check_f_contiguous_array_estimator check_fit2d_1feature
check_fit2d_1sample check_fit2d_predict1d check_fit_check_is_fitted check_fit_idempotent check_fit_score_takes_y
check_methods_sample_order_invariance check_methods_subset_invariance check_n_features_in check_n_features_in_after_fitting
check_pipeline_consistency check_positive_only_tag_during_fit check_readonly_memmap_input check_supervised_y_2d
"""


class OnNumbers(AspectClassifier):
    """Reads a row of numbers as a text of words such as `f2v7`."""

    def fit(self, X: Any, y: Any) -> OnNumbers:  # noqa: N803
        numbers, labels = validate_data(self, X, y, dtype=np.float64)
        super().fit(as_pairs(numbers), labels)
        return self

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        check_is_fitted(self)
        return super().predict_proba(as_pairs(validate_data(self, X, reset=False, dtype=np.float64)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        return tags


def as_pairs(rows: Any) -> list[tuple[str, str]]:
    words = [[f"f{place}v{round(value)}".replace("-", "m") for place, value in enumerate(row)] for row in rows.tolist()]
    return [(f"thing {' '.join(row)}", "thing") for row in words]


def tiny(**changes: Any) -> AspectClassifier:
    given: dict[str, Any] = {"model": "memnet", "epochs": 3, "learning_rate": 0.02, "settings": TINY} | changes
    return AspectClassifier(**given)


@pytest.fixture(scope="module")
def fitted() -> AspectClassifier:
    return tiny().fit(PAIRS, Y)


def failures(estimator: Any, expected: dict[str, str]) -> set[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    return {each["check_name"] for each in found if each["status"] in ("failed", "xfail")}


def test_the_checks_of_scikit_learn_fail_only_where_they_feed_numbers() -> None:
    expected = dict.fromkeys(ON_NUMBERS.split(), "feeds arrays of numbers; X are pairs of text and aspect")
    assert failures(tiny(epochs=1), expected) == set(expected)


@pytest.mark.slow
def test_all_checks_of_scikit_learn_pass_where_numbers_become_texts() -> None:
    settings = TINY | {"batch_size": 32, "dimension": 12, "options.embedding_dropout": 0.0, "options.dropout": 0.0}
    estimator = OnNumbers(model="memnet", epochs=5, learning_rate=0.1, settings=settings)
    assert failures(estimator, {}) == set()


def test_pairs_frames_dicts_and_arrays_are_the_same(fitted: AspectClassifier) -> None:
    frame = pd.DataFrame(PAIRS, columns=["text", "aspect"])
    expected = fitted.predict_proba(PAIRS)
    for given in (frame, frame.to_dict("records"), frame.to_numpy(), [list(pair) for pair in PAIRS]):
        assert np.array_equal(fitted.predict_proba(given), expected)


def test_labels_are_those_of_y_and_probabilities_follow_their_order(fitted: AspectClassifier) -> None:
    assert fitted.classes_.tolist() == ["bad", "good"]
    assert fitted.predict(PAIRS).tolist() == Y
    shares = fitted.predict_proba(PAIRS)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert fitted.classes_[shares.argmax(axis=1)].tolist() == Y
    assert fitted.score(PAIRS, Y) == 1
    numbered = tiny().fit(PAIRS, [int(label == "good") for label in Y])
    assert set(numbered.predict(PAIRS).tolist()) == {0, 1}


def test_a_pickle_holds_the_model_but_no_training_data(fitted: AspectClassifier) -> None:
    content = pickle.dumps(fitted)
    assert b"number 7 is" not in content
    assert np.array_equal(pickle.loads(content).predict_proba(PAIRS), fitted.predict_proba(PAIRS))  # noqa: S301
    unfitted = pickle.loads(pickle.dumps(tiny(epochs=7)))  # noqa: S301
    assert unfitted.epochs == 7


def test_the_run_can_be_saved_and_goes_with_the_estimator(tmp_path: Path) -> None:
    estimator = tiny(epochs=1).fit(PAIRS, Y)
    run = estimator.run_
    estimator.save(tmp_path / "run")
    assert pssa.load(tmp_path / "run").predict(*PAIRS[0]).label == estimator.predict(PAIRS[:1])[0]
    with pytest.raises(InputError, match="exists already"):
        estimator.save(tmp_path / "run")
    del estimator
    gc.collect()
    assert not run.exists()


@pytest.mark.parametrize(
    ("pairs", "labels", "message"),
    [
        ([], [], "0 samples"),
        (PAIRS, None, "requires y to be passed"),
        (PAIRS, ["good"] * len(PAIRS), "one class"),
        (PAIRS, Y[:-1], "inconsistent numbers of samples"),
        ([("a text",)], ["good"], "row 1 of X is .*expected a pair"),
        ([("a text", "aspect")], ["good"], "aspect 'aspect' is not in the text"),
        ("a text", ["good"], "X is a str; expected a frame"),
        (pd.DataFrame({"review": ["a text"]}), ["good"], "needs the columns text and aspect; found review"),
        (np.zeros((3, 2)), ["a", "b", "a"], "X is an array of float64"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(pairs: Any, labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny().fit(pairs, labels)


def test_the_parameters_have_the_names_of_a_training() -> None:
    own = {*inspect.signature(pssa.train).parameters, *(name.rpartition(".")[2] for name in pssa.Config().flat())}
    assert {*AspectClassifier().get_params()} - {"settings"} <= own


@pytest.mark.slow
def test_the_starter_goes_on_by_default_and_learns_labels_of_any_name() -> None:
    with pytest.warns(UserWarning, match="none of the labels bad, good"):
        estimator = AspectClassifier(epochs=10).fit(PAIRS, Y)
    assert estimator.classifier_.name == "joint"
    assert estimator.score(PAIRS, Y) == 1
    assert pickle.loads(pickle.dumps(estimator)).score(PAIRS, Y) == 1  # noqa: S301


def test_an_unfitted_estimator_says_so() -> None:
    with pytest.raises(NotFittedError):
        tiny().predict(PAIRS)


@pytest.mark.slow
def test_it_works_in_cross_validation_and_a_grid_search() -> None:
    frame = pd.DataFrame(PAIRS, columns=["text", "aspect"])
    assert cross_val_score(clone(tiny()), frame, Y, cv=2).tolist() == [1, 1]
    search = GridSearchCV(tiny(), {"epochs": [1, 3], "learning_rate": [0.02]}, cv=2).fit(frame, Y)
    assert search.best_estimator_.score(frame, Y) == 1


@pytest.mark.parametrize(("settings", "message"), [(5, "expected a dict"), ({"out": "elsewhere"}, "use save and")])
def test_settings_that_are_none_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        AspectClassifier("memnet", settings=settings).fit([("a menu", "menu"), ("a bar", "bar")], ["good", "bad"])
