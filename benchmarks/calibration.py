"""Expected calibration error on test data before and after calibration, and what abstaining brings, over sets, models and seeds.

    python benchmarks/calibration.py --data DIR --vectors F --models memnet,tnet_att --seeds 3 --out calibration.jsonl

One JSON line per training: the temperature, chosen on held-out data of the search, and test errors. The test set chooses nothing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import pssa
from pssa.evaluation.calibration import calibration_error, log_loss
from pssa.runs import Classifier
from pssa.runs.training_run import write_run

_SETS = ("laptop", "rest", "twitter")
_RISKS = (0.05, 0.1)


def main() -> None:
    """Measure every combination and append a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", default=None)
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--models", default="memnet,tnet_att")
    parser.add_argument("--sets", default=",".join(_SETS))
    parser.add_argument("--method", default="base")
    parser.add_argument("--calibrate", default="auto")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    for seed in range(options.seeds):
        for name in options.sets.split(","):
            for model in options.models.split(","):
                with options.out.open("a") as stream:
                    stream.write(json.dumps(_measure(options, name, model, seed)) + "\n")


def _measure(options: argparse.Namespace, name: str, model: str, seed: int) -> dict[str, Any]:
    starts = {key: value for key in ("vectors", "encoder") if (value := getattr(options, key))}
    settings = {"method": options.method, "calibrate": options.calibrate, "seed": seed, **starts}
    test = pssa.read(options.data / name / "test.txt")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(options.data / name / "train.txt", Path(folder) / "run", model=model, **settings)
        seconds = time.monotonic() - began
        metrics, classifier = json.loads((run / "metrics.json").read_text()), pssa.load(run)
        plain = replace(classifier, calibration=None)
        gold = torch.tensor([classifier.labels.index(example.label or "") for example in test])
        before, after = plain.torch.probabilities(test), classifier.torch.probabilities(test)
    return {
        "set": name,
        "model": model,
        "seed": seed,
        **{key: settings[key] for key in ("method", "calibrate")},
        "epochs": metrics["epochs"],
        "held_out": metrics["calibration"],
        "accuracy": (before.argmax(dim=1) == gold).float().mean().item(),
        "same_labels": bool((before.argmax(dim=1) == after.argmax(dim=1)).all()),
        "error_before": calibration_error(before, gold),
        "error_after": calibration_error(after, gold),
        "log_loss_before": log_loss(before, gold),
        "log_loss_after": log_loss(after, gold),
        # Without held-out predictions there is nothing to derive a threshold from.
        "abstaining": {str(risk): _abstain(classifier, after, gold, risk) for risk in _RISKS if classifier.calibration},
        "seconds": round(seconds, 1),
    }


def _abstain(classifier: Classifier, probabilities: torch.Tensor, gold: torch.Tensor, risk: float) -> dict[str, float]:
    """Return threshold, coverage, and wrong answers as a share of all texts and of those that are answered."""
    threshold = classifier.abstaining(risk=risk).abstain_below
    confidence, predicted = probabilities.max(dim=1)
    answered, wrong = confidence >= threshold, predicted != gold
    errors = (answered & wrong).double().mean().item()
    coverage = answered.double().mean().item()
    return {
        "threshold": threshold,
        "coverage": coverage,
        "wrong_of_all": errors,
        "wrong_of_answered": errors / max(coverage, 1e-9),
    }


if __name__ == "__main__":
    main()
