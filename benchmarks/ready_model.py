"""What the model in the box, or any other run, gets right: the table of its card.

    python benchmarks/ready_model.py starter --data DATA --part dev
    python benchmarks/ready_model.py starter --data DATA --part test

Spans are exact. Amazon and ROAST are scored with opinions alone, as their annotators marked them; LAPTOP, REST and MAMS with all
mentions. No model of the package was trained on book, grocery, pet, toy, LAPTOP or REST.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pssa
from pssa.aspects import evaluate_reviews, read_sentences
from pssa.data.reviews import read_reviews
from pssa.evaluation.metrics import score_spans
from pssa.runs.answers import Question
from pssa.runs.classifier import Classifier
from pssa.runs.evaluate import evaluate

DOMAINS = ("book", "grocery", "pet", "toy")
ROAST = ("amazon_ff", "coursera", "hotels", "phones_eng")


def review_scores(classifier: Classifier, path: Path) -> dict[str, Any]:
    """Score a file of triplets or quadruples."""
    return evaluate_reviews(classifier, read_reviews(path)[0]).as_dict()


def mention_scores(classifier: Classifier, path: Path) -> dict[str, float]:
    """Score the spans of all mentions, in sentences without labels."""
    runtime = classifier.runtime
    if hasattr(runtime, "mentions"):
        classifier = replace(classifier, runtime=replace(runtime, mentions=True))  # type: ignore[type-var]
    sentences = read_sentences(path)
    answers = classifier.start([Question(sentence.text) for sentence in sentences])()
    found = [[(each.start, each.end) for each in inside if each.aspect] for inside in answers]
    return score_spans([sentence.aspects for sentence in sentences], found).as_dict()


def measure(classifier: Classifier, data: Path, part: str) -> dict[str, Any]:
    """Return all scores of a part: `dev`, which choices may look at, or `test`."""
    found: dict[str, Any] = {}
    for name in DOMAINS:
        found[f"amazon {name}"] = review_scores(classifier, data / f"amazon/{name}-{part}.txt")
    mean = {
        "spans F1": [found[f"amazon {name}"]["spans"]["f1"] for name in DOMAINS],
        "labels accuracy": [found[f"amazon {name}"]["labels"]["accuracy"] for name in DOMAINS],
        "labels macro-F1": [found[f"amazon {name}"]["labels"]["macro_f1"] for name in DOMAINS],
        "top word": [found[f"amazon {name}"]["top_word"] for name in DOMAINS],
    }
    if all(found[f"amazon {name}"]["overall"] for name in DOMAINS):
        mean["overall accuracy"] = [found[f"amazon {name}"]["overall"]["accuracy"] for name in DOMAINS]
        mean["overall macro-F1"] = [found[f"amazon {name}"]["overall"]["macro_f1"] for name in DOMAINS]
    found["mean of four"] = {name: fmean(values) for name, values in mean.items()}
    if part == "test":
        for name in ROAST:
            found[f"roast {name}"] = review_scores(classifier, data / f"roast/{name}-test.txt")
        found["spans of mentions"] = {
            "MAMS val": mention_scores(classifier, data / "mams/val.xml"),
            "REST test": mention_scores(classifier, data / "aspect_terms/rest/test.xml"),
            "LAPTOP test": mention_scores(classifier, data / "aspect_terms/laptop/test.xml"),
        }
        files = {"MAMS val": "mams/val.xml", "REST test": "rest/test.txt", "LAPTOP test": "laptop/test.txt"}
        found["labels"] = {
            name: evaluate(classifier, data / path, conflict="drop").scores.as_dict() for name, path in files.items()
        }
    return found


def main() -> int:
    """Print the scores as a table, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(pssa.load(given.run), given.data, given.part)
    if given.json:
        print(json.dumps(found))
        return 0
    for name, scores in found.items():
        flat = {key: value for key, value in _flat(scores) if isinstance(value, float)}
        print(f"{name}: " + ", ".join(f"{key} {100 * value:.1f}" for key, value in flat.items()))
    return 0


def _flat(scores: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    kept = ("precision", "recall", "f1", "accuracy", "macro_f1", "top_word", "commonest_share")
    pairs: list[tuple[str, Any]] = []
    for key, value in scores.items():
        if isinstance(value, dict) and key not in ("per_class",):
            pairs += _flat(value, f"{prefix}{key} ")
        elif key in kept or not prefix:
            pairs.append((f"{prefix}{key}", value))
    return pairs


if __name__ == "__main__":
    sys.exit(main())
