"""What a job may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.bulk import Job, Summary
from pssa.errors import InputError

RUN = Path("run")


def test_rejected_rows_lie_beside_the_output_unless_said_otherwise() -> None:
    assert Job(RUN, ("in.jsonl",), "a/out.csv").side == Path("a/out.csv.rejected.jsonl")
    assert Job(RUN, ("in.jsonl",), "a/out.csv", rejected="bad.jsonl").side == Path("bad.jsonl")


@pytest.mark.parametrize(
    ("output", "options", "what"),
    [
        ("out.csv", {"errors": "ignore"}, "errors is 'ignore'; it can be fail or skip"),
        ("out.csv", {"begin": "Resume"}, "begin is 'Resume'; it can be new, resume, replace"),
        ("-", {"begin": "resume"}, "what went to standard output cannot be gone on with"),
        ("-", {"errors": "skip"}, "name one with .*--rejected"),
    ],
)
def test_what_cannot_be_is_refused(output: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        Job(RUN, ("in.jsonl",), output, **options)


def test_the_summary_has_plain_values() -> None:
    assert Summary(2, {"positive": 2}, 1, 3).as_dict() == {
        "rows": 2,
        "labels": {"positive": 2},
        "ambiguous": 1,
        "rejected": 3,
    }
