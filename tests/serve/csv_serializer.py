"""Tells schemathesis how rows are written as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import schemathesis


@schemathesis.serializer("text/csv")  # type: ignore[untyped-decorator]
def write_rows(context: Any, value: Any) -> bytes:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return json.dumps(value).encode()
    columns = list(dict.fromkeys(str(key) for row in value for key in row))
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, columns)
    writer.writeheader()
    writer.writerows(value)
    return target.getvalue().encode("utf-8", "replace")
