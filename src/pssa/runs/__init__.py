"""Runs: from data and settings to a directory that holds a classifier. Names load when they are first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pssa.runs.answers import Answer
    from pssa.runs.classifier import Classifier
    from pssa.runs.loading import load
    from pssa.runs.settings import Config
    from pssa.runs.training_run import mine, resume, train

__all__ = ["Answer", "Classifier", "Config", "load", "mine", "resume", "train"]

_MODULES = {
    "Answer": "answers",
    "Classifier": "classifier",
    "Config": "settings",
    "load": "loading",
    "mine": "training_run",
    "resume": "training_run",
    "train": "training_run",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
