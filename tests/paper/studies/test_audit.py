"""The audit: an independent reader of the ledger finds the numbers of the pages, and would notice others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.paper.studies.audit import Audit, Row
from tests.paper.studies.audit_tables import audit_table

from paper.studies.exhibits import page_of

RESULTS = Path(__file__).parents[3] / "results"
# Tables without figures of a test set, or with sums of the figures of others.
ELSEWHERE = ("strip-bug-damage", "transfer-attention", "transfer-faithfulness")
FIGURES = (
    "selection-best-of",
    "readings-epochs",
    *(f"corpus-size-{model}" for model in ("memnet", "tnet_att", "bertabsa_att")),
)
UNTESTED = (*ELSEWHERE, *FIGURES, "stress-gains", "stress-judged", "selection-looks", "claims-rounds", "claims-counts")
AUDITED = (
    "overall",
    "random-masking",
    "self-attention",
    "corpus-size",
    "strip-bug",
    "transfer",
    "stress",
    "selection",
    "claims",
    "readings",
)


def section_of(exhibit: str) -> str:
    """What the pages say of an exhibit."""
    page = (RESULTS / f"{page_of(exhibit)[0]}.md").read_text("utf-8")
    _, found, after = page.partition(f"<!-- begin exhibit {exhibit} -->\n")
    assert found, exhibit
    return after.partition(f"<!-- end exhibit {exhibit} -->")[0]


def fingerprints(exhibit: str) -> dict[str, str]:
    """The vectors and encoders that an exhibit names."""
    return dict(re.findall(r"(vectors|small encoder|encoder) `([0-9a-f]{16})`", section_of(exhibit)))


def audit_of(exhibit: str, data: Path) -> Audit:
    """An audit with the files that the exhibit names."""
    files = fingerprints(exhibit)
    encoders = tuple(files[name] for name in ("encoder", "small encoder") if name in files)
    return Audit(RESULTS, data, files.get("vectors", ""), encoders, "small encoder" in files)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("exhibit", AUDITED)
def test_an_independent_reader_finds_the_numbers_of_the_exhibit(exhibit: str, shared_data: Path) -> None:
    audit = audit_of(exhibit, shared_data)
    tables = json.loads((RESULTS / exhibit / "tables.json").read_text("utf-8"))["tables"]
    unknown = [table["name"] for table in tables if not audit_table(audit, table)]
    assert set(unknown) <= set(UNTESTED)
    assert audit.wrong == []
    assert audit.checked > 20


def tiny_audit(folder: Path) -> Audit:
    """Two seeds of a plain and of a supervised model, on three instances."""
    for name in ("laptop", "rest", "twitter"):
        (folder / name).mkdir()
        (folder / name / "test.txt").write_text("a b/p c\nd/n e\nf g/0\n")
    lines = []
    for seed in (0, 1):
        place = {"data": "laptop", "model": "memnet", "seed": seed}
        mined = {"evidence": [{"place": place, "method": "pg-as"}]}
        for more, predicted in (({}, "000"), (mined, "012")):
            cell = {"kind": "training", "place": place, **more}
            record = {"cell": cell, "files": {"vectors": "v"}, "predicted": predicted}
            lines.append({**record, "labels": ["positive", "negative", "neutral"], "curve": []})
    (folder / "cells.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return Audit(folder, folder, "v", ())


def shown(accuracy: float) -> dict[str, object]:
    # The plain model is right about one of three instances: F1 is 1/2, 0 and 0. All are in the other.
    gain = {"accuracy": 100 * 2 / 3, "macro-F1": 100 * 5 / 6, "p accuracy": 0.037, "p macro-F1": 0.037, "seeds": 2}
    mean = {"mean": accuracy, "spread": 0.0}
    fields = ["MN (+PG-AS)", 2, mean, {"mean": 100.0, "spread": 0.0}, gain]
    return {"name": "overall-laptop", "columns": ["model", "seeds", "accuracy", "macro-F1", "gain"], "rows": [fields]}


def test_the_audit_agrees_with_numbers_derived_by_hand(tmp_path: Path) -> None:
    audit = tiny_audit(tmp_path)
    assert audit_table(audit, shown(100.0))
    # A resample of three has no gain if it has the first instance alone: 1 of 27.
    assert audit.wrong == []
    assert audit.checked == 8
    assert np.array_equal(audit.gold["laptop"], [0, 1, 2])
    assert audit.runs(Row("memnet", "", "laptop"), 1).keys() == {0}


def test_the_audit_notices_a_wrong_mean_and_a_wrong_p(tmp_path: Path) -> None:
    audit = tiny_audit(tmp_path)
    table = shown(99.9)
    table["rows"][0][4]["p accuracy"] = 0.2  # type: ignore[index]
    assert audit_table(audit, table)
    assert [text.split(":")[0] for text in audit.wrong] == [
        "overall-laptop, MN (+PG-AS)  , accuracy",
        "overall-laptop, MN (+PG-AS)  , gain, p accuracy",
    ]
