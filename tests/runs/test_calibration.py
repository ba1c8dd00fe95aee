"""Calibration of a run: what it is chosen on, its file, and when a classifier abstains."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import pssa
from pssa.data import embedded
from pssa.data.example import Corpus
from pssa.errors import InputError, PssaWarning
from pssa.runs.answers import UNCERTAIN
from pssa.runs.calibration import Calibration, HeldOut, describe_calibration
from pssa.runs.prepared_data import prepare
from pssa.runs.training_run import write_run

FAST: dict[str, Any] = {"model": "memnet", "dimension": 8, "batch_size": 16, "learning_rate": 0.01, "device": "cpu"}


def held_out(n: int = 200, factor: float = 3.0, n_models: int = 1, kept_out: bool = True) -> HeldOut:
    """Predictions that are too sure of themselves."""
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(n, 3, generator=generator)
    gold = torch.multinomial(logits.softmax(dim=1), 1, generator=generator).squeeze(1)
    return HeldOut((factor * logits).softmax(dim=1).expand(n_models, n, 3), gold, "a test", kept_out)


@pytest.fixture
def calibrated(copied_run: Path) -> Path:
    """A copy of a run, with a temperature."""
    found = Calibration.of(held_out())
    assert found is not None
    found.save(copied_run)
    return copied_run


def test_a_temperature_is_chosen_and_survives_its_file(tmp_path: Path) -> None:
    found = Calibration.of(held_out(n_models=2))
    assert found is not None
    assert found.temperature > 1.5
    assert found.error_after < found.error_before
    assert found.instances == len(found.confidences) == len(found.correct) == 200
    found.save(tmp_path)
    assert Calibration.load(tmp_path) == found
    assert "temperature" in describe_calibration(found.summary())
    assert Calibration.of(held_out(n=20)) is None


@pytest.mark.parametrize(
    "change",
    [{"temperature": 0}, {"temperature": "hot"}, {"correct": [1]}, {"confidences": [2.0]}, {"schema": 2}, {"more": 1}],
)
def test_a_damaged_file_is_refused(calibrated: Path, change: dict[str, Any]) -> None:
    path = calibrated / "calibration.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"calibration\.json is damaged"):
        pssa.load(calibrated)


def test_calibration_changes_probabilities_and_no_label(calibrated: Path, finished_run: Path) -> None:
    examples = embedded.load("test")[:40]
    before, after = pssa.load(finished_run), pssa.load(calibrated)
    assert before.predicted_labels(examples) == after.predicted_labels(examples)
    assert [answer.label for answer in before.answer(examples)] == [answer.label for answer in after.answer(examples)]
    plain = replace(after.torch, temperature=1.0)
    assert torch.equal(plain.probabilities(examples), before.torch.probabilities(examples))
    assert after.torch.probabilities(examples).max() < before.torch.probabilities(examples).max()


def test_an_answer_below_the_threshold_is_withheld(calibrated: Path) -> None:
    classifier, examples = pssa.load(calibrated), embedded.load("test")[:40]
    confidences = [max(answer.probabilities.values()) for answer in classifier.answer(examples)]
    threshold = sorted(confidences)[20]
    for answer, confidence in zip(
        classifier.abstaining(threshold=threshold).answer(examples), confidences, strict=True
    ):
        assert (answer.label == UNCERTAIN) == (confidence < threshold)
    careful, bold = (classifier.abstaining(risk=risk).abstain_below for risk in (0.02, 0.3))
    assert careful > bold


def test_a_threshold_needs_a_sound_value_and_something_to_follow_from(calibrated: Path) -> None:
    classifier = pssa.load(calibrated)
    for given in ({"threshold": 0.0}, {"threshold": 1.5}, {"risk": float("nan")}, {"threshold": 0.5, "risk": 0.1}):
        with pytest.raises(InputError, match="abstain"):
            classifier.abstaining(**given)
    with pytest.raises(InputError, match="calibrate='held_out'"):
        replace(classifier, calibration=None).abstaining(risk=0.1)
    with pytest.raises(InputError, match="a label 'uncertain' of its own"):
        replace(classifier, runtime=replace(classifier.torch, labels=("good", "bad", "uncertain"))).abstaining(
            threshold=0.5
        )


@pytest.mark.parametrize(("n", "remedy"), [(100, "calibration_fraction=0.36"), (60, "leave out calibrate")])
def test_too_few_instances_to_calibrate_on_are_reported_before_the_training(n: int, remedy: str) -> None:
    config = pssa.Config().updated({**FAST, "epochs": 1, "calibrate": "held_out"})
    with pytest.warns(PssaWarning, match=f"{n} instances.*30 are needed.*{remedy}"):
        prepare(embedded.load("train").select(range(n)), None, config)


def test_enough_instances_to_calibrate_on_give_no_warning() -> None:
    config = pssa.Config().updated({**FAST, "epochs": 1, "calibrate": "held_out", "calibration_fraction": 0.36})
    _, prepared = prepare(embedded.load("train").select(range(100)), None, config)
    assert len(prepared.calibration or ()) >= 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "source", "kept_out"),
    [
        ({"max_epochs": 4, "min_steps": 0}, "held-out data of the search", False),
        ({"epochs": 2, "calibrate": "held_out", "calibration_fraction": 0.3}, "kept out for calibration", True),
        ({"epochs": 2, "method": "consensus", "consensus_models": 2, "consensus_folds": 2}, "out-of-fold", False),
        ({"max_epochs": 3, "method": "boosting", "min_steps": 0}, None, None),
        ({"epochs": 2}, None, None),
    ],
)
def test_a_run_is_calibrated_on_what_its_training_leaves(
    tmp_path: Path, settings: dict[str, Any], source: str | None, kept_out: bool | None
) -> None:
    corpus = embedded.load("train").select(range(240))
    run = write_run(corpus, tmp_path / "run", **FAST, **settings)
    metrics = json.loads((run / "metrics.json").read_text())
    found = metrics["calibration"]
    assert (found and found["kept_out"]) == kept_out
    if source is None:
        assert metrics["held_out"] is None
        return
    assert source in found["source"]
    assert "expected calibration error" in (run / "README.md").read_text()
    assert sum(map(sum, metrics["held_out"]["confusion"])) == found["instances"] == metrics["held_out"]["instances"]
    trained = pssa.read(run / "stages" / "corpus.jsonl")
    assert len(trained) == metrics["instances"] == (240 - found["instances"] if kept_out else 240)


@pytest.mark.slow
def test_development_data_of_its_own_calibrates_the_final_model(tmp_path: Path) -> None:
    corpus: Corpus = embedded.load("train")
    train, dev = corpus.select(range(200)), corpus.select(range(200, 300))
    run = write_run(train, tmp_path / "run", dev=dev, **FAST, max_epochs=3)
    calibration = Calibration.load(run)
    assert calibration is not None
    assert calibration.kept_out
    right = [found == each.label for found, each in zip(pssa.load(run).predicted_labels(dev), dev, strict=True)]
    assert list(calibration.correct) == right
