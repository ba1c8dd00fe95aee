"""Means over seeds of what `benchmarks/method.py` and `benchmarks/accuracy.py` wrote, as a Markdown table.

python benchmarks/summary.py F.jsonl
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

Key = tuple[str, ...]


def main() -> None:
    """Print the table."""
    groups: dict[Key, list[dict[str, Any]]] = {}
    for line in Path(sys.argv[1]).read_text().splitlines():
        record = json.loads(line)
        groups.setdefault(_key(record), []).append(record)
    print("| model | data | method | seeds | accuracy | macro-F1 | epochs |\n|---|---|---|---|---|---|---|")
    for key, records in sorted(groups.items()):
        cells = [*key, str(len(records)), _spread(records, "accuracy"), _spread(records, "macro_f1")]
        epochs = ", ".join(str(record["epochs"]) for record in records)
        print("| " + " | ".join([*cells, epochs]) + " |")


def _key(record: dict[str, Any]) -> Key:
    if "variant" not in record:
        return record["model"], record["data_set"], " ".join(filter(None, (record["method"], record["name"])))
    method = record["variant"]
    if method != "base":
        method += f" K={record['rounds']}" + (f" gamma={record['gamma']:g}" if record["gamma"] else "")
    return record["model"], record["data_set"], method


def _spread(records: list[dict[str, Any]], name: str) -> str:
    values = [100 * record[name] for record in records]
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values) if len(values) > 1 else 0:.2f}"


if __name__ == "__main__":
    main()
