"""The report as a whole."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from tests.report.documents import Element, parse, refuse_outside

from pssa.data import embedded
from pssa.data.example import Corpus
from pssa.report.run_report import make_report, write_report

ALL = ["summary", "run", "scores", "confidence", "training", "mined", "changed", "stress", "faithfulness", "card"]


def sections(document: Element) -> list[str]:
    return [section.attributes["id"] for section in document.all("section") if "id" in section.attributes]


@pytest.fixture(scope="module")
def page(run: Path, held_out: Corpus) -> str:
    return make_report(run, data=held_out, sample=10)


@pytest.mark.slow
def test_a_report_has_every_section_in_its_order(page: str) -> None:
    document = parse(page)
    assert sections(document) == ALL
    assert [link.attributes["href"] for link in document.all("nav")[0].all("a")] == [f"#{name}" for name in ALL]
    assert [heading.text for heading in document.all("h1")] == ["Report: mined"]
    assert "mined, initial model" in page
    assert document.all("p", "warning") == []


def test_a_report_is_small_described_and_needs_nothing_from_outside(page: str, run: Path) -> None:
    refuse_outside(page)
    assert len(page.encode()) < 300_000
    document = parse(page)
    levels = [int(element.tag[1]) for element in document.all() if element.tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in document.all("table"):
        assert table.all("caption")[0].text
        assert all(head.attributes["scope"] in ("col", "row") for head in table.all("th"))
    for picture in document.all("svg"):
        assert picture.attributes["aria-label"]
    assert str(run.parent) not in page


def test_instances_that_the_run_was_trained_on_are_told_beside_the_scores(base: Path, held_out: Corpus) -> None:
    data = Corpus((*embedded.load("train").examples[:3], *held_out.examples[:2]))
    scores = next(
        part
        for part in parse(make_report(base, data=data, sample=1)).all("section")
        if part.attributes["id"] == "scores"
    )
    assert "Of 5 test instances, 3 have a text that the run was trained on" in scores.text
    assert "that the run was trained on" not in make_report(base, data=held_out.select(range(2)), sample=1)


def test_without_data_nothing_is_scored_and_changes_are_looked_for_in_training(run: Path) -> None:
    document = parse(make_report(run))
    assert sections(document) == ["summary", "run", "training", "mined", "changed", "card"]
    assert "No test data was given" in document.all("p", "warning")[0].text
    (changed,) = (section for section in document.all("section") if section.attributes.get("id") == "changed")
    assert "60 training instances (the first 1,000 at most)" in changed.all("p")[0].text


def test_a_run_without_evidence_or_another_to_compare_with_is_shorter(base: Path, held_out: Corpus) -> None:
    document = parse(make_report(base, data=held_out, sample=5))
    assert sections(document) == [name for name in ALL if name not in ("mined", "changed")]


@pytest.mark.slow
def test_another_run_can_be_compared_with(run: Path, base: Path, held_out: Corpus) -> None:
    found = make_report(run, versus=base, data=held_out, sample=5)
    assert "mined against base" in found
    assert "initial model" not in found


def test_an_unfinished_run_says_so(run: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    shutil.copytree(run, unfinished)
    for name in ("metrics.json", "history.jsonl", "README.md", "evidence.jsonl"):
        (unfinished / name).unlink()
    document = parse(make_report(unfinished))
    assert document.all("p", "warning")[0].text.startswith("This run is unfinished")
    assert sections(document) == ["summary", "run", "changed"]


def test_a_run_that_has_not_begun_says_that(run: Path, held_out: Corpus, tmp_path: Path) -> None:
    for name in ("config.toml", "model.json", "vocabulary.json"):
        shutil.copy(run / name, tmp_path)
    document = parse(make_report(tmp_path, data=held_out))
    assert "before its first epoch" in document.all("p", "warning")[0].text
    assert sections(document) == ["summary", "run"]


@pytest.mark.slow
def test_a_file_of_data_is_read_and_the_page_written(base: Path, held_out: Corpus, tmp_path: Path) -> None:
    data, out = tmp_path / "test.csv", tmp_path / "report.html"
    held_out.write(data)
    assert write_report(base, out, data=data, sample=5) == out
    assert out.read_text("utf-8") == make_report(base, data=held_out, sample=5)


def test_a_card_from_strangers_is_only_text(base: Path, tmp_path: Path) -> None:
    copy = tmp_path / "<run>"
    shutil.copytree(base, copy)
    (copy / "README.md").write_text("<script>alert(1)</script> & more", "utf-8")
    page = make_report(copy)
    refuse_outside(page)
    assert parse(page).all("pre")[0].text == "<script>alert(1)</script> & more"
    assert parse(page).all("h1")[0].text == "Report: <run>"
