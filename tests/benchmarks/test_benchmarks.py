"""The benchmarks: what they compute from times, and what they refuse. No test depends on how long something takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pssa.data import embedded
from pssa.data.example import Corpus, Example
from pssa.runs.training_run import write_run

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import growth
import memory
import scoring
import startup
from harness import (
    Measure,
    Measurement,
    Table,
    exponent,
    in_turns,
    main,
    write_rows,
)

import insights


def as_json(capsys: pytest.CaptureFixture[str], measure: Measure, *arguments: str | Path) -> Any:
    """The object that a benchmark prints."""
    capsys.readouterr()
    assert main("", measure, [*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = embedded.load("train").select(range(60))
    out = tmp_path_factory.mktemp("runs") / "run"
    return write_run(corpus, out, model="memnet", epochs=2, dimension=8, device="cpu")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [([3, 6, 12, 24], 1.0), ([3, 12, 48, 192], 2.0), ([5, 5, 5, 5], 0.0), ([8, 4, 2, 1], -1.0)],
)
def test_the_exponent_of_a_power_is_found(seconds: list[float], expected: float) -> None:
    assert exponent([1, 2, 4, 8], seconds) == pytest.approx(expected)


def test_contenders_are_measured_in_turns() -> None:
    asked: list[str] = []

    def measure(name: str) -> float:
        asked.append(name)
        return float(len(asked))

    found = in_turns({"a": lambda: measure("a"), "b": lambda: measure("b")}, 3)
    assert asked == ["a", "b", "a", "b", "a", "b"]
    assert found == {"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0]}


def test_a_sentence_grows_behind_its_aspect() -> None:
    first, other = Example.from_text("a big screen", (6, 12)), Example.from_text("keys stick", (0, 4))
    longer = growth.lengthened(first, [other, other])
    assert longer.words == ("a", "big", "screen", "keys", "stick", "keys", "stick")
    assert longer.aspect_text == "screen"


def test_rows_go_round_and_no_text_comes_twice(tmp_path: Path) -> None:
    corpus = Corpus((Example.from_text("a big screen", (6, 12), label="positive"), Example.from_text("keys", (0, 4))))
    rows = [json.loads(line) for line in write_rows(corpus, 5, tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == ["a big screen", "keys", "a big screen 1", "keys 1", "a big screen 2"]
    assert [row["text"][row["from"] : row["to"]] for row in rows] == ["screen", "keys", "screen", "keys", "screen"]
    assert rows[2] == {"text": "a big screen 1", "aspect": "screen", "from": 6, "to": 12, "label": "positive"}
    assert "label" not in rows[1]


def test_the_pace_is_that_of_all_rows_or_of_those_after_the_start() -> None:
    # Nothing is done at 10 s; 100 rows take until 40 s, since processes start, and the other 300 until 70 s.
    reports = [(10.0, 0), (40.0, 100), (50.0, 200), (70.0, 400)]
    assert scoring.at_steady_rate(reports, 70.0, 0) == 60.0
    assert scoring.at_steady_rate(reports, 70.0, 1) == 40.0
    assert scoring.at_steady_rate(reports, 72.0, 1) == pytest.approx(32 * 400 / 300)
    assert scoring.at_steady_rate(reports, 70.0, 9) == 40.0  # of the last two hundred rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--repeats", "0"), "--repeats is 0"),
        (("--rows", "10,0"), "--rows holds 0"),
        (("--run", "nowhere"), "--run nowhere does not exist"),
        (("--vectors", "nowhere"), "--vectors nowhere does not exist"),
        (("--out", "nowhere/out.json"), "--out nowhere/out.json"),
        (("--data", "nowhere"), "--data nowhere is not a folder"),
    ],
)
def test_what_cannot_be_timed_is_refused(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    assert main("", startup.measure, words) == 2
    assert said in capsys.readouterr().err


def test_what_was_measured_is_printed_and_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    outcome = Measurement(
        (Table("times", ("", "ms"), (("start", 12.5),)),), ("so it is",), {"seconds": {"start": [0.0125]}}
    )
    assert main("", lambda request: outcome, ["--out", str(tmp_path / "out.json")]) == 0
    printed, errors = capsys.readouterr()
    assert errors == ""
    assert all(part in printed for part in ("12.5", "so it is", "load average"))
    kept = json.loads((tmp_path / "out.json").read_text())
    assert kept["tables"] == [{"title": "times", "columns": ["", "ms"], "rows": [["start", 12.5]]}]
    assert kept["raw"] == {"seconds": {"start": [0.0125]}}
    assert kept["machine"]["cores"] >= 1
    assert as_json(capsys, lambda request: outcome)["tables"] == kept["tables"]


@pytest.mark.slow
def test_scoring_measures_every_way_that_the_run_allows(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    found = as_json(capsys, scoring.measure, "--run", run, "--rows", "40", "--repeats", "2")
    assert [row[0] for row in found["tables"][0]["rows"]] == ["one call a row", "pssa predict"]
    assert {name: len(times) for name, times in found["raw"]["seconds"].items()} == {
        "one call a row": 2,
        "pssa predict": 2,
    }


@pytest.mark.slow
def test_memory_is_that_of_a_process_of_its_own(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    found = as_json(capsys, memory.measure, "--run", run, "--rows", "20,40")
    rows = found["tables"][0]["rows"]
    assert [row[0] for row in rows] == [20, 40]
    # MiB: torch alone has more than the one, and a tiny model needs less than the other.
    assert all(50 < row[1] < 2000 for row in rows)


@pytest.mark.slow
def test_insights_are_measured_at_every_size(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    found = as_json(capsys, insights.measure, "--run", run, "--rows", "20,40")
    assert [row[0] for row in found["tables"][0]["rows"]] == [20, 40]
    assert "memory grows" in found["notes"][0]


@pytest.mark.slow
def test_growth_has_three_axes(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, growth.measure, "--rows", "20", "--repeats", "1")
    axes = {
        "instances, training": [20, 40, 80, 160],
        "instances, mining": [20, 40, 80, 160],
        "rounds, training and mining": [1, 2, 4, 8],
    }
    tables = {table["title"]: [row[0] for row in table["rows"]] for table in found["tables"]}
    assert {name: tables[name] for name in axes} == axes
    assert tables["words, training"] == sorted(tables["words, training"])
    assert [row[0] for row in found["tables"][-1]["rows"]] == list(tables)[:-1]


@pytest.mark.slow
def test_nothing_heavy_is_loaded_first(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {"import torch": ("-c", "pass"), "pssa try": ("-m", "pssa", "try", "--help")}
    monkeypatch.setattr(startup, "_STARTS", startup._STARTS | quick)
    found = as_json(capsys, startup.measure, "--repeats", "1")
    assert {"import torch", "pssa try"} <= {row[0] for row in found["tables"][0]["rows"]}
    assert found["notes"] == ["none of torch, numpy, transformers, pandas, jinja2 is loaded"]
