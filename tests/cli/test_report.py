"""`pssa report`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command
from tests.report.documents import parse, refuse_outside

from pssa.data import embedded
from pssa.progress import StepProgress


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "test.jsonl"
    embedded.load("test").select(range(12)).write(path)
    return path


def test_a_page_is_written_and_its_place_is_said(command: Command, run: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    result = command("report", run, "--data", data, "--limit", "7", "--out", out)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{out}: ")
    page = out.read_text("utf-8")
    refuse_outside(page)
    anchors = [section.attributes["id"] for section in parse(page).all("section")]
    assert anchors == ["summary", "run", "scores", "confidence", "training", "stress", "faithfulness", "card"]
    assert "7 instances of the test data, drawn at random" in page


def test_an_existing_page_is_kept_unless_force_is_used(command: Command, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text("older")
    assert f"{out} exists; choose another name" in command("report", run, "--out", out).refusal
    assert out.read_text() == "older"
    found = command("report", run, "--out", out, "--force", "--json").json
    assert found == {"report": str(out), "bytes": out.stat().st_size}
    assert out.read_text().startswith("<!DOCTYPE html>")


def test_a_long_step_is_named_with_its_time() -> None:
    with StepProgress("report") as step:
        assert step.describe() == "report: starting, 0:00:00 elapsed"
        step("scoring")
        assert step.describe() == "report: scoring, 0:00:00 elapsed"
