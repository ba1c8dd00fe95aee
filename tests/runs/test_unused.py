"""Settings that a method makes no use of: who asks for one is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pssa.data.example import Corpus
from pssa.errors import InputError
from pssa.runs import Config, mine, train
from pssa.runs.defaults import unused_settings, warn_of_absent_labels, warn_of_unused


@pytest.mark.parametrize(
    ("method", "asked", "unused"),
    [
        ("base", {"iterations": 1, "epsilon": 2.0, "epochs": 1}, ("iterations", "epsilon")),
        ("base", {"gamma": 1.0, "evidence": "e.jsonl"}, ()),
        ("kt", {"supervision.gamma": 1.0}, ("gamma",)),
        ("boosting", {"mining": {"folds": 2}, "data": {"dimension": 3}}, ("folds",)),
        ("aw-as", {"consensus_words": 3, "epsilon": 2.0, "gamma": 1.0}, ("consensus_words",)),
        ("consensus", {"consensus_words": 3, "mining.folds": 2, "gamma": 1.0}, ("folds",)),
        ("consensus", {"saliency": "gradient", "samples": 3}, ()),
    ],
)
def test_what_a_method_makes_no_use_of(method: str, asked: dict[str, Any], unused: tuple[str, ...]) -> None:
    config = Config(method=method).updated(asked)
    assert unused_settings(config, asked) == unused


def test_a_warning_names_the_methods_that_use_it() -> None:
    with pytest.warns(UserWarning, match=r"method base makes no use of epsilon, folds; .*: aw-as, pg-as, rm-as$"):
        warn_of_unused(Config(), {"epsilon": 2.0, "mining.folds": 2})
    with pytest.warns(UserWarning, match=r"method aw-as makes no use of consensus_words; .*: consensus$"):
        warn_of_unused(Config(method="aw-as"), {"consensus_words": 3})


def test_an_unknown_method_is_refused_before_it_is_said_to_make_no_use_of_anything() -> None:
    with pytest.raises(InputError, match="unknown method 'as'"):
        warn_of_unused(Config(method="as"), {"epsilon": 2.0})


def test_a_training_warns_of_keywords_and_not_of_its_configuration(
    train_tiny: Callable[..., Path], tmp_path: Path
) -> None:
    train_tiny(tmp_path / "quiet", epochs=1, config=Config().updated({"epsilon": 2.0}))
    with pytest.warns(UserWarning, match="method base makes no use of epsilon"):
        train_tiny(tmp_path / "warned", epochs=1, epsilon=2.0)


def test_labels_that_no_training_instance_has_are_named_with_the_remedy(corpus: Corpus) -> None:
    two = Corpus(tuple(example for example in corpus if example.label != "neutral"))
    with pytest.warns(UserWarning, match="no training instance is neutral, .*labels='positive,negative'$"):
        warn_of_absent_labels(two)
    with pytest.warns(UserWarning, match="no training instance is conflict, .*conflict='keep'$"):
        warn_of_absent_labels(Corpus(corpus.examples, (*corpus.labels, "conflict")))
    numbers = Corpus(tuple(replace(example, label="-1") for example in corpus.examples), ("-1", "1"))
    with pytest.warns(UserWarning, match="no training instance is 1, .*labels='-1'$"):
        warn_of_absent_labels(numbers)
    warn_of_absent_labels(corpus)
    warn_of_absent_labels(Corpus(two.examples, ("negative", "positive")))


def test_training_and_mining_warn_of_labels_that_no_instance_has(corpus: Corpus, tmp_path: Path) -> None:
    two = Corpus(tuple(example for example in corpus if example.label != "neutral"))
    tiny: dict[str, Any] = {"model": "memnet", "dimension": 8, "epochs": 1, "device": "cpu"}
    with pytest.warns(UserWarning, match="no training instance is neutral"):
        train(two, tmp_path / "run", **tiny)
    with pytest.warns(UserWarning, match="no training instance is neutral"):
        mine(two, tmp_path / "evidence.jsonl", method="aw-as", iterations=1, **tiny)
