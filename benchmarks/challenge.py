"""A run on the challenge set: 200 short texts with negation, contrast, mild wording and more, written for this test alone.

    python benchmarks/challenge.py starter
    python benchmarks/challenge.py runs/reviews --json

For each kind of text: F1 of exact spans, accuracy of labels where the span is right, and accuracy of the overall label (`none`
where a text has no opinion of the whole). A mention, which is an aspect without an opinion, is apart: answered as a mention or as
neutral it is neither right nor wrong, answered as praise or a complaint it is a wrong span.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pssa
from pssa.runs import Answer

CHALLENGE = Path(__file__).parents[1] / "tests" / "fixtures" / "challenge.jsonl"
NEUTRAL, NONE = "neutral", "none"
Predict = Callable[[list[str]], Sequence[Sequence[Answer]]]


@dataclass
class Counts:
    """What is right in the texts of one kind."""

    texts: int = 0
    gold: int = 0
    found: int = 0
    right_spans: int = 0
    right_labels: int = 0
    right_overall: int = 0

    def add(self, text: dict[str, Any], answers: Sequence[Answer]) -> None:
        """Compare the answers about one text."""
        mentions = {(each["start"], each["end"]) for each in text["answers"] if each.get("mention")}
        gold = {(each["start"], each["end"]): each["label"] for each in text["answers"] if not each.get("mention")}
        named = [each for each in answers if each.aspect and not getattr(each, "is_mention", False)]
        found = {(each.start, each.end): each.label for each in named}
        found = {span: label for span, label in found.items() if span not in mentions or label != NEUTRAL}
        overall = next((each.label for each in answers if not each.aspect), NONE)
        right = gold.keys() & found.keys()
        self.texts += 1
        self.gold += len(gold)
        self.found += len(found)
        self.right_spans += len(right)
        self.right_labels += sum(gold[span] == found[span] for span in right)
        self.right_overall += overall == text["overall"]

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def scores(self) -> dict[str, float | None]:
        """Return the three scores; None where there is nothing to score."""
        return {
            "span_f1": _share(2 * self.right_spans, self.gold + self.found),
            "labels": _share(self.right_labels, self.right_spans),
            "overall": _share(self.right_overall, self.texts),
        }


def measure(predict: Predict, texts: Sequence[dict[str, Any]]) -> dict[str, Counts]:
    """Return the counts of each kind, in the order of the texts, and of all."""
    by_kind: dict[str, Counts] = defaultdict(Counts)
    for text, answers in zip(texts, predict([text["text"] for text in texts]), strict=True):
        by_kind[text["kind"]].add(text, answers)
    return {**by_kind, "all": sum(by_kind.values(), Counts())}


def read_challenge(path: Path = CHALLENGE) -> list[dict[str, Any]]:
    """Return the texts with their right answers."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Print the scores of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="folder of a run, or `starter`")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    found = measure(_load(arguments.run), read_challenge())
    if arguments.json:
        print(json.dumps({kind: {"texts": one.texts, **one.scores()} for kind, one in found.items()}, indent=1))
        return
    print(f"{'kind':<13}{'texts':>6}{'spans F1':>10}{'labels':>9}{'overall':>9}")
    for kind, counts in found.items():
        cells = ["–" if value is None else f"{100 * value:.1f}" for value in counts.scores().values()]
        print(f"{kind:<13}{counts.texts:>6}{cells[0]:>10}{cells[1]:>9}{cells[2]:>9}")


def _load(run: str) -> Predict:
    pipeline: Any = getattr(pssa, "pipeline", None)
    predict: Predict = pipeline(run) if pipeline else pssa.load(run).predict
    return predict


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


if __name__ == "__main__":
    main()
