"""`Description`: what it takes from a run's settings, and its file; what is refused is in tests/test_hardness_runs.py."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from pssa.data.vocabulary import Vocabulary
from pssa.models import WordTable
from pssa.runs.config import Config
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.saved_model import Description

VOCABULARY = Vocabulary.build(["screen"])
FEATURIZER = WordFeaturizer(VOCABULARY, WordTable(torch.zeros(len(VOCABULARY), 7), VOCABULARY.n_trained))


def test_a_description_has_the_dimension_of_the_vectors_whatever_the_settings_say() -> None:
    config = Config().updated({"model": "memnet", "dimension": 300, "labels": "good,bad", "dropout": 0.2})
    assert Description.of(config, FEATURIZER) == Description("memnet", {"dropout": 0.2}, ("good", "bad"), 7)


def test_a_description_survives_its_file(tmp_path: Path) -> None:
    description = Description("tnet", {"filters": 9, "dropout": 0.5}, ("good", "bad"), 7, vote_weights=(2.0, 0.5))
    description.save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["schema"] == 1
    assert Description.load(tmp_path) == description
