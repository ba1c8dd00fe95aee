"""`pssa insights`: the files it writes, the counts it prints, bad input, and jobs that were stopped."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Command
from tests.predict.made_jobs import Stopping

from pssa.insights import job as insights_job
from pssa.insights.job import InsightsJob, make_insights
from pssa.predict import FindingOptions

REVIEWS = [
    ("The food was great. I hate the service!", "north", "2024-01-05"),
    ("Foods were cold, the service slow.", "north", "2024-02-05"),
    ("", "south", "2024-02-06"),
    ("Nothing to say.", "south", "soon"),
    ("<script>alert('food')</script>", "south", "2024-03-01"),
    ("美味しい食べ物", "south", "2024-03-02"),
]


def write_reviews(
    path: Path, rows: Sequence[tuple[str, ...]], header: tuple[str, ...] = ("Text", "branch", "day")
) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def words(run: Path, tmp_path: Path) -> list[Any]:
    source = write_reviews(tmp_path / "reviews.csv", REVIEWS)
    return ["insights", run, "--input", source, "--out", tmp_path / "page.html", "--aspects", "food,service"]


@pytest.mark.slow
def test_reviews_become_a_page_a_table_rows_and_groups(command: Command, words: list[Any], tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("table.csv", "rows.csv", "groups.csv")}
    options = [part for name, path in files.items() for part in (f"--{name.removesuffix('.csv')}", path)]
    found = command(*words, *options, "--by", "BRANCH", "--date", "day", "--json").json
    assert (found["reviews"], found["empty"], found["opinions"] + found["mentions"]) == (5, 2, 5)
    assert found["blank"] == 1
    assert sum(found["labels"].values()) == found["opinions"]
    assert found["rejected"] == 0
    with files["rows.csv"].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["aspect"], row["aspect_group"], row["branch"]) for row in rows][:4] == [
        ("food", "food", "north"),
        ("service", "service", "north"),
        ("Foods", "food", "north"),
        ("service", "service", "north"),
    ]
    assert rows[0].keys() == {
        *("Text", "branch", "day", "aspect", "from", "to", "label", "notes", "aspect_group", "driver", "is_mention"),
        *("probability_positive", "probability_negative", "probability_neutral"),
    }
    assert len(files["table.csv"].read_text("utf-8").splitlines()) == 1 + found["aspects"] * 3
    assert "foods,food,1,same words" in files["groups.csv"].read_text("utf-8")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<script" not in page
    assert not list(tmp_path.glob("*.part"))


def test_rows_hold_no_formulas(command: Command, words: list[Any], tmp_path: Path) -> None:
    write_reviews(tmp_path / "reviews.csv", [("=1+1 is the food.", "=HYPERLINK(1)", "-5")])
    command(*words, "--rows", tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["Text"], row["branch"], row["day"]) == ("'=1+1 is the food.", "'=HYPERLINK(1)", "-5")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_rows_can_be_written_for_programs(command: Command, words: list[Any], tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    command(*words, "--rows", path)
    if name.endswith("parquet"):
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [row["aspect_group"] for row in rows] == ["food", "service", "food", "service", "food"]
    assert {"driver", "probabilities"} <= rows[0].keys()


def test_edited_groups_are_read_and_left_as_they_are(command: Command, words: list[Any], tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    groups.write_text("spelling,group\nfood,kitchen\nservice,\n", "utf-8")
    command(*words, "--groups", groups, "--table", tmp_path / "table.csv")
    assert groups.read_text("utf-8").startswith("spelling,group\nfood,kitchen")
    names = {line.partition(",")[0] for line in (tmp_path / "table.csv").read_text("utf-8").splitlines()[1:]}
    assert names == {"kitchen"}


def test_errors_of_the_run_are_measured_on_data(
    command: Command, words: list[Any], train_file: Path, tmp_path: Path
) -> None:
    command(*words)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "has no confusion matrix" in page
    command(*words, "--force", "--held-out", train_file)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "has no confusion matrix" not in page
    assert f"The intervals include its mistakes on {train_file.name}" in page


@pytest.mark.filterwarnings("always")
def test_a_run_without_a_tagger_takes_the_aspects_that_the_starter_finds(command: Command, words: list[Any]) -> None:
    found = command(*words[:-2])
    assert (found.code, found.err.count("starter finds them")) == (0, 1)


def test_a_page_is_not_replaced_unasked(command: Command, words: list[Any], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    assert "--force" in command(*words).refusal
    assert (tmp_path / "page.html").read_text() == "mine"
    assert command(*words, "--force").code == 0


def test_no_aspect_and_no_row_at_all(command: Command, words: list[Any], tmp_path: Path) -> None:
    write_reviews(tmp_path / "reviews.csv", [("Hello.", "a", "b")])
    found = command(*words, "--json").json
    assert (found["reviews"], found["empty"], found["mentions"]) == (1, 1, 0)
    write_reviews(tmp_path / "reviews.csv", [])
    assert "no rows" in command(*words, "--force").refusal
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.slow
def test_a_stopped_job_is_resumed_to_the_same_page(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.predict.job.default_window_rows", lambda model, device: 32)
    rows = [
        (f"On day {n} the food was {('good', 'bad', 'cold')[n % 3]}.", "ab"[n % 2], f"2024-01-{1 + n % 28:02}")
        for n in range(40)
    ]
    source = write_reviews(tmp_path / "reviews.csv", rows)

    def job(name: str, begin: str = "new") -> InsightsJob:
        finding = FindingOptions(names=("food",))
        return InsightsJob((str(source),), tmp_path / name, run, "branch", "day", finding=finding, begin=begin)

    make_insights(job("whole.html"))
    with pytest.raises(KeyboardInterrupt):
        make_insights(job("page.html"), Stopping(2, KeyboardInterrupt()))
    assert (tmp_path / "page.html.part").is_dir()
    with pytest.raises(Exception, match="unfinished"):
        make_insights(job("page.html"))

    def fail(*_: Any) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:  # killed after all rows were scored
        patch.setattr(insights_job, "render_page", fail)
        with pytest.raises(KeyboardInterrupt):
            make_insights(job("page.html", "resume"))
    make_insights(job("page.html", "resume"))
    with pytest.raises(Exception, match="unfinished"):
        make_insights(job("page.html", "resume"))
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "whole.html").read_bytes()
    assert not list(tmp_path.glob("*.part"))


def test_a_review_without_aspects_may_tell_day_from_month(command: Command, words: list[Any], tmp_path: Path) -> None:
    rows = [("The food.", "a", "01/02/2024"), ("The food!", "a", "02/02/2024"), ("Nothing.", "a", "25/12/2023")]
    write_reviews(tmp_path / "reviews.csv", rows)
    command(*words, "--date", "day")
    assert "1 Feb 2024" in (tmp_path / "page.html").read_text("utf-8")


def test_ambiguous_dates_keep_what_was_scored(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insights_job, "_ROWS_SEARCHED", 1)
    source = write_reviews(
        tmp_path / "reviews.csv", [("The food.", "a", "01/02/2024"), ("The food.", "a", "03/04/2024")]
    )
    finding = FindingOptions(names=("food",))
    with pytest.raises(Exception, match=r"date_format.*resume"):
        make_insights(InsightsJob((str(source),), tmp_path / "page.html", run, None, "day", finding=finding))
    job = InsightsJob(
        (str(source),), tmp_path / "page.html", run, None, "day", "%d/%m/%Y", finding=finding, begin="resume"
    )
    assert make_insights(job).undated == 0
