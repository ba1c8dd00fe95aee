"""Shares of positive, neutral and negative opinions as `pssa insights` reports them, against those of annotators.

    python benchmarks/insights_shares.py starter --data DIR
    python benchmarks/insights_shares.py runs/reviews --data DIR --json

DIR holds files of whole reviews with marked opinions (`*-test.txt`, or any that `read_reviews` reads). For each file: the
annotators' shares, those of the page with their intervals, the largest difference in points, and how many of the intervals hold
the annotators' share. The annotators' opinions about the whole, which name no aspect, count if the model gives such answers.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pssa.data.reviews import Review, read_reviews
from pssa.evaluation.shares import ShareEstimate
from pssa.insights import InsightsJob, make_insights
from pssa.insights import job as insights_job
from pssa.insights.findings import Findings
from pssa.insights.mentions import OVERALL
from pssa.insights.page import PageFacts, render_page

LABELS = ("positive", "neutral", "negative")
AIM = 5.0  # points


def find(run: Path, reviews: Sequence[Review], device: str) -> tuple[Findings, bool]:
    """Return what the page of these reviews shows, and whether its first shares are corrected for errors."""
    kept: list[tuple[Findings, bool]] = []

    def keep(findings: Findings, facts: PageFacts) -> str:
        kept.append((findings, facts.is_corrected))
        return render_page(findings, facts)

    with tempfile.TemporaryDirectory() as folder, patch.object(insights_job, "render_page", keep):
        source = Path(folder) / "reviews.csv"
        with source.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("text",), *((review.text,) for review in reviews)])
        job = InsightsJob((str(source),), Path(folder) / "page.html", run)
        make_insights(replace(job, scoring=replace(job.scoring, device=device)))
    return kept[0]


def compare(findings: Findings, is_corrected: bool, reviews: Sequence[Review]) -> dict[str, Any]:
    """Return the shares of both, the largest difference, and how many intervals hold."""
    has_overall = any(one.name == OVERALL for one in findings.aspects)
    gold = Counter(each.label for review in reviews for each in review.opinions if each.aspect or has_overall)
    n_gold = sum(gold[label] for label in LABELS)
    found = {one.label: one.share for one in findings.whole.labels}
    rows = [(100 * gold[label] / n_gold, *_points(found[label], is_corrected)) for label in LABELS]
    return {
        "reviews": len(reviews),
        "marked": n_gold,
        "found": findings.whole.total,
        "gold": {label: round(row[0], 1) for label, row in zip(LABELS, rows, strict=True)},
        "page": {label: round(row[1], 1) for label, row in zip(LABELS, rows, strict=True)},
        "largest_difference": round(max(abs(row[0] - row[1]) for row in rows), 1),
        "intervals_hold": sum(low <= share <= high for share, _, low, high in rows),
    }


def _points(share: ShareEstimate, is_corrected: bool) -> tuple[float, float, float]:
    return 100 * (share.corrected if is_corrected else share.counted), 100 * share.low, 100 * share.high


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run, or `starter`")
    parser.add_argument("--data", type=Path, required=True, help="folder of the files, or one file")
    parser.add_argument("--pattern", default="*-test.txt", help="of the files in the folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    paths = sorted(arguments.data.glob(arguments.pattern)) if arguments.data.is_dir() else [arguments.data]
    found = {}
    for path in paths:
        reviews, _ = read_reviews(path)
        found[path.name] = compare(*find(arguments.run, reviews, arguments.device), reviews)
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'file':<24}{'reviews':>8}{'marked':>8}{'found':>7}  {'/'.join(LABELS)}: marked, page      off  hold")
    for name, one in found.items():
        gold, page = ("/".join(f"{one[side][label]:.0f}" for label in LABELS) for side in ("gold", "page"))
        counts = f"{one['reviews']:>8}{one['marked']:>8}{one['found']:>7}"
        print(
            f"{name:<24}{counts}  {gold:>12} {page:>12} {one['largest_difference']:>22.1f} {one['intervals_hold']:>4}/3"
        )
    within = sum(one["largest_difference"] <= AIM for one in found.values())
    print(f"{within} of {len(found)} within {AIM:.0f} points; {sum(one['intervals_hold'] for one in found.values())} of"
          f" {3 * len(found)} intervals hold")  # fmt: skip


if __name__ == "__main__":
    main()
