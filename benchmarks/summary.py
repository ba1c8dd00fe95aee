"""Means over seeds of what the benchmarks of methods wrote, beside the paper's rows, as a Markdown page.

    python benchmarks/summary.py --title T --note N --data DIR results/raw/F.jsonl ... > results/F.md

`gain` is the mean difference to the baseline of the same seeds; with `--data`, * stands for p < .05 and ** for p < .01 by paired
bootstrap over all seeds (1,000 resamples, one-sided).
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from paper_rows import PAPER

from pssa.data import read
from pssa.data.example import DEFAULT_LABELS
from pssa.evaluation import paired_bootstrap

Key = tuple[str, str, str]
Seeds = dict[int, dict[str, Any]]  # records of one key, by seed
METRICS = ("accuracy", "macro_f1")

BASE = "base"
COLUMNS = (
    "model",
    "data",
    "method",
    "seeds",
    "accuracy",
    "macro-F1",
    "gain",
    "paper",
    "to the paper",
    "best epoch on test",
    "epochs",
)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--title", default="Results")
    parser.add_argument("--note", action="append", default=[], help="a paragraph below the title")
    parser.add_argument("--data", type=Path, help="folder of the data sets, for significance")
    arguments = parser.parse_args()
    groups: dict[Key, Seeds] = {}
    for path in arguments.files:
        for line in path.read_text().splitlines():
            record = json.loads(line)
            groups.setdefault(_key(record), {})[record["seed"]] = record
    print(f"# {arguments.title}\n")
    for note in arguments.note:
        print(note + "\n")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for key, seeds in sorted(groups.items()):
        base = groups.get((*key[:2], BASE), {}) if key[2] != BASE else {}
        print("| " + " | ".join(_row(key, seeds, _gain(key[1], seeds, base, arguments.data))) + " |")
    _print_agreement(groups)


def _print_agreement(groups: dict[Key, Seeds]) -> None:
    """How many of the words that were mined as active, in examples where people marked words, are words that people marked."""
    rows = []
    for (model, data_set, method), seeds in sorted(groups.items()):
        counts = [record["agreement"] for record in seeds.values() if record.get("agreement")]
        if counts and not method.startswith("human"):
            rounds = sorted({number for count in counts for number in count}, key=int)
            shares = [_share([count[number] for count in counts if number in count]) for number in rounds]
            rows.append(f"| {model} | {data_set} | {method} | {', '.join(shares)} |")
    if rows:
        print("\nActive words that are human opinion words, in % by round:\n\n| model | data | method | rounds |")
        print("\n".join(["|---|---|---|---|", *rows]))


def _share(counts: list[list[int]]) -> str:
    return f"{100 * sum(count[2] for count in counts) / max(1, sum(count[1] for count in counts)):.0f}"


def _gain(data_set: str, seeds: Seeds, base: Seeds, data: Path | None) -> str:
    """Mean difference to the baseline of the same seeds, accuracy / macro-F1, with stars where it is significant."""
    common = sorted(set(seeds) & set(base))
    if not common:
        return ""
    gains = [100 * statistics.mean(seeds[seed][name] - base[seed][name] for seed in common) for name in METRICS]
    stars = ["", ""]
    if data is not None:
        gold = [example.label or "" for example in read(data / data_set / "test.txt")]
        ours, theirs = ([_labels(part[seed]["predicted"]) for seed in common] for part in (seeds, base))
        result = paired_bootstrap(gold, ours, theirs, DEFAULT_LABELS)
        stars = ["**" if p < 0.01 else "*" if p < 0.05 else "" for p in (result.p_accuracy, result.p_macro_f1)]
    return " / ".join(f"{gain:+.2f}{star}" for gain, star in zip(gains, stars, strict=True))


def _labels(predicted: str) -> list[str]:
    """Labels from their first three letters, written without a break."""
    known = {label[:3]: label for label in DEFAULT_LABELS}
    return [known[predicted[place : place + 3]] for place in range(0, len(predicted), 3)]


def _key(record: dict[str, Any]) -> Key:
    method: str = record["variant"]
    if method != BASE:
        method += f" K={record['rounds']}" + (f" gamma={record['gamma']:g}" if record["gamma"] > 0 else "")
    return record["model"], record["data_set"], method


def _row(key: Key, seeds: Seeds, gain: str) -> list[str]:
    records = [seeds[seed] for seed in sorted(seeds)]
    accuracy, macro_f1 = ([100 * record[name] for record in records] for name in METRICS)
    paper = PAPER.get(key)
    best = [record["optimistic"] for record in records if record.get("optimistic")]
    return [
        *key,
        str(len(records)),
        _spread(accuracy),
        _spread(macro_f1),
        gain,
        f"{paper[0]:.2f} / {paper[1]:.2f}" if paper else "",
        f"{statistics.mean(accuracy) - paper[0]:+.2f} / {statistics.mean(macro_f1) - paper[1]:+.2f}" if paper else "",
        " / ".join(f"{100 * statistics.mean(column):.2f}" for column in zip(*best, strict=True)) if best else "",
        ", ".join(str(record["epochs"]) for record in records),
    ]


def _spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values) if len(values) > 1 else 0:.2f}"


if __name__ == "__main__":
    main()
