"""`pssa predict`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Command

import pssa
from pssa.predict import Progress, Summary
from pssa.progress import RowProgress
from pssa.runs import Config

# Their lengths differ, so that batches of like length would give themselves away.
TEXTS = [f"{'so ' * (7 * number % 11)}the screen number {number} is huge" for number in range(20)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows: list[dict[str, Any]] = [{"key": n, "text": text, "aspect": "screen"} for n, text in enumerate(TEXTS)]
    rows[3]["label"] = "negative"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_are_answered_in_their_order_and_counted(
    command: Command, run: Path, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"
    found = command("predict", run, "--input", source, "--output", target, "--batch-size", "3", "--json").json
    rows, classifier = rows_of(target), pssa.load(run)
    assert [(row["key"], row["text"], row["aspect"]) for row in rows] == [(n, t, "screen") for n, t in enumerate(TEXTS)]
    labels = [row["label"] for row in rows]
    assert labels == [classifier.predict(text, "screen").label for text in TEXTS]
    counts = {name: labels.count(name) for name in classifier.labels}
    assert found == {"rows": 20, "labels": counts, "ambiguous": 0, "rejected": 0}


def test_people_can_tell_labels_from_counts_even_if_numbers(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = Summary(4, {"1": 2, "0": 0, "-1": 2}, 0)
    monkeypatch.setattr("pssa.predict.predict", lambda *job: summary)
    assert (
        command("predict", "RUN", "--input", "a.csv", "--output", "b.csv").out == "b.csv: 4 rows (1: 2, 0: 0, -1: 2)\n"
    )


def test_a_file_is_read_like_the_training_data_of_the_run(command: Command, run: Path, tmp_path: Path) -> None:
    source, trained = tmp_path / "in.csv", tmp_path / "trained"
    source.write_text("Review,Term\nhuge screen,screen\n")
    shutil.copytree(run, trained)
    config = Config.from_toml(trained / "config.toml").updated({"columns": {"text": "review", "aspect": "term"}})
    (trained / "config.toml").write_text(config.to_toml())
    result = command("predict", trained, "--input", source, "--output", tmp_path / "out.csv")
    assert result.code == 0
    assert "--columns text=review,aspect=term" in result.err


def test_aspects_that_occur_twice_are_mentioned(command: Command, run: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("text,aspect\nscreen on screen,screen\n")
    result = command("predict", run, "--input", source, "--output", tmp_path / "out.csv")
    assert "1 aspect occurs several times in the text; the first occurrence was taken" in result.out


@pytest.mark.filterwarnings("always:.*no row up to here:UserWarning")
def test_an_odd_first_row_of_a_file_with_other_names_can_be_skipped_and_words_scored(
    command: Command, run: Path, tmp_path: Path
) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"note": "x"}\n{"review": "the screen is huge", "term": "screen", "no": 7}\n')
    words = ("predict", run, "--input", source, "--columns", "text=review,aspect=term,id=no", "--output", target)
    assert command(*words, "--errors", "skip", "--explain").code == 0
    (row,) = rows_of(target)
    assert (row["no"], row["review"], row["explanation"]["saliency"]) == (7, "the screen is huge", "attention")
    assert [word["word"] for word in row["explanation"]["words"]] == row["review"].split()


def test_bad_rows_can_be_skipped(command: Command, run: Path, source: Path, tmp_path: Path) -> None:
    with source.open("a") as handle:
        handle.write('{"text": "a keyboard", "aspect": "screen"}\n')
    target = tmp_path / "out.jsonl"
    result = command("predict", run, "--input", source, "--output", target, "--errors", "skip")
    assert f"{target}.rejected.jsonl: 1 row was skipped" in result.out


def test_rows_may_go_to_standard_output(command: Command, run: Path, source: Path) -> None:
    result = command("predict", run, "--input", source, "--output", "-")
    assert [json.loads(line)["key"] for line in result.out.splitlines()] == list(range(20))
    assert "standard output: 20 rows (" in result.err
    source.write_text('{"text": "a screen", "aspect": "screen"}\n')
    result = command("predict", run, "--input", source, "--output", "-", "--output-format", "csv", "--json")
    shares = "probability_positive,probability_negative,probability_neutral"
    assert result.out.splitlines()[0] == f"text,aspect,label,{shares},notes"
    assert json.loads(result.err)["rows"] == 1


def test_an_interrupted_job_says_what_is_kept_and_is_gone_on_with(
    command: Command, run: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, fine = tmp_path / "out.jsonl", source.read_text()
    words = ("predict", run, "--input", source, "--output", target, "--device", "cpu")
    with monkeypatch.context() as patch:
        patch.setattr("pssa.predict.job.default_window_rows", lambda model, device: 8)
        patch.setattr("pssa.progress.RowProgress.__call__", lambda bar, now: interrupt(now))
        result = command(*words)
    assert result.code == 130
    assert result.err == "pssa: interrupted; the 8 rows before are kept: resume with --resume\n"
    assert "holds an unfinished job with 8 rows; resume it with --resume" in command(*words).refusal
    assert "give one of the two" in command(*words, "--resume", "--force").refusal
    assert command(*words, "--resume", "--json").json["rows"] == 20
    assert [row["key"] for row in rows_of(target)] == list(range(20))
    assert source.read_text() == fine


@pytest.mark.filterwarnings("always:.*nothing was done:UserWarning")
def test_an_output_without_a_part_is_left_as_it_is(command: Command, run: Path, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("of another job\n")
    words = ("predict", run, "--input", source, "--output", target, "--resume")
    for more, out in ((), ""), (("--json",), json.dumps({"output": str(target), "existed": True}) + "\n"):
        result = command(*words, *more)
        assert (result.code, result.out) == (0, out)
        assert f"{target} exists" in result.err
        assert "nothing was done" in result.err
    assert target.read_text() == "of another job\n"


def interrupt(progress: Progress) -> None:
    if progress.rows:
        raise KeyboardInterrupt


def test_progress_tells_rows_their_speed_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("pssa.progress.time.monotonic", lambda: now[0])
    for seconds, observed, lines in (
        (
            10.0,
            (Progress(1000, 0, 50, 450), Progress(5000, 3, 150, 450)),
            ["predict: 1,000 rows", "predict: 5,000 rows, 3 skipped, 400 rows/s, 0:00:30 left"],
        ),
        (
            3600.0,
            (Progress(0, 0, 0, 0), Progress(7200, 0, 0, 0)),
            ["predict: 0 rows", "predict: 7,200 rows, 2 rows/s"],
        ),
    ):
        bar, shown = RowProgress("predict", visible=False), []
        for progress in observed:
            bar(progress)
            shown.append(bar.describe())
            now[0] += seconds
        assert shown == lines


@pytest.mark.parametrize(("seen", "bar"), [(True, False), (False, True)])
def test_rows_that_a_terminal_shows_have_no_bar_among_them(
    command: Command, run: Path, source: Path, monkeypatch: pytest.MonkeyPatch, seen: bool, bar: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: seen)
    assert ("rows/s" in command("predict", run, "--input", source, "--output", "-").err) is bar
