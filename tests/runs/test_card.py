"""A finished run in words: its card says what was done and nothing that was not, and advice what would help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import f1_score

from pssa.data.example import Corpus
from pssa.errors import for_command_line
from pssa.runs.card import advise, describe_run, held_out_score, majority_score
from pssa.runs.settings import Config

GIVEN, OWN, HELD_OUT = "The number of epochs was given", "Separate development data", "held out by sentence"


@pytest.mark.parametrize(
    ("settings", "own_dev", "expected"),
    [
        ({"epochs": 1}, False, GIVEN),
        ({"epochs": 1}, True, GIVEN),
        ({"epochs": 0, "max_epochs": 1}, True, OWN),
        ({"epochs": 0, "max_epochs": 1, "dev_fraction": 0.25}, False, f"25 % of the training data, {HELD_OUT}"),
    ],
)
def test_the_card_says_what_chose_the_number_of_epochs(
    train_tiny: Callable[..., Path],
    corpus: Corpus,
    tmp_path: Path,
    settings: dict[str, Any],
    own_dev: bool,
    expected: str,
) -> None:
    dev = corpus.select([0, 4, 8]) if own_dev else None
    card = (train_tiny(tmp_path / "run", dev=dev, preset="paper", **settings) / "README.md").read_text()
    assert "| preset | `paper` |" in card
    assert expected in card
    assert sum(words in card for words in (GIVEN, OWN, HELD_OUT)) == 1
    assert "Measure a test score" in card
    assert ("development score | none: the number of epochs was given" in card) == (expected == GIVEN)
    assert "shares of the members' votes" not in card


def test_the_card_names_what_goes_with_the_method() -> None:
    def row(augment: str, **metrics: object) -> str:
        known = {"labels": {}, "dropped": {}, "members": 1, "instances": 1, "dev": None, "parameters": 1, "epochs": 1}
        config = Config().updated({"augment": augment, "method": "consensus"})
        return describe_run(config, {**known, "corpus_hash": "", "mining": None, **metrics})["method"]

    assert row("none") == row("none", gate={"supervised": True}) == ""
    assert row("contrast") == ", with contrast copies"
    assert "without its evidence" in row("none", gate={"supervised": False})


METRICS: dict[str, Any] = {
    "instances": 900,
    "labels": {"positive": 400, "negative": 300, "neutral": 200},
    "vector_coverage": {"types": 1.0, "tokens": 1.0},
}
CONFUSED = {"labels": ["positive", "negative", "neutral"], "confusion": [[9, 0, 0], [0, 9, 0], [5, 0, 4]]}


def test_the_majority_baseline_has_the_scores_that_scikit_learn_computes() -> None:
    found = majority_score(METRICS["labels"])
    gold = [label for label, count in METRICS["labels"].items() for _ in range(count)]
    assert found.name == "positive"
    assert found.accuracy == pytest.approx(4 / 9)
    assert found.macro_f1 == pytest.approx(f1_score(gold, ["positive"] * 900, average="macro", zero_division=0))


def test_held_out_predictions_are_a_score_where_no_search_has_one() -> None:
    known = METRICS | {"dev": None, "dropped": {}, "members": 1, "parameters": 1, "corpus_hash": "x", "epochs": 1}
    assert held_out_score(Config(), known) is None
    kept = {"labels": ["a", "b"], "confusion": [[3, 1], [0, 4]], "source": "instances kept out"}
    found = held_out_score(Config(), known | {"held_out": kept})
    gold, predicted = [0] * 4 + [1] * 4, [0] * 3 + [1] * 5
    assert found is not None
    assert (found.accuracy, found.name) == (7 / 8, "instances kept out")
    assert found.macro_f1 == pytest.approx(f1_score(gold, predicted, average="macro"))
    searched = held_out_score(Config(), known | {"dev": {"accuracy": 0.5, "macro_f1": 0.4}, "held_out": kept})
    assert searched is not None
    assert (searched.accuracy, searched.macro_f1) == (0.5, 0.4)


def test_a_better_start_comes_first() -> None:
    without = [for_command_line(line) for line in advise(Config(), METRICS | {"vector_coverage": None})]
    assert "--vectors" in without[0]
    assert "--encoder" in without[1]
    poor = advise(Config(), METRICS | {"vector_coverage": {"types": 0.5, "tokens": 0.8}})
    assert "80.0 %" in poor[0]
    assert advise(Config(model="bertabsa_att"), METRICS) == []


def test_advice_follows_the_language() -> None:
    german = METRICS | {"vector_coverage": None, "languages": ["de"]}
    vectors, encoder, *_ = (for_command_line(line) for line in advise(Config(), german))
    assert "--vectors cc.de.300.vec.gz" in vectors
    assert "glove" not in vectors + encoder
    assert "starter" not in vectors
    assert "--encoder FacebookAI/xlm-roberta-base" in encoder
    (poor, _) = advise(Config(), german | {"vector_coverage": {"types": 0.1, "tokens": 0.2}})
    assert "cc.de.300.vec.gz" in poor
    for english in (["en"], ["de", "en"], []):
        found = advise(Config(), METRICS | {"vector_coverage": None, "languages": english})
        assert found == advise(Config(), METRICS | {"vector_coverage": None})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": {"positive": 800, "negative": 95, "neutral": 5}}, "neutral: there are 5 of 900"),
        ({"instances": 120}, "120 instances are few"),
        ({"held_out": CONFUSED}, "neutral, the label it predicts worst: F1 61.5 %"),  # 8 / 13
    ],
)
def test_weak_labels_and_little_data_are_named(changes: dict[str, Any], said: str) -> None:
    (line,) = advise(Config(model="bertabsa_att"), METRICS | changes)
    assert said in line
