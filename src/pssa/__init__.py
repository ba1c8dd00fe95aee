"""PSSA: aspect-based sentiment classifiers whose attention teaches itself.

    import pssa

    pssa.train("reviews.csv", "runs/reviews", model="tnet_att")
    classifier = pssa.load("runs/reviews")
    classifier.predict("The screen is great but the battery is weak.", "battery").label

Importing the package is quick and touches neither network nor torch; names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pssa.data import (
        Corpus,
        Evidence,
        Example,
        check,
        from_dataset,
        from_records,
        read,
        read_evidence,
        write,
        write_evidence,
    )
    from pssa.errors import InputError, PssaError
    from pssa.evaluation import paired_bootstrap, score
    from pssa.runs import Answer, Classifier, Config, load, mine, resume, train
    from pssa.runs.answers import Explanation
    from pssa.runs.evaluate import Evaluation, evaluate
    from pssa.runs.hub import from_pretrained, push_to_hub
    from pssa.runs.onnx_export import export_onnx
    from pssa.runs.sklearn_estimator import AspectClassifier
    from pssa.training.observers import LogObserver

__version__ = "0.1.0"

# Threads that wait for each other must sleep, and not spin: beside other programs spinning makes training up to ten
# times slower. OpenMP reads this when torch is imported, which is later unless the caller did so before.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__all__ = [
    "Answer",
    "AspectClassifier",
    "Classifier",
    "Config",
    "Corpus",
    "Evaluation",
    "Evidence",
    "Example",
    "Explanation",
    "InputError",
    "LogObserver",
    "PssaError",
    "check",
    "evaluate",
    "export_onnx",
    "from_dataset",
    "from_pretrained",
    "from_records",
    "load",
    "mine",
    "paired_bootstrap",
    "push_to_hub",
    "read",
    "read_evidence",
    "resume",
    "score",
    "train",
    "write",
    "write_evidence",
]

_HOME = {
    "pssa.data": (
        "Corpus",
        "Evidence",
        "Example",
        "check",
        "from_dataset",
        "from_records",
        "read",
        "read_evidence",
        "write",
        "write_evidence",
    ),
    "pssa.errors": ("InputError", "PssaError"),
    "pssa.evaluation": ("paired_bootstrap", "score"),
    "pssa.runs": ("Answer", "Classifier", "Config", "load", "mine", "resume", "train"),
    "pssa.runs.evaluate": ("Evaluation", "evaluate"),
    "pssa.runs.answers": ("Explanation",),
    "pssa.runs.hub": ("from_pretrained", "push_to_hub"),
    "pssa.runs.onnx_export": ("export_onnx",),
    "pssa.runs.sklearn_estimator": ("AspectClassifier",),
    "pssa.training.observers": ("LogObserver",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    except ModuleNotFoundError as error:
        from pssa.errors import NEEDS_TRAIN, MissingExtra

        if error.name not in NEEDS_TRAIN:
            raise
        raise MissingExtra(error.name, "train") from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
