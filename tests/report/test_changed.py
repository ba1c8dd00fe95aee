"""Sentences whose label changed."""

from __future__ import annotations

from pathlib import Path

from tests.report.documents import parse

from pssa.data.example import Corpus, Example
from pssa.report.changed import BothAnswers, show_changes
from pssa.runs import load

NAMES = ("mined", "initial")


def test_a_verdict_is_about_the_gold_label() -> None:
    example = Example.from_text("a screen", (2, 8), label="positive")
    assert BothAnswers(example, "positive", "negative").verdict == "now right"
    assert BothAnswers(example, "negative", "positive").verdict == "now wrong"
    assert BothAnswers(example, "negative", "neutral").verdict == "wrong either way"


def test_changes_are_counted_and_shown_with_both_heat_maps(run: Path, held_out: Corpus) -> None:
    # What the runs say is made up, so that the counts are known; the heat maps are theirs.
    classifiers = load(run), load(run / "stages" / "initial")
    golds = [example.label or "" for example in held_out]
    other = {"positive": "negative", "negative": "neutral", "neutral": "positive"}
    judged = [
        BothAnswers(held_out[0], golds[0], other[golds[0]]),
        BothAnswers(held_out[1], golds[1], golds[1]),
        BothAnswers(held_out[2], other[golds[2]], golds[2]),
        BothAnswers(held_out[3], golds[3], other[golds[3]]),
    ]
    document = parse(show_changes(judged, "test instances", classifiers, NAMES).body.source)
    assert document.all("p")[0].text == "3 of 4 test instances are labelled differently by mined than by initial."
    counts = [[cell.text for cell in row.children] for row in document.all("tr")]
    assert counts[1:] == [["now right", "2"], ["now wrong", "1"], ["wrong either way", "0"]]
    sections = document.all("section")
    assert [len(section.all("figure")) for section in sections] == [2, 2, 2]
    assert [section.all("h3")[0].text.split(":")[0] for section in sections] == ["now right", "now wrong", "now right"]
    assert sections[0].all("h3")[0].text.endswith(f"gold {golds[0]}, {other[golds[0]]} before, {golds[0]} now")
    assert [figure.all("figcaption")[0].text.split(":")[0] for figure in sections[0].all("figure")] == [
        "initial",
        "mined",
    ]


def test_many_changes_are_cut_and_folded(run: Path, held_out: Corpus) -> None:
    classifiers = load(run), load(run)
    judged = [BothAnswers(held_out[number % 40], "positive", "negative") for number in range(200)]
    source = show_changes(judged, "test instances", classifiers, NAMES).body.source
    document = parse(source)
    assert len(document.all("section")) == 40
    assert len(document.all("details")[0].all("section")) == 34
    assert "Shown are 40 of them: 40 at most, none longer than 100 words." in source
    assert len(source) < 300_000


def test_sentences_that_are_too_long_are_not_shown(run: Path) -> None:
    example = Example.from_text("a screen " + "so " * 200, (2, 8), label="positive")
    source = show_changes(
        [BothAnswers(example, "positive", "negative")], "x", (load(run), load(run)), NAMES
    ).body.source
    assert "All of them are longer than 100 words" in source
    assert parse(source).all("figure") == []


def test_no_change_is_a_sentence(run: Path, held_out: Corpus) -> None:
    judged = [BothAnswers(example, "positive", "positive") for example in held_out]
    document = parse(show_changes(judged, "test instances", (load(run), load(run)), NAMES).body.source)
    assert document.text == "None of the 40 test instances is labelled differently by mined than by initial."
