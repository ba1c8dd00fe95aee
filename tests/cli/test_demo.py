"""`pssa demo`, with a model that is small enough to wait for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.cli import demo

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_SAMPLE", 5)
    monkeypatch.setattr(
        demo,
        "_SETTINGS",
        {"model": "memnet", "dimension": 8, "epochs": 1, "iterations": 2, "epsilon": 9.0, "device": "cpu"},
    )


def test_the_demonstration_ends_with_a_run_scores_and_predictions(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "demo"
    result = command("demo", "--out", out)
    assert (result.code, result.err) == (0, "")
    for part in (
        "baseline",
        "+AW-AS",
        "+PG-AS",
        "misleading",
        "predictions",
        "made up, for demonstration",
        f"Open the report in a browser: {out / 'report.html'}",
    ):
        assert part in result.out
    assert "[+1]" in result.out or "[-1]" in result.out
    report = (out / "report.html").read_text("utf-8")
    for part in ("aw-as against aw-as, initial model", "What was mined", "301 test instances", "Comprehensiveness"):
        assert part in report
    for run in (out / "aw-as", out / "pg-as", out / "aw-as" / "stages" / "initial"):
        assert pssa.load(run).predict("Great view, but the waiter was rude.", "waiter").label


def test_json_is_one_object_with_the_slices(command: Command, tmp_path: Path) -> None:
    found = command("demo", "--out", tmp_path / "demo", "--json").json
    assert found["runs"] == str(tmp_path / "demo")
    assert Path(found["report"]) == tmp_path / "demo" / "report.html"
    assert Path(found["report"]).is_file()
    assert set(found["methods"]) == {"baseline", "+AW-AS", "+PG-AS"}
    for result in found["methods"].values():
        assert result["test"]["instances"] >= 200
        assert {"misleading", "plain"} <= set(result["slices"])


def test_a_second_demonstration_gets_a_place_of_its_own(command: Command, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").touch()
    assert command("demo", "--out", tmp_path / "demo", "--json").json["runs"] == str(tmp_path / "demo-3")
