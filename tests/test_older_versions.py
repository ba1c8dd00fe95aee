"""Runs and evidence of version 0.1 load, answer as they did, and resume. `tests/fixtures/v0_1` was written by that version."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pssa

FIXTURES = Path(__file__).parent / "fixtures" / "v0_1"
RUNS = FIXTURES / "runs"
EXPECTED = json.loads((RUNS / "expected.json").read_text("utf-8"))
NAMES = tuple(EXPECTED["probabilities"])


def assert_answers(run: Path, name: str) -> None:
    classifier = pssa.load(run, precision="float32")  # some processors score encoders in bfloat16
    for (text, aspect), expected in zip(EXPECTED["texts"], EXPECTED["probabilities"][name], strict=True):
        assert classifier.predict(text, aspect).probabilities == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_answers_as_it_did(name: str) -> None:
    assert_answers(RUNS / name, name)


@pytest.mark.parametrize("name", ["memnet", "tnet_att", "bertabsa_att"])
def test_the_model_before_mining_loads(name: str) -> None:
    assert pssa.load(RUNS / name / "stages" / "initial").labels == ("positive", "negative", "neutral")


@pytest.mark.parametrize("name", ["memnet", "tnet_att", "consensus", "bertabsa_att"])
def test_evidence_is_written_again_byte_for_byte(name: str, tmp_path: Path) -> None:
    old = RUNS / name / "evidence.jsonl"
    pssa.Evidence.read(old).write(tmp_path / "evidence.jsonl")
    assert (tmp_path / "evidence.jsonl").read_bytes() == old.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_is_read_as_it_was_meant(name: str) -> None:
    config = pssa.Config.from_toml(RUNS / name / "config.toml")
    assert config.seed == 3
    assert config.data.dimension == 8
    assert config.mining.iterations == (2 if name in ("memnet", "tnet_att", "bertabsa_att") else 5)


def test_an_unfinished_run_resumes_and_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    run = shutil.copytree(RUNS / "unfinished", tmp_path / "run")
    pssa.resume(run)
    assert_answers(run, "memnet")
    assert (run / "evidence.jsonl").read_bytes() == (RUNS / "memnet" / "evidence.jsonl").read_bytes()


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    run = shutil.copytree(RUNS / "memnet", tmp_path / "run")
    pssa.resume(run)
    for old in (path for path in (RUNS / "memnet").rglob("*") if path.is_file()):
        assert (run / old.relative_to(RUNS / "memnet")).read_bytes() == old.read_bytes()
