"""How sure the starter may be of its answers, from MAMS val, and which texts are like those that it learned from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

import pssa
from pssa.data.example import Example
from pssa.data.files import write_atomically
from pssa.runs.calibration import FILE as CALIBRATION
from pssa.runs.calibration import Calibration, HeldOut
from pssa.runs.compact import flat_json
from pssa.runs.directory import read_json, write_json
from pssa.runs.input_profile import FILE as INPUTS
from pssa.runs.input_profile import InputProfile

__all__ = ["keep_calibration", "keep_input_profile"]


def keep_calibration(root: Path, val: Path) -> None:
    """Choose the temperature of the packed model on MAMS val, which it was not trained on."""
    (root / CALIBRATION).unlink(missing_ok=True)  # what the training chose was for the model before it was packed
    classifier, corpus = pssa.load(root), pssa.read(val)
    gold = torch.tensor([classifier.labels.index(example.label or "") for example in corpus])
    found = Calibration.of(HeldOut(classifier.torch.probabilities(corpus)[None], gold, "MAMS val", kept_out=True))
    assert found is not None
    found.save(root)
    write_atomically(root / CALIBRATION, flat_json(root / CALIBRATION).encode())
    write_json(root / "metrics.json", read_json(root / "metrics.json") | {"calibration": found.summary()})


def keep_input_profile(root: Path, corpus: Sequence[Example]) -> None:
    """Keep words, aspects and scripts of the training texts, and no sentence of them."""
    InputProfile.of(corpus).save(root)
    write_atomically(root / INPUTS, flat_json(root / INPUTS).encode())
