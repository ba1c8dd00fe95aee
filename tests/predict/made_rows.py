"""Rows to score, and files of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_rows(path: Path) -> list[Any]:
    """What is in one."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def sentences(count: int) -> list[dict[str, Any]]:
    """Rows of different lengths, so that batches of like length would give themselves away."""
    texts = [f"{'so ' * (7 * number % 11)}the screen number {number} is huge" for number in range(count)]
    return [{"key": number, "text": text, "aspect": "screen"} for number, text in enumerate(texts)]
