"""`pssa bench`: what it computes from times, and what it refuses. Nothing here takes a time that is looked at."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.cli.command import Command

from pssa.cli import _bench
from pssa.cli._bench import Measurement, Request, Table
from pssa.cli._bench._clock import exponent, fresh_process, in_turns, medians
from pssa.cli._bench._material import model_settings, write_rows
from pssa.cli._bench.growth import prolonged
from pssa.cli._bench.scoring import at_pace
from pssa.data.example import Corpus, Example
from pssa.errors import InputError, PssaError


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [([3, 6, 12, 24], 1.0), ([3, 12, 48, 192], 2.0), ([5, 5, 5, 5], 0.0), ([8, 4, 2, 1], -1.0)],
)
def test_the_exponent_of_a_power_is_found(seconds: list[float], expected: float) -> None:
    assert exponent([1, 2, 4, 8], seconds) == pytest.approx(expected)


def test_the_exponent_is_that_of_least_squares_in_logarithms() -> None:
    # In powers of two: sizes 0, 1, 2 and seconds 0, 3, 2. The slope is (1*1 + 1*1) / (1 + 0 + 1) = 1: the middle has no say.
    assert exponent([1, 2, 4], [1, 8, 4]) == pytest.approx(1.0)


def test_one_size_has_no_exponent() -> None:
    with pytest.raises(ValueError, match="at least two different sizes"):
        exponent([4, 4], [1, 2])


def test_contenders_are_measured_in_turns() -> None:
    asked: list[str] = []

    def measure(name: str) -> float:
        asked.append(name)
        return float(len(asked))

    found = in_turns({"a": lambda: measure("a"), "b": lambda: measure("b")}, 3)
    assert asked == ["a", "b", "a", "b", "a", "b"]
    assert found == {"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0]}


def test_a_median_is_the_middle_or_the_mean_of_two() -> None:
    assert medians({"odd": [9, 1, 2], "even": [4, 1, 2, 100]}) == {"odd": 2, "even": 3}


def test_a_process_that_fails_is_told_by_its_last_line() -> None:
    with pytest.raises(PssaError, match="exit code 1: ValueError: so it ends"):
        fresh_process(("-c", "raise ValueError('so it ends')"))


def test_a_sentence_grows_behind_its_aspect() -> None:
    first, other = Example.from_text("a big screen", (6, 12)), Example.from_text("keys stick", (0, 4))
    longer = prolonged(first, [other, other])
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
    assert at_pace(reports, 70.0, 0) == 60.0
    assert at_pace(reports, 70.0, 1) == 40.0
    assert at_pace(reports, 72.0, 1) == pytest.approx(32 * 400 / 300)
    assert at_pace(reports, 70.0, 9) == 40.0  # of the last two hundred rows


def test_numbers_are_shown_with_the_figures_that_a_clock_gives() -> None:
    table = Table("", ("", "a", "b", "c", "d"), (("name", 1234.5678, 0.0123456, 1000000, None),))
    assert table.text() == [["name", "1,235", "0.0123", "1,000,000", ""]]


def test_every_benchmark_is_listed_with_what_it_measures(command: Command) -> None:
    assert _bench.names() == ("growth", "memory", "scoring", "startup")
    found = command("bench", "--list", "--json").json["benchmarks"]
    assert [row["name"] for row in found] == list(_bench.names())
    assert all(row["title"] for row in found)
    lines = command("bench", "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(_bench.names())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a benchmark: growth, memory, scoring, startup"),
        (("flight",), "there is no benchmark 'flight'; there are growth, memory, scoring, startup"),
        (("startup", "--repeats", "0"), "--repeats is 0; it must be at least 1"),
        (("memory", "--rows", "10,0"), "--rows holds 0; every number of rows must be at least 1"),
        (("memory", "--rows", "many"), "argument --rows: 'many' is no list of whole numbers such as 1000,10000"),
        (("scoring", "--run", "nowhere"), "--run nowhere does not exist; name one that does, or leave it out"),
        (("growth", "--vectors", "nowhere"), "--vectors nowhere does not exist"),
        (("startup", "--out", "nowhere/out.json"), "--out nowhere/out.json is in no folder that exists"),
        (("memory", "--data", "nowhere"), "--data nowhere is not a folder"),
    ],
)
def test_what_cannot_be_measured_is_refused(command: Command, words: tuple[str, ...], said: str) -> None:
    assert command("bench", *words).refusal.startswith(f"pssa: {said}")


def test_an_encoder_is_named_as_for_training(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Mock(return_value=Measurement(()))
    monkeypatch.setattr("pssa.cli._bench.startup.measure", measure)
    assert command("bench", "startup", "--encoder", "owner/encoder").code == 0
    assert model_settings(measure.call_args.args[0]) == {"model": "bertabsa_att", "encoder": "owner/encoder"}


def test_vectors_and_an_encoder_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give one of them"):
        Request(vectors=tmp_path, encoder="owner/encoder")


def test_a_benchmark_of_one_size_refuses_several() -> None:
    assert Request().one_size(7) == 7
    assert Request(rows=(9,)).one_size(7) == 9
    with pytest.raises(InputError, match="--rows names 2 sizes"):
        Request(rows=(9, 10)).one_size(7)


def test_what_was_measured_is_printed_and_kept(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outcome = Measurement(
        (Table("times", ("", "ms"), (("start", 12.5),)),), ("so it is",), {"seconds": {"start": [0.0125]}}
    )
    monkeypatch.setattr("pssa.cli._bench.startup.measure", lambda request: outcome)
    said = command("bench", "startup", "--out", tmp_path / "out.json")
    assert (said.code, said.err) == (0, "")
    assert "12.5" in said.out
    assert "so it is" in said.out
    assert "load average" in said.out
    kept = json.loads((tmp_path / "out.json").read_text())
    assert kept["tables"] == [{"title": "times", "columns": ["", "ms"], "rows": [["start", 12.5]]}]
    assert kept["raw"] == {"seconds": {"start": [0.0125]}}
    assert kept["machine"]["cores"] >= 1
    printed = command("bench", "startup", "--json").json
    assert printed["benchmark"] == "startup"
    assert printed["tables"] == kept["tables"]


@pytest.mark.slow
def test_scoring_measures_every_way_that_the_run_allows(command: Command, run: Path) -> None:
    found = command("bench", "scoring", "--run", run, "--rows", "40", "--repeats", "2", "--json").json
    assert [row[0] for row in found["tables"][0]["rows"]] == ["one call a row", "pssa predict"]
    assert {name: len(times) for name, times in found["raw"]["seconds"].items()} == {
        "one call a row": 2,
        "pssa predict": 2,
    }


@pytest.mark.slow
def test_memory_is_that_of_a_process_of_its_own(command: Command, run: Path) -> None:
    found = command("bench", "memory", "--run", run, "--rows", "20,40", "--json").json
    rows = found["tables"][0]["rows"]
    assert [row[0] for row in rows] == [20, 40]
    # MiB: torch alone has more than the one, and a tiny model needs less than the other.
    assert all(50 < row[1] < 2000 for row in rows)


@pytest.mark.slow
def test_growth_has_three_axes(command: Command) -> None:
    found = command("bench", "growth", "--rows", "20", "--repeats", "1", "--json").json
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
def test_nothing_heavy_is_loaded_at_the_start(command: Command) -> None:
    found = command("bench", "startup", "--repeats", "1", "--json").json
    assert [row[0] for row in found["tables"][0]["rows"]][-1] == "import torch"
    assert found["notes"] == ["none of torch, numpy, transformers is loaded"]
