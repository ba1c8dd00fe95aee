"""What was mined, with evidence whose numbers are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.documents import Element, parse

from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, ExampleEvidence, Finding, Header, RoundReport
from pssa.data.tokenize import tokenize
from pssa.report.mined import choose_examples, show_evidence, show_rounds

HEADER = Header("memnet", "attention", 4.0, 3, "hash", 0, "aw-as")


def found(word: int, kind: str, iteration: int, score: float = 0.4, entropy: float = 3.27) -> Finding:
    predicted = "positive" if kind == ACTIVE else "negative"
    return Finding(word, kind, iteration, entropy, score, predicted, "positive")


def example(text: str, *findings: Finding, id: str = "1") -> ExampleEvidence:
    spans = tokenize(text)
    words = tuple(text[start:end] for start, end in spans)
    return ExampleEvidence(id, words, spans, (1, 2), "positive", findings)


# The first sentence of the paper's Table 2.
TABLE_2 = example(
    "The screen is huge and colorful but no led",
    found(3, ACTIVE, 1, 0.4, 3.27),
    found(2, ACTIVE, 2, 0.3, 3.38),
    found(6, MISLEADING, 3, 0.4, 3.42),
)


def cells(row: Element) -> list[str]:
    return [cell.text for cell in row.children]


def test_rounds_hide_what_was_found_before_and_name_what_is_found_now() -> None:
    document = parse(show_rounds(TABLE_2).source)
    assert [cells(row) for row in document.all("tr")[1:]] == [
        ["1", "The [screen] is huge and colorful but no led", "positive / positive", "3.27", "huge"],
        ["2", "The [screen] is mask and colorful but no led", "positive / positive", "3.38", "is"],
        ["3", "The [screen] mask mask and colorful but no led", "positive / negative", "3.42", "but"],
    ]
    assert [word.attributes["title"] for word in document.all("s")] == ["hidden: huge", "hidden: is", "hidden: huge"]
    assert document.all("caption")[0].text == "1: screen, positive"


def test_kinds_are_told_apart_without_colour() -> None:
    words = parse(show_rounds(TABLE_2).source).all("i")
    assert [(word.text, word.attributes["data-n"]) for word in words] == [
        ("huge", "+.40"),
        ("is", "+.30"),
        ("but", "−.40"),
    ]
    assert words[2].attributes["title"] == "misleading, share 40.0%"
    assert "misleading" in words[2].attributes["class"].split()


def test_words_of_one_round_share_a_row() -> None:
    given = example("A screen so nice here", found(2, ACTIVE, 1, entropy=1.5), found(3, ACTIVE, 1, entropy=1.5))
    (row,) = parse(show_rounds(given).source).all("tr")[1:]
    assert cells(row)[3:] == ["1.50", "so, nice"]


def test_sentences_with_both_kinds_are_chosen_first_and_stay_in_order() -> None:
    few, many = example("a b c d", found(2, ACTIVE, 1), id="few"), replace(TABLE_2, id="both")
    several = example("a b c d", found(2, ACTIVE, 1), found(3, ACTIVE, 2), id="several")
    none, long = example("a b c d", id="none"), example("a b " + "c " * 60, found(2, ACTIVE, 1), id="long")
    chosen = choose_examples([none, few, long, several, many], 2)
    assert [each.id for each in chosen] == ["several", "both"]
    assert [each.id for each in choose_examples([none, few, long, several, many], 9)] == ["few", "several", "both"]


def test_the_section_counts_what_there_is() -> None:
    rounds = tuple(RoundReport(number, 0.9, 3.25, 0.5, 1, number) for number in (1, 2, 3))
    evidence = Evidence(replace(HEADER, rounds=rounds), (TABLE_2, example("a b c d", id="none")))
    document = parse(show_evidence(evidence).body.source)
    assert document.all("p")[0].text == (
        "2 active and 1 misleading words in 2 instances, 1 of them without any; "
        "by attention of memnet, words taken where the entropy is below 4 bits."
    )
    tables = {table.all("caption")[0].text: [cells(row) for row in table.all("tr")] for table in document.all("table")}
    by_round = next(rows for caption, rows in tables.items() if caption.startswith("Training instances by round"))
    assert by_round[0] == ["round", "active", "misleading", "entropy", "open", "right"]
    assert by_round[2] == ["2", "1", "2", "3.25", "50.0%", "90.0%"]
    assert tables["Most frequent active words, by gold label"] == [
        ["word", "times", "positive"],
        ["huge", "1", "100%"],
        ["is", "1", "100%"],
    ]
    assert tables["Most frequent misleading words, by gold label"][1] == ["but", "1", "100%"]


def test_evidence_that_was_not_mined_has_counts_too() -> None:
    header = replace(HEADER, epsilon=None, edits=("flip 'but': 1 changed",))
    document = parse(show_evidence(Evidence(header, (TABLE_2,))).body.source)
    assert "no threshold. Edited since: flip 'but': 1 changed." in document.all("p")[0].text
    rows = [cells(row) for row in document.all("table")[0].all("tr")]
    assert rows[1:] == [["1", "1", "0", "3.270"], ["2", "1", "0", "3.380"], ["3", "0", "1", "3.420"]]


def test_no_findings_make_a_short_section() -> None:
    document = parse(show_evidence(Evidence(HEADER, (example("a b c d"),))).body.source)
    assert len(document.all("table")) == 1
    assert document.all("h3") == []


@pytest.mark.slow
def test_six_thousand_sentences_stay_a_small_page_that_says_its_limit() -> None:
    texts = [f"The screen is huge{number} and <colorful> & but no led " + "word " * 20 for number in range(6000)]
    evidence = Evidence(HEADER, tuple(example(text, *TABLE_2.findings, id=str(n)) for n, text in enumerate(texts)))
    source = show_evidence(evidence).body.source
    assert len(source) < 100_000
    assert "24 of the 6000 instances with findings" in source
    assert len(parse(source).all("table", "rounds")) == 24


def test_words_from_strangers_stay_words() -> None:
    given = example('<script> screen "x" & \'', found(0, ACTIVE, 1), found(3, MISLEADING, 2), id="<id>")
    document = parse(show_evidence(Evidence(HEADER, (given,))).body.source)
    assert document.all("script") == []
    assert document.all("table", "rounds")[0].all("caption")[0].text.startswith("<id>: ")
