"""The model card says what was done in this run and nothing that was not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pssa.data.example import Corpus
from pssa.runs.card import describe_run
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
