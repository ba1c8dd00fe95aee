"""The fingerprint of a job."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_rows import sentences, write_rows

from pssa.errors import for_command_line
from pssa.predict import Job, Scoring
from pssa.predict.fingerprint import find_difference, job_fingerprint, run_digest
from pssa.predict.source import find_sources


def fingerprint(job: Job) -> dict[str, Any]:
    found = job_fingerprint(job, find_sources(job.inputs, job.format))
    assert json.loads(json.dumps(found)) == found
    return found


@pytest.fixture
def job(run: Path, tmp_path: Path) -> Job:
    for name in ("a", "b"):
        write_rows(tmp_path / f"{name}.jsonl", sentences(3))
    return Job(run, (str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")), str(tmp_path / "out.csv"))


def test_nothing_has_changed_where_nothing_was_changed(job: Job) -> None:
    assert find_difference(fingerprint(job), fingerprint(job)) == ""
    assert find_difference(fingerprint(job), fingerprint(replace(job, errors="skip", begin="resume"))) == ""
    assert find_difference(fingerprint(job), fingerprint(replace(job, scoring=Scoring(batch_size=3)))) == ""
    assert find_difference(fingerprint(job), fingerprint(replace(job, columns={}))) == ""


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"scoring": Scoring(saliency="")}, "--explain"),
        ({"scoring": Scoring(device="cuda")}, "--device"),
        ({"scoring": Scoring(precision="bfloat16")}, "--precision"),
        ({"output_format": "json_lines"}, "the output's format"),
        ({"rejected": "elsewhere"}, "the file of rejected rows"),
        ({"format": "csv"}, "the format of {folder}/a.jsonl"),
        ({"columns": {"text": "review"}}, "--columns"),
    ],
)
def test_every_option_that_matters_is_named(job: Job, change: dict[str, Any], name: str, tmp_path: Path) -> None:
    found = find_difference(fingerprint(job), fingerprint(replace(job, **change)))
    assert for_command_line(found).startswith(f"{name.format(folder=tmp_path)} has changed")


def test_the_order_of_columns_and_in_csv_their_case_do_not_matter(job: Job) -> None:
    named, turned = replace(job, columns="text=A,aspect=B"), replace(job, columns={"aspect": "B", "text": "A"})
    assert find_difference(fingerprint(named), fingerprint(turned)) == ""
    lower = replace(job, columns="text=a,aspect=b")
    assert "--columns" in for_command_line(find_difference(fingerprint(named), fingerprint(lower)))
    assert find_difference(fingerprint(replace(named, format="csv")), fingerprint(replace(lower, format="csv"))) == ""


def test_inputs_are_known_by_name_order_size_and_time(job: Job, tmp_path: Path) -> None:
    before = fingerprint(job)
    assert find_difference(before, fingerprint(replace(job, inputs=job.inputs[::-1]))).startswith(
        "the order of the inputs"
    )
    assert "b.jsonl has changed" in find_difference(before, fingerprint(replace(job, inputs=job.inputs[:1])))
    os.utime(job.inputs[1], ns=(1, 1))
    assert find_difference(before, fingerprint(job)).startswith(f"the time of {job.inputs[1]}")
    write_rows(tmp_path / "b.jsonl", sentences(4))
    assert find_difference(before, fingerprint(job)).startswith(f"the size of {job.inputs[1]}")


def test_a_run_is_known_by_its_files_and_one_that_is_not_finished_by_its_checkpoints(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    assert run_digest(copy) == run_digest(run)
    (copy / "README.md").write_text("changed")
    assert run_digest(copy) == run_digest(run)
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    assert run_digest(copy) != run_digest(run)
    (copy / "model.safetensors").unlink()
    before = run_digest(copy)
    (copy / "stages" / "final").mkdir(exist_ok=True)
    (copy / "stages" / "final" / "checkpoint.safetensors").write_bytes(b"weights")
    assert run_digest(copy) != before


def test_what_has_changed_is_named() -> None:
    before = {"the run": "ab", "the inputs": {"input a": {"the size of a": 1}, "input b": {"the size of b": 2}}}
    assert find_difference(before, before) == ""
    found = find_difference(before, before | {"the run": "cd"})
    assert found.startswith("the run has changed since the job began (now 'cd', then 'ab'); ")
    assert for_command_line(found).endswith("--force")
    now = before | {"the inputs": {"input a": {"the size of a": 1}, "input b": {"the size of b": 3}}}
    assert find_difference(before, now).startswith("the size of b has changed since the job began (now 3, then 2)")
    fewer = before | {"the inputs": {"input a": {"the size of a": 1}}}
    assert find_difference(before, fewer).startswith("input b has changed")
    assert find_difference(fewer, before).startswith("input b has changed")
