"""`pssa explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring
from tests.cli.command import Command
from tests.report.documents import parse, refuse_outside

import pssa
from pssa.cli import main
from pssa.data.example import Example
from pssa.display import percent
from pssa.runs.explain import explain

TEXT = "The screen is huge, but the battery dies at 10:30."


@pytest.fixture(scope="module")
def other(tiny: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without attention."""
    out = tmp_path_factory.mktemp("runs") / "other"
    assert main(["train", *tiny, "--model", "tnet", "--epochs", "1", "--set", "hidden=4", "--out", str(out)]) == 0
    return out


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows: list[dict[str, Any]] = [{"text": f"screen number {n} is huge", "aspect": "screen"} for n in range(5)]
    rows[1] = {"text": "a screen on a screen", "aspect": "screen", "label": "fine"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_people_see_the_sentence_its_label_and_its_hot_words(command: Command, run: Path) -> None:
    result = command("explain", run, "--text", TEXT, "--aspect", "screen", "--aspect", "28:35")
    assert (result.code, result.err) == (0, "")
    (first,) = explain(pssa.load(run), [Example.from_text(TEXT, (4, 10))])
    assert f"screen is {first.answer.label} {percent(max(first.answer.probabilities.values()))}" in result.out
    assert "(by attention)" in result.out
    assert "  The" in result.out
    assert "[battery]" in result.out
    word = max(zip(first.shares, first.words, strict=True))
    assert f"{word[1]}({word[0]:.2f})".replace("(0", "(") in result.out


def test_json_holds_what_the_library_says(command: Command, run: Path) -> None:
    found = command("explain", run, "--text", TEXT, "--aspect", "battery", "--saliency", "gradient", "--json").json
    (expected,) = explain(pssa.load(run), [Example.from_text(TEXT, (28, 35))], "gradient")
    assert found == {"run": str(run), "explanations": [expected.as_dict()], "warnings": []}


@pytest.mark.slow
def test_two_runs_are_explained_side_by_side(command: Command, run: Path, other: Path, tmp_path: Path) -> None:
    page, drawing = tmp_path / "map.html", tmp_path / "map.svg"
    words = ("--text", TEXT, "--aspect", "screen", "--versus", other)
    found = command("explain", run, *words, "--out", page, drawing, "--json").json
    assert (found["html"], found["svg"]) == (str(page), str(drawing))
    # The other model has no attention to show, and is explained as is usual for it.
    assert [each["saliency"] for each in found["explanations"]] == ["attention"]
    assert [each["saliency"] for each in found["versus"]["explanations"]] == ["gradient"]
    refuse_outside(page.read_text("utf-8"))
    captions = [caption.text.split(":")[0] for caption in parse(page.read_text("utf-8")).all("figcaption")]
    assert captions == ["other", "run"]
    assert fromstring(drawing.read_text("utf-8")).tag.endswith("svg")
    shown = command("explain", run, *words).out
    assert "run: screen is" in shown
    assert "changed most: " in shown


@pytest.mark.slow
def test_rows_of_a_file_are_explained_up_to_a_limit(command: Command, run: Path, source: Path) -> None:
    found = command("explain", run, "--input", source, "--limit", "3", "--json").json
    assert [each["from"] for each in found["explanations"]] == [0, 2, 0]
    assert found["warnings"] == [f"{source}, line 2: aspect 'screen' occurs 2 times; the first is taken"]
    shown = command("explain", run, "--input", source, "--limit", "3").out
    assert "line 2: aspect 'screen' occurs 2 times; the first is taken" in shown
    assert "... and more" in shown
    assert "... and more" not in command("explain", run, "--input", source).out


def test_a_run_that_judges_sentences_is_compared_in_the_whole_text(command: Command, run: Path) -> None:
    text = "It came late. The screen is huge."
    words = ("explain", "starter", "--text", text, "--aspect", "screen", "--versus", run, "--json")
    found = command(*words).json
    for (each,) in (found["explanations"], found["versus"]["explanations"]):
        assert (each["text"], each["from"], len(each["words"])) == (text, 18, 9)


def test_numbers_with_a_colon_are_words_where_they_stand_in_the_text(command: Command, run: Path) -> None:
    found = command("explain", run, "--text", TEXT, "--aspect", "10:30", "--aspect", "4:10", "--json").json
    assert [each["aspect"] for each in found["explanations"]] == ["10:30", "screen"]


def test_existing_files_are_kept_unless_force_is_used(command: Command, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    page.write_text("older")
    words = ("explain", run, "--text", TEXT, "--aspect", "screen", "--out", page)
    assert f"{page} exists" in command(*words).refusal
    assert page.read_text() == "older"
    assert command(*words, "--force").out.endswith(f"{page}: 1 heat map\n")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [page]
