"""Digest and answers of the starter, recorded for the test that its files are whole and answer the same everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pssa
from pssa.aspects import load_finder
from pssa.data.example import Example
from starter.packing import digest_of

__all__ = ["TEXTS", "answers", "record"]

TEXTS = (
    "The screen is huge but the battery dies within an hour.",
    "Great food, rude waiter, and the dessert was ordinary.",
    "We stayed for three nights. The room was spotless, though the wifi never worked!",
    "I would not come back.",
)


def answers(run: Path) -> list[dict[str, Any]]:
    """Return what the run finds in the texts, and its probabilities."""
    finder, classifier = load_finder(run), pssa.load(run)
    found = [(text, span) for text in TEXTS for span in finder.find(text)]
    judged = classifier.answer([Example.from_text(text, span) for text, span in found])
    return [{"text": text, **answer.as_dict()} for (text, _), answer in zip(found, judged, strict=True)]


def record(run: Path, path: Path) -> None:
    """Write the digest and the answers."""
    content = {"digest": digest_of(run), "answers": answers(run)}
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
