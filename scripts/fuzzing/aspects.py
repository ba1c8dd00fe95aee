"""Targets of the room `aspects`: raw text, names of aspects, and sentences with all their aspects."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from fuzzing.grammars import json_rows, pieces_of
from fuzzing.readers import using
from fuzzing.target import Target
from pssa.aspects import NameFinder, find_in_texts, read_names, read_sentences
from pssa.aspects.spans import check_text
from pssa.runs.answers import Question, examples_of

__all__ = ["TEXT_PARTS", "aspect_targets"]

TEXT_PARTS = (
    "The front desk", " was rude", ".", "...", "\u2026", "!", "?", " ", "\n", "\r\n", "\n\n", "- ", "1. ", "Dr. ", "e.g. ",
    "etc.", "food", "Foods", "wi-fi", "Wi Fi", "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "屏幕很好。",
    "\u0916\u093e\u0928\u093e", "cafe\u0301", '"', ")", "<br>", "<br />", "good.The", "\u2028", "\x0b", "a-", "/")  # fmt: skip
_NAMES = ("food\n", "front desk\n", "# no name\n", "\n", " ", "屏幕\n", "wi-fi\n", "...\n", "é", "\ufeff")
_SENTENCES = [
    {"text": "The screen is great", "aspects": [{"from": 4, "to": 10}]},
    {"text": "Never again", "aspects": []},
]
_FINDER = NameFinder(("food", "front desk", "wi-fi", "屏幕", "the", "a"))


def aspect_targets() -> dict[str, Target]:
    """By name."""
    rows = b'{"text": "The screen is great", "aspects": [{"from": 4, "to": 10}]}\n{"text": "Never", "aspects": []}\n'
    xml = b'<sentences><sentence id="1"><text>A fan</text></sentence></sentences>'
    return {
        "raw_text": Target(using("case.txt", _find), ("".join(TEXT_PARTS).encode(),), grown=pieces_of(*TEXT_PARTS)),
        "aspect_names": Target(using("case.txt", read_names), ("".join(_NAMES).encode(),), grown=pieces_of(*_NAMES)),
        "aspect_lists": Target(using("case.jsonl", read_sentences), (rows,), grown=json_rows(_SENTENCES)),
        "aspect_xml": Target(using("case.xml", read_sentences), (xml,)),
    }


def _find(path: Path) -> None:
    """Find names in any text: in order and apart, at their offsets, and such that a classifier can read them."""
    text = check_text(path.read_bytes().decode("utf-8", "replace"))
    found = find_in_texts(_FINDER, [text])[0]
    if any(text[each.start : each.end] != each.aspect for each in found):
        raise AssertionError("an aspect is not at its offsets")
    if any(after.start < before.end for before, after in pairwise(found)):
        raise AssertionError("aspects overlap")
    asked = Question(text, tuple((each.start, each.end) for each in found))
    if any(example.aspect_text != each.aspect for each, (example, _) in zip(found, examples_of(asked), strict=True)):
        raise AssertionError("a classifier would read another aspect")
