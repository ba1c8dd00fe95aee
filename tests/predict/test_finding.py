"""Scoring rows that have text alone: a row for each aspect found, beside rows that have an aspect; every format; resuming."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import pytest
from tests.predict.made_jobs import Stopping
from tests.predict.made_rows import read_rows, write_rows

import pssa
from pssa.errors import InputError
from pssa.predict import FindingOptions, Job, LocalEngine, ProcessEngine, Scoring, predict
from pssa.runs.run_names import starter_run

REVIEW = "We came in May. The Screen is great!  I hate the front desk, and the screen."
NAMES = FindingOptions(names=("screen", "front desk"))
ROWS: list[dict[str, Any]] = [
    {"key": 0, "text": REVIEW, "label": "positive"},
    {"key": 1, "text": "Nothing here."},
    {"key": 2, "text": "A loud fan.", "aspect": "fan"},
    {"key": 3, "text": ""},
    {"key": 4, "text": None},
    {"key": 5, "text": "Bad screen.", "aspect": None, "from": None, "to": ""},
]


def job_of(run: Path, folder: Path, rows: list[dict[str, Any]], suffix: str = "jsonl", **more: Any) -> Job:
    source = write_rows(folder / "raw.jsonl", rows)
    settings: dict[str, Any] = {"finding": NAMES, "scoring": Scoring(device="cpu"), **more}
    return Job(run, (str(source),), str(folder / f"out.{suffix}"), **settings)


def test_a_row_for_each_aspect_with_the_columns_of_its_review(run: Path, tmp_path: Path) -> None:
    summary = predict(job_of(run, tmp_path, ROWS), LocalEngine())
    found = read_rows(tmp_path / "out.jsonl")
    assert [(row["key"], row["aspect"], row["from"], row["to"]) for row in found] == [
        (0, "Screen", 20, 26),
        (0, "front desk", 49, 59),
        (0, "screen", 69, 75),
        (2, "fan", 7, 10),
        (5, "screen", 4, 10),
    ]
    assert list(found[0]) == ["key", "text", "gold", "aspect", "from", "to", "label", "probabilities", "notes"]
    assert (summary.rows, summary.texts, summary.empty, summary.rejected) == (5, 5, 3, 0)
    assert sum(summary.labels.values()) == 5


def test_found_aspects_go_to_the_columns_that_the_caller_names(run: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"review": "The screen.", "term": None}, {"review": "A fan.", "term": "fan"}]
    predict(job_of(run, tmp_path, rows, columns={"text": "review", "aspect": "term"}), LocalEngine())
    assert [(row["term"], row["to"]) for row in read_rows(tmp_path / "out.jsonl")] == [("screen", 10), ("fan", 5)]
    assert "aspect" not in read_rows(tmp_path / "out.jsonl")[0]


def test_an_aspect_is_judged_in_its_sentence_and_explained_in_its_review(run: Path, tmp_path: Path) -> None:
    scoring = Scoring(device="cpu", saliency="attention")
    predict(job_of(run, tmp_path, ROWS[:1], scoring=scoring), LocalEngine())
    alone = [{"text": "The Screen is great!", "aspect": "Screen"}]
    single = tmp_path / "single"
    single.mkdir()
    predict(job_of(run, single, alone, scoring=scoring, finding=FindingOptions()), LocalEngine())
    review, sentence = read_rows(tmp_path / "out.jsonl")[0], read_rows(single / "out.jsonl")[0]
    assert review["probabilities"] == pytest.approx(sentence["probabilities"])
    words = review["explanation"]["words"]
    assert [word["word"] for word in words] == ["The", "Screen", "is", "great", "!"]
    assert all(REVIEW[word["from"] : word["to"]] == word["word"] for word in words)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl.gz"])
def test_every_format_holds_found_given_and_empty_rows(run: Path, tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    keeping = FindingOptions(names=NAMES.names, keep_empty=True)
    # Texts without aspects first: their types are not known yet.
    rows = [{"key": row["key"], "text": row["text"], "aspect": row.get("aspect")} for row in ROWS[1:2] * 3 + ROWS]
    summary = predict(job_of(run, tmp_path, rows, suffix, finding=keeping), LocalEngine())
    assert (summary.rows, summary.empty, sum(summary.labels.values())) == (11, 6, 5)
    out = tmp_path / f"out.{suffix}"
    if suffix == "csv":
        with out.open(newline="") as file:
            found = list(csv.DictReader(file))
        assert list(found[0])[:6] == ["key", "text", "aspect", "from", "to", "label"]
    elif suffix == "parquet":
        import pyarrow.parquet

        found = pyarrow.parquet.read_table(out).to_pylist()
    else:
        import gzip

        found = [json.loads(line) for line in gzip.decompress(out.read_bytes()).splitlines()]
    aspects = ["", "", "", "Screen", "front desk", "screen", "", "fan", "", "", "screen"]
    assert [row["aspect"] or "" for row in found] == aspects
    assert [bool(row["label"]) for row in found] == [bool(row["aspect"]) for row in found]


def test_a_column_for_aspects_may_be_missing_or_in_other_spelling(run: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('Review,Aspect\n"The screen. A fan.",\n"The screen. A fan.",fan\n', "utf-8")
    job = Job(run, (str(tmp_path / "in.csv"),), str(tmp_path / "out.csv"), columns="text=Review", finding=NAMES)
    predict(job, LocalEngine())
    with (tmp_path / "out.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [(row["aspect"], row["from"]) for row in found] == [("screen", "4"), ("fan", "14")]
    assert list(found[0])[:4] == ["Review", "aspect", "from", "to"]


@pytest.mark.usefixtures("small_windows")
def test_a_stopped_job_is_resumed_to_the_same_bytes_and_not_with_other_names(run: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    summary = predict(job_of(run, whole, ROWS * 3), LocalEngine())
    job = job_of(run, tmp_path, ROWS * 3)
    with pytest.raises(KeyboardInterrupt):
        predict(job, Stopping(3, KeyboardInterrupt()))
    with pytest.raises(InputError, match="aspects"):
        predict(replace(job, begin="resume", finding=FindingOptions(names=("fan",))), LocalEngine())
    assert predict(replace(job, begin="resume"), LocalEngine()) == summary
    assert (tmp_path / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()


def test_the_starter_finds_aspects_for_a_run_that_cannot(run: Path, tmp_path: Path) -> None:
    texts = [{"text": "The soup was cold."}, {"text": "Nothing."}]
    with pytest.warns(UserWarning, match="starter finds them") as told:
        predict(job_of(run, tmp_path, texts, finding=FindingOptions(keep_empty=True)), LocalEngine())
    assert len(told) == 1
    first, *rest = read_rows(tmp_path / "out.jsonl")
    assert (first["aspect"], first["from"], first["to"]) == ("soup", 4, 8)
    assert [row["label"] for row in rest] == [None]
    named = [{"text": "The soup was cold.", "aspect": "soup"}]
    predict(job_of(run, tmp_path, named, finding=FindingOptions(), begin="replace"), LocalEngine())
    assert "from" not in read_rows(tmp_path / "out.jsonl")[0]


def test_rows_without_aspects_and_no_way_to_find_them_are_refused_with_all_ways(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pssa.predict.job.has_starter", lambda: False)
    (tmp_path / "in.csv").write_text("text\nThe screen.\n", "utf-8")
    for source in (str(tmp_path / "in.csv"), str(write_rows(tmp_path / "in.jsonl", [{"text": "The screen."}]))):
        with pytest.raises(InputError, match=r"aspects_from='?DIR.*aspects_from='?starter.*aspects="):
            predict(Job(run, (source,), str(tmp_path / "out.jsonl")), LocalEngine())
    with pytest.raises(InputError, match="keep_empty"):
        predict(job_of(run, tmp_path, ROWS, finding=FindingOptions(keep_empty=True)), LocalEngine())
    assert not (tmp_path / "out.jsonl").exists()


def test_texts_that_cannot_be_used_are_rejected_once(run: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"text": "The screen."},
        {"title": "x"},
        {"text": 3},
        {"text": "screen " * 1001},
        {"text": "The screen. The screen.", "more": 1},
        {"text": "x" * 100_001},
        {"text": "A fan", "aspect": "screen"},
    ]
    summary = predict(job_of(run, tmp_path, rows, "csv", errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected) == (1, 6)
    assert [row["line"] for row in read_rows(tmp_path / "out.csv.rejected.jsonl")] == [2, 3, 4, 5, 6, 7]


@pytest.mark.slow
def test_worker_processes_find_and_score_the_same(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    predict(job_of(run, tmp_path, ROWS), LocalEngine())
    predict(job_of(run, other, ROWS), ProcessEngine(2))
    assert (other / "out.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.parametrize("keep_empty", [False, True])
def test_texts_without_aspects_are_noted_if_unlike_the_training(run: Path, tmp_path: Path, keep_empty: bool) -> None:
    rows = [{"text": "とても美味しかった"}, {"text": "Good screen."}]
    finding = FindingOptions(names=NAMES.names, keep_empty=keep_empty)
    summary = predict(job_of(run, tmp_path, rows, finding=finding), LocalEngine())
    assert summary.notes["script unseen in training"] == 1
    notes = [row["notes"] for row in read_rows(tmp_path / "out.jsonl") if row["aspect"] is None]
    assert notes == (["script unseen in training (Hiragana)"] if keep_empty else [])


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_found_aspects_have_the_score_of_a_joint_model(tmp_path: Path, suffix: str) -> None:
    rows = [{"text": "The soup was cold."}, {"text": "The soup was cold.", "aspect": "soup"}]
    (answer,) = pssa.load("starter").predict(rows[0]["text"])
    predict(job_of(starter_run(), tmp_path, rows, suffix, finding=FindingOptions()), LocalEngine())
    read = {"jsonl": partial(pandas.read_json, lines=True), "csv": pandas.read_csv, "parquet": pandas.read_parquet}
    scores = read[suffix](tmp_path / f"out.{suffix}")["score"].tolist()
    assert scores == pytest.approx([answer.score, math.nan], nan_ok=True)


def test_a_score_of_the_input_stays_and_that_of_an_earlier_scoring_is_replaced(tmp_path: Path) -> None:
    own = [{"text": "The soup was cold.", "score": 2}]
    job = job_of(starter_run(), tmp_path, own, finding=FindingOptions())
    predict(job, LocalEngine())
    (row,) = read_rows(tmp_path / "out.jsonl")
    assert (row["score"], 0 < row["pssa_score"] < 1) == (2, True)
    frame = pandas.DataFrame([{"text": "The soup was cold."}])
    table = pssa.load("starter").predict(frame)
    again = pssa.load("starter").predict(table.drop(columns=["aspect", "from", "to"]))
    assert list(again["score"]) == list(table["score"]) == [row["pssa_score"]]
    assert "pssa_score" not in again
