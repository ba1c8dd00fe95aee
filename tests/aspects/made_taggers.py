"""Toy data and taggers: sentences from a few patterns whose aspects are known, small enough to train in a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pssa.aspects import AspectSentence, train_aspects

ASPECTS = ("screen", "battery life", "staff", "front desk", "food", "wifi")
PATTERNS = ("The {} is great.", "I hate the {}!", "Their {} was slow", "We liked {} very much")
EMPTY = ("I bought it in May.", "Never again!", "We will be back", "It arrived on Monday.", "He went home")
SMALL = {"hidden": 12, "letter_width": 6, "letter_filters": 8, "dropout": 0.1}


def toy_sentences() -> tuple[AspectSentence, ...]:
    """Every aspect in every pattern, and sentences without aspects."""
    made = []
    for aspect in ASPECTS:
        for pattern in PATTERNS:
            start = pattern.index("{}")
            made.append(AspectSentence.build(pattern.format(aspect), [(start, start + len(aspect))]))
    return (*made, *(AspectSentence.build(text, []) for text in EMPTY))


def toy_tagger(out: Path, **settings: Any) -> Path:
    """A tagger of the toy sentences."""
    chosen: dict[str, Any] = {
        "epochs": 25,
        "learning_rate": 0.02,
        "batch_size": 8,
        "dimension": 16,
        "options": SMALL,
        "device": "cpu",
        **settings,
    }
    return train_aspects(toy_sentences(), out, **chosen)
