"""JSON of targeted sentiment analysis, as in YASO and TSA-MD: a list of texts with their targets. Read only.

    [{"text": "Actually a lousy hotel.",
      "targets": [{"text": "hotel", "location": {"begin": 17, "end": 22}, "sentiment": "negative"}]}]

`mixed` is read as `conflict`; other keys are ignored. A line is the number of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pssa.data.formats import Format, read_objects
from pssa.data.labels import CONFLICT
from pssa.data.rows import SAME_NAMES, Columns, Dropped, Event, Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.validation import shorten

_EXPECTED = "expected an object with `text` and `targets`, a list of objects with `text`, `location` and `sentiment`"


def scan(file: InputFile, columns: Columns = SAME_NAMES) -> Iterator[Event]:
    """Yield a row for each target of a text."""
    for number, given in enumerate(read_objects(file), start=1):
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
            label = target.get("sentiment")
            fields = {
                "id": f"{number}:{place}",
                "text": text,
                "aspect": target.get("text"),
                "from": location.get("begin"),
                "to": location.get("end"),
                "label": CONFLICT if label == "mixed" else label,
            }
            yield Row(number, fields)


FORMAT = Format(
    scan=scan,
    lists_all_aspects=True,
    list_mark=re.compile(rb'"targets"\s*:\s*\['),
)
