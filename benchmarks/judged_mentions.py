"""Forty answers of a run to raw reviews, drawn by a seed, for people to judge; and the share of marked aspects that it finds.

    python benchmarks/judged_mentions.py draw starter --data DATA --out mentions.jsonl
    python benchmarks/judged_mentions.py count mentions.jsonl

`draw` answers 500 reviews of the test files of four domains (DMASTE), draws forty answers and
writes a line for each. A reader sets `aspect_right`, `label_right` and `words_right`: the review has an opinion of the aspect,
whose extent is right; the label is what the review says; the word with the most attention is one that says it.
`count` says how many are right in everything.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import pssa
from pssa.aspects.sentences import split_sentences
from pssa.data.reviews import read_reviews
from pssa.evaluation.metrics import score_spans

DOMAINS = ("book", "grocery", "pet", "toy")
N_REVIEWS, N_DRAWN, N_WORDS, SEED = 500, 40, 3, 0
JUDGED = ("aspect_right", "label_right", "words_right")


def draw(run: str, data: Path) -> tuple[list[dict[str, Any]], float]:
    """Return the answers that were drawn, and the share of the marked aspects of the reviews that are found."""
    reviews = [review for name in DOMAINS for review in read_reviews(data / f"amazon/{name}-test.txt")[0]]
    rng = random.Random(SEED)
    reviews = rng.sample(reviews, min(N_REVIEWS, len(reviews)))
    answers = pssa.load(run).predict([review.text for review in reviews])
    found = [[(each.start, each.end) for each in inside if each.aspect] for inside in answers]
    recall = score_spans([review.aspects for review in reviews], found).recall
    every = [(review.text, each) for review, inside in zip(reviews, answers, strict=True) for each in inside]
    drawn = []
    for text, answer in rng.sample(every, N_DRAWN):
        words = sorted(answer.words, key=lambda word: -word.share)[:N_WORDS]
        place = answer.start if answer.aspect else words[0].start
        start, end = next(span for span in split_sentences(text) if span[0] <= place < span[1])
        shown = {text[word.start : word.end]: round(word.share, 2) for word in words if word.share >= 0.1}
        drawn.append(
            {
                "sentence": text[start:end],
                "aspect": answer.about,
                "label": answer.label,
                "words": shown,
                **dict.fromkeys(JUDGED),
            }
        )
    return drawn, recall


def main() -> int:
    """Draw, or count what was judged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    drawing = actions.add_parser("draw")
    drawing.add_argument("run")
    drawing.add_argument("--data", type=Path, required=True)
    drawing.add_argument("--out", type=Path, required=True)
    actions.add_parser("count").add_argument("file", type=Path)
    given = parser.parse_args()
    if given.action == "draw":
        drawn, recall = draw(given.run, given.data)
        given.out.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in drawn), encoding="utf-8")
        print(f"{given.out}: {len(drawn)} answers; {recall:.2f} of the marked aspects are found")
        return 0
    judged = [json.loads(line) for line in given.file.read_text("utf-8").splitlines()]
    counts = {name: sum(bool(each[name]) for each in judged) for name in JUDGED}
    right = sum(all(each[name] for name in JUDGED) for each in judged)
    print(f"{right} of {len(judged)} right in everything; {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
