"""One sentence mined round by round, from made-up evidence."""

from __future__ import annotations

from pathlib import Path

from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import row_of, toy_scope

from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibits import find

EXHIBIT = find("mining")
PLACE = Place("laptop", "memnet", 0)
WORDS = ["the", "screen", "is", "huge", "and", "coloful", ",", "but", "no", "led", "backlighting", "."]


def look(way: str) -> Analysis:
    return Analysis(Training(PLACE, evidence=(Mining(PLACE, way),)), "mined_words", settings(lines=(1095,)))


def mined(*found: tuple[int, int, str]) -> Record:
    """Findings by round, word and prediction."""
    findings = [
        {"word": word, "iteration": number, "entropy": 2.0, "predicted": said, "kind": "active"}
        for number, word, said in found
    ]
    return {"found": [{"line": 1095, "words": WORDS, "aspect": [1, 2], "gold": "positive", "findings": findings}]}


def test_every_round_hides_what_earlier_ones_found(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {look("aw-as"): mined((1, 3, "positive"), (3, 7, "positive"))}
    attention, _ = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    # Eleven candidates: log2(11) = 3.46 and, with one hidden, log2(10) = 3.32.
    whole = "the [screen] is huge and coloful , but no led backlighting ."
    assert row_of(attention, "MN", 1) == (whole, "positive", 2.0, 3.46, "huge", "active")
    second = "the [screen] is _ and coloful , but no led backlighting ."
    assert row_of(attention, "MN", 2) == (second, None, None, 3.32, None, None)
    assert row_of(attention, "MN", 3)[4] == "but"
    assert row_of(attention, "MN", 4)[:1] == ("the [screen] is _ and coloful , _ no led backlighting .",)


def test_the_paper_prints_entropies_that_its_words_do_not_allow(tmp_path: Path) -> None:
    attention, gradients = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup())
    name = "paper, BERT-large"
    assert row_of(attention, name, 1)[1:] == ("positive", 3.27, 3.46, "huge", "active")
    assert row_of(attention, name, 6)[1:] == ("negative", 4.55, 2.58, None, None)
    assert row_of(gradients, name, 4)[2:4] == (3.55, 3.0)


def test_another_sentence_in_its_place_is_not_shown(tmp_path: Path) -> None:
    record = mined((1, 3, "positive"))
    record["found"][0]["words"] = ["another", *WORDS[1:]]
    attention, _ = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup({look("aw-as"): record}))
    assert {row[0] for row in getattr(attention, "rows", ())} == {"paper, BERT-large"}
