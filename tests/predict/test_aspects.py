"""Finding aspects in files: rows in any format, resuming after a kill, and hostile rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.aspects.made_taggers import toy_tagger
from tests.predict.made_rows import read_rows, write_rows

from pssa.errors import InputError, PssaWarning
from pssa.predict import Job, Progress, find_aspects

REVIEW = "I bought it in May. The screen is great! I hate the front desk!"


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained toy tagger."""
    return toy_tagger(tmp_path_factory.mktemp("taggers") / "toy")


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    return str(write_rows(path, rows))


@pytest.mark.slow
def test_a_row_for_each_aspect_with_the_columns_of_its_text(tagger: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 7, "text": REVIEW},
        {"id": 8, "text": ""},
        {"id": 9, "text": None},
        {"id": 10, "text": "Their 😀 wifi was slow"},
    ]
    summary = find_aspects(Job(tagger, (lines(tmp_path / "in.jsonl", rows),), str(tmp_path / "out.jsonl")))
    found = read_rows(tmp_path / "out.jsonl")
    assert [(row["id"], row["aspect"]) for row in found][:2] == [(7, "screen"), (7, "front desk")]
    assert all(row["text"][row["from"] : row["to"]] == row["aspect"] for row in found)
    assert (summary.texts, summary.rows, summary.rejected) == (4, len(found), 0)
    assert summary.empty >= 2


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_of_texts_alone_can_be_read_and_written(tagger: Path, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "in.csv").write_text(f'stars,review\n5,"{REVIEW}"\n1,Never again!\n', "utf-8")
    out = tmp_path / f"out.{suffix}"
    summary = find_aspects(Job(tagger, (str(tmp_path / "in.csv"),), str(out), columns="text=review"))
    assert (summary.texts, summary.rows, summary.empty) == (2, 2, 1)
    if suffix == "csv":
        with out.open(newline="") as file:
            found = list(csv.DictReader(file))
    else:
        pyarrow = pytest.importorskip("pyarrow.parquet")
        found = pyarrow.read_table(out).to_pylist()
    assert [*found[0]] == ["stars", "review", "aspect", "from", "to"]
    assert [(row["stars"], row["aspect"], int(row["from"]), int(row["to"])) for row in found] == [
        ("5", "screen", 24, 30),
        ("5", "front desk", 52, 62),
    ]


class Stopped(Exception):
    """Stands in for a kill."""


def test_a_stopped_job_resumes_to_its_output_and_with_its_tagger_only(
    tagger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pssa.predict.job._TAGGER_ROWS", 3)
    source = lines(tmp_path / "in.jsonl", [{"n": n, "text": REVIEW if n % 2 else "Never again!"} for n in range(20)])
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    summary = find_aspects(Job(tagger, (source,), str(whole)))

    def stop(progress: Progress) -> None:
        if progress.rows > 8:
            raise Stopped

    with pytest.raises(Stopped):
        find_aspects(Job(tagger, (source,), str(out)), stop)
    assert not out.exists()
    with pytest.raises(InputError, match="resume"):
        find_aspects(Job(tagger, (source,), str(out)))
    with pytest.raises(InputError, match="run"):
        find_aspects(Job(toy_tagger(tmp_path / "other", epochs=1), (source,), str(out), begin="resume"))
    assert find_aspects(Job(tagger, (source,), str(out), begin="resume")) == summary
    assert out.read_bytes() == whole.read_bytes()
    assert (summary.texts, summary.empty, summary.rows) == (20, 10, 20)


def test_rows_that_cannot_be_used_stop_a_job_or_are_skipped(tagger: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"text": "The screen is great."},
        {"title": "no text"},
        {"text": 3},
        {"text": "x" * 100_001},
    ]
    source, out = lines(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    with pytest.raises(InputError, match=r"line 2.*text"):
        find_aspects(Job(tagger, (source,), str(out)))
    summary = find_aspects(Job(tagger, (source,), str(out), errors="skip"))
    assert (summary.rows, summary.rejected) == (1, 3)
    assert [row["line"] for row in read_rows(tmp_path / "out.jsonl.rejected.jsonl")] == [2, 3, 4]


def test_an_input_without_aspects_gives_an_empty_output_and_a_warning(tagger: Path, tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", [{"text": "Never again!"}])
    with pytest.warns(PssaWarning, match="no aspect"):
        summary = find_aspects(Job(tagger, (source,), str(tmp_path / "out.jsonl")))
    assert (summary.texts, summary.empty, summary.rows) == (1, 1, 0)
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_a_directory_that_is_no_tagger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tagger"):
        find_aspects(Job(tmp_path, (lines(tmp_path / "in.jsonl", [{"text": "a"}]),), str(tmp_path / "out.jsonl")))
