"""The challenge set fits its own rules, and its benchmark counts what it says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pssa.data.example import DEFAULT_LABELS
from pssa.runs import Answer

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

from challenge import Counts, read_challenge

TEXTS = read_challenge()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["id"])
def test_offsets_and_labels_fit(text: dict[str, Any]) -> None:
    spans = [(each["start"], each["end"]) for each in text["answers"]]
    assert spans == sorted(spans)
    assert len({*spans}) == len(spans)
    assert text["overall"] in {*DEFAULT_LABELS, "none"}
    for each in text["answers"]:
        assert text["text"][each["start"] : each["end"]] == each["aspect"] == each["aspect"].strip() != ""
        assert each["label"] in DEFAULT_LABELS
        assert bool(each["words"]) != each.get("mention", False)
        for start, end in each["words"]:
            words = text["text"][start:end]
            assert words == words.strip() != ""
            assert end <= each["start"] or each["end"] <= start
    if text["kind"] == "long":
        assert 80 <= len(text["text"].split()) <= 150
    if text["kind"] in ("none", "overall"):
        assert all(each.get("mention") for each in text["answers"])
        assert (text["overall"] == "none") == (text["kind"] == "none")


def answer(aspect: str, start: int, label: str) -> Answer:
    return Answer(label, {label: 1.0}, aspect, start, start + len(aspect))


def test_errors_count() -> None:
    text = {
        "text": "The soup was cold, the spoon was long.",
        "overall": "none",
        "answers": [
            {"aspect": "soup", "start": 4, "end": 8, "label": "negative"},
            {"aspect": "spoon", "start": 23, "end": 28, "label": "neutral", "mention": True},
        ],
    }
    counts = Counts()
    counts.add(text, [answer("soup", 4, "positive"), answer("spoon", 23, "neutral")])
    assert counts == Counts(texts=1, gold=1, found=1, right_spans=1, right_labels=0, right_overall=1)
    counts.add(text, [answer("spoon", 23, "positive"), answer("", 0, "negative")])
    assert counts == Counts(texts=2, gold=2, found=2, right_spans=1, right_labels=0, right_overall=1)
