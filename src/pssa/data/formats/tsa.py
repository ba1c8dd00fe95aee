"""JSON of targeted sentiment analysis, as in YASO and TSA-MD: a list of texts with their targets. Read only.

    [{"text": "Actually a lousy hotel.",
      "targets": [{"text": "hotel", "location": {"begin": 17, "end": 22}, "sentiment": "negative"}]}]

`mixed` is read as `conflict`; other keys are ignored. A line is the number of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pssa.data.fields import CONFLICT
from pssa.data.json_objects import read_objects
from pssa.data.rows import Dropped, Event, Problem, Row
from pssa.data.text_file import open_text
from pssa.data.validation import shorten

LISTS_ALL_ASPECTS = True

_HEAD = 1 << 16  # bytes that tell whether a file is one of these
_TEXT = re.compile(rb'"targets"\s*:\s*\[')
_EXPECTED = "expected an object with `text` and `targets`, a list of objects with `text`, `location` and `sentiment`"


def claims(path: Path) -> bool:
    """Whether a file in `.json` is a list of texts with targets."""
    if not path.name.lower().removesuffix(".gz").endswith(".json") or not path.is_file() or not path.stat().st_size:
        return False
    with open_text(path) as stream:
        head = stream.read(_HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"[") and _TEXT.search(head) is not None


def scan(path: Path) -> Iterator[Event]:
    """Yield a row for each target of a text."""
    for number, given in enumerate(read_objects(path), start=1):
        if isinstance(given, Problem):
            yield given
            continue
        text, targets = given.get("text"), given.get("targets")
        if not isinstance(text, str) or not isinstance(targets, list):
            yield Problem(number, f"is {shorten(given)}; {_EXPECTED}", given=str(text))
            continue
        if not targets:
            yield Dropped(number, "no_aspect", text)
        for place, target in enumerate(targets):
            location = target.get("location") if isinstance(target, Mapping) else None
            if not isinstance(location, Mapping):
                yield Problem(number, f"has the target {shorten(target)}; {_EXPECTED}", given=text)
                continue
            yield Row(number, _fields(text, target, location) | {"id": f"{number}:{place}"})


def _fields(text: str, target: Mapping[str, Any], location: Mapping[str, Any]) -> dict[str, Any]:
    label = target.get("sentiment")
    return {
        "text": text,
        "aspect": target.get("text"),
        "from": location.get("begin"),
        "to": location.get("end"),
        "label": CONFLICT if label == "mixed" else label,
    }
