"""What decides about a job's output."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.made_rows import sentences, write_rows

from pssa.bulk import Job, Scoring
from pssa.bulk.asked import asked_of, run_digest
from pssa.bulk.journal import difference
from pssa.bulk.source import find_sources
from pssa.bulk.window import Reading


def asked(job: Job) -> dict[str, Any]:
    found = asked_of(job, Reading(find_sources(job.inputs, job.format), 10))
    assert json.loads(json.dumps(found)) == found
    return found


@pytest.fixture
def job(run: Path, tmp_path: Path) -> Job:
    for name in ("a", "b"):
        write_rows(tmp_path / f"{name}.jsonl", sentences(3))
    return Job(run, (str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")), str(tmp_path / "out.csv"))


def test_nothing_has_changed_where_nothing_was_changed(job: Job) -> None:
    assert difference(asked(job), asked(job)) == ""
    assert difference(asked(job), asked(replace(job, errors="skip", begin="resume"))) == ""
    assert difference(asked(job), asked(replace(job, scoring=Scoring(batch_size=3)))) == ""
    assert difference(asked(job), asked(replace(job, columns={}))) == ""


def test_the_order_of_columns_and_in_csv_their_case_do_not_matter(job: Job) -> None:
    named, turned = replace(job, columns="text=A,aspect=B"), replace(job, columns={"aspect": "B", "text": "A"})
    assert difference(asked(named), asked(turned)) == ""
    lower = replace(job, columns="text=a,aspect=b")
    assert difference(asked(named), asked(lower)).startswith("`columns` (--columns) is not what it was")
    assert difference(asked(replace(named, format="csv")), asked(replace(lower, format="csv"))) == ""


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"scoring": Scoring(saliency="")}, "`saliency` (--explain)"),
        ({"scoring": Scoring(device="cuda")}, "`device` (--device)"),
        ({"scoring": Scoring(precision="bfloat16")}, "`precision` (--precision)"),
        ({"scoring": Scoring(runtime="onnx")}, "`runtime` (--runtime)"),
        ({"output_format": "json_lines"}, "the output's format"),
        ({"rejected": "elsewhere"}, "the file of rejected rows"),
        ({"format": "csv"}, "the format of {folder}/a.jsonl"),
        ({"columns": {"text": "review"}}, "`columns` (--columns)"),
    ],
)
def test_every_option_that_matters_is_named(job: Job, change: dict[str, Any], name: str, tmp_path: Path) -> None:
    now = difference(asked(job), asked(replace(job, **change)))
    assert now.startswith(f"{name.format(folder=tmp_path)} is not what it was")


def test_inputs_are_known_by_name_order_size_and_time(job: Job, tmp_path: Path) -> None:
    before = asked(job)
    assert difference(before, asked(replace(job, inputs=job.inputs[::-1]))).startswith("the order of the inputs")
    assert "b.jsonl is not what it was" in difference(before, asked(replace(job, inputs=job.inputs[:1])))
    os.utime(job.inputs[1], ns=(1, 1))
    assert difference(before, asked(job)).startswith(f"the time of {job.inputs[1]}")
    write_rows(tmp_path / "b.jsonl", sentences(4))
    assert difference(before, asked(job)).startswith(f"the size of {job.inputs[1]}")


def test_a_run_is_known_by_what_is_in_its_files(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    assert run_digest(copy) == run_digest(run)
    (copy / "README.md").write_text("changed")
    assert run_digest(copy) == run_digest(run)
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    assert run_digest(copy) != run_digest(run)


def test_a_run_that_is_not_finished_is_known_by_its_checkpoints(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "model.safetensors").unlink()
    before = run_digest(copy)
    (copy / "stages" / "final").mkdir(exist_ok=True)
    (copy / "stages" / "final" / "checkpoint.safetensors").write_bytes(b"weights")
    assert run_digest(copy) != before
