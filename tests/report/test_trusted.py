"""Faithfulness on the page."""

from __future__ import annotations

from pathlib import Path

from tests.report.documents import parse

from pssa.data.example import Corpus, Example
from pssa.report.trusted import show_trust
from pssa.runs import load
from pssa.runs.trust import trust


def test_numbers_are_those_of_the_library(run: Path, held_out: Corpus) -> None:
    classifier = load(run)
    section = show_trust({"mined": classifier, "initial": load(run / "stages" / "initial")}, held_out, 10)
    expected = trust(classifier, held_out, ("attention",), limit=10).faithfulness["deletion"]["attention"]
    document = parse(section.body.source)
    tables = {table.all("caption")[0].text: table for table in document.all("table")}
    assert set(tables) == {
        "Comprehensiveness, by hiding words",
        "Sufficiency, by hiding words",
        "Comprehensiveness, by taking words out",
        "Sufficiency, by taking words out",
    }
    rows = tables["Sufficiency, by taking words out"].all("tr")
    assert [cell.text for cell in rows[0].children] == ["run", "1 word", "2 words", "3 words", "AOPC"]
    assert [row.children[0].text for row in rows[1:]] == ["mined, attention", "initial, attention"]
    found = expected.sufficiency["aopc"]
    assert rows[1].children[4].text == f"{100 * found.value.mean:.1f} ({100 * found.control.mean:.1f})"
    title = rows[1].children[4].all("span")[0].attributes["title"]
    assert title == f"95 % interval {100 * found.value.low:.1f} to {100 * found.value.high:.1f}"
    assert document.all("p")[0].text.startswith("10 instances of the test data")


def test_where_nothing_can_be_measured_the_reason_is_given(run: Path) -> None:
    alone = Corpus((Example.from_text("screen", (0, 6), label="positive"),))
    source = show_trust({"mined": load(run)}, alone, 10).body.source
    assert "Not measured: none of the 1 sentences has a word beside its aspect" in source
