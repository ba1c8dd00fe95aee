"""Digests and answers of the starter, recorded for the test that its files are whole and answer the same everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pssa
from pssa.aspects.find import FOLDER
from pssa.predict.fingerprint import run_digest

__all__ = ["TEXTS", "record"]

TEXTS = (
    "The screen is huge but the battery dies within an hour.",
    "Great food, rude waiter, and the dessert was ordinary.",
    "We stayed for three nights. The room was spotless, though the wifi never worked!",
    "I would not come back.",
)


def record(run: Path, path: Path) -> None:
    """Write the digests of classifier and tagger, and what they answer to the texts."""
    answers = pssa.load(run).predict(TEXTS)
    content = {
        "digests": {name: run_digest(folder) for name, folder in (("run", run), ("tagger", run / FOLDER))},
        "answers": [
            {"text": text, "aspects": [answer.as_dict() for answer in found]}
            for text, found in zip(TEXTS, answers, strict=True)
        ],
    }
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
