"""Means over seeds of what `benchmarks/method.py` wrote, beside the paper's rows, as a Markdown page.

python benchmarks/summary.py --title T --note N results/raw/F.jsonl ... > results/F.md
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

Key = tuple[str, str, str]

# The paper's overall table: accuracy, macro-F1.
PAPER: dict[Key, tuple[float, float]] = {
    ("memnet", "laptop", "base"): (68.97, 63.28),
    ("memnet", "rest", "base"): (77.32, 65.88),
    ("memnet", "twitter", "base"): (67.71, 66.17),
    ("tnet", "laptop", "base"): (72.67, 67.75),
    ("tnet", "rest", "base"): (78.98, 69.53),
    ("tnet", "twitter", "base"): (72.74, 70.97),
    ("tnet_att", "laptop", "base"): (72.56, 67.13),
    ("tnet_att", "rest", "base"): (79.31, 67.71),
    ("tnet_att", "twitter", "base"): (71.67, 70.23),
}
COLUMNS = (
    "model",
    "data",
    "method",
    "seeds",
    "accuracy",
    "macro-F1",
    "paper",
    "difference",
    "best epoch on test",
    "epochs",
)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--title", default="Results")
    parser.add_argument("--note", action="append", default=[], help="a paragraph below the title")
    arguments = parser.parse_args()
    groups: dict[Key, list[dict[str, Any]]] = {}
    for path in arguments.files:
        for line in path.read_text().splitlines():
            record = json.loads(line)
            groups.setdefault(_key(record), []).append(record)
    print(f"# {arguments.title}\n")
    for note in arguments.note:
        print(note + "\n")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for key, records in sorted(groups.items()):
        print("| " + " | ".join(_row(key, records)) + " |")


def _key(record: dict[str, Any]) -> Key:
    method: str = record["variant"]
    if method != "base":
        method += f" K={record['rounds']}" + (f" gamma={record['gamma']:g}" if record["gamma"] > 0 else "")
    return record["model"], record["data_set"], method


def _row(key: Key, records: list[dict[str, Any]]) -> list[str]:
    records = sorted(records, key=lambda record: int(record["seed"]))
    accuracy, macro_f1 = ([100 * record[name] for record in records] for name in ("accuracy", "macro_f1"))
    paper = PAPER.get(key)
    best = [record["optimistic"] for record in records if record.get("optimistic")]
    return [
        *key,
        str(len(records)),
        _spread(accuracy),
        _spread(macro_f1),
        f"{paper[0]:.2f} / {paper[1]:.2f}" if paper else "",
        f"{statistics.mean(accuracy) - paper[0]:+.2f} / {statistics.mean(macro_f1) - paper[1]:+.2f}" if paper else "",
        " / ".join(f"{100 * statistics.mean(column):.2f}" for column in zip(*best, strict=True)) if best else "",
        ", ".join(str(record["epochs"]) for record in records),
    ]


def _spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values) if len(values) > 1 else 0:.2f}"


if __name__ == "__main__":
    main()
