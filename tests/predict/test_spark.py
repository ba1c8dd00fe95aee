"""The recipe for Spark in the manual, carried out by a Spark on this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.predict.made_rows import sentences, write_rows

import pssa

MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "score-many-rows.md"


def recipe(run: Path) -> str:
    (code,) = (
        block for block in re.findall(r"```python\n(.*?)```", MANUAL.read_text(), re.DOTALL) if "mapInPandas" in block
    )
    changed = str(code).replace('"runs/reviews"', repr(str(run)))
    return changed.replace(".getOrCreate()", '.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()')


def words(text: str) -> list[list[int]]:
    """As pssa's own JSON Lines have them."""
    return [list(match.span()) for match in re.finditer(r"\w+", text)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs java")
def test_spark_labels_rows_as_the_classifier_does(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    known = [{**row, "label": "neutral", "words": words(row["text"]), "tags": ["hard"]} for row in sentences(25)]
    write_rows(tmp_path / "reviews.jsonl", known)
    (tmp_path / "recipe.py").write_text(recipe(run))
    done = subprocess.run([sys.executable, "recipe.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = sorted(parquet.read_table(tmp_path / "labelled").to_pylist(), key=lambda row: row["key"])
    classifier = pssa.load(run)
    assert [(row["key"], row["label"]) for row in rows] == [(number, "neutral") for number in range(25)]
    for row in rows:
        answer = classifier.predict(row["text"], row["aspect"])
        assert row["predicted"] == answer.label
        assert {name: row[name] for name in classifier.labels} == pytest.approx(answer.probabilities, abs=1e-6)
