"""Heat maps of the paper's sentences, from made-up looks."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import row_of, toy_scope

from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibit import Picture, Table
from paper.studies.exhibits import case_study, find
from pssa.data import read
from pssa.data.tokenize import split_on_space

EXHIBIT = find("case-study")
LINES = settings(test=(273, 134, 57), train=(1095, 1262, 1222))
NOT_FAST = "not as fast as i would have expect for an i5 ."


def look(model: str, supervised: bool = False) -> Analysis:
    place = Place("laptop", model, 0)
    return Analysis(Training(place, evidence=(Mining(place, "pg-as"),) if supervised else ()), "heat", LINES)


def seen(text: str, line: int, negative: float) -> Record:
    """Attention on the third word alone, and the aspect is the eleventh."""
    spans = [list(span) for span in split_on_space(text)]
    probabilities = {"positive": 0.75 - negative, "negative": negative, "neutral": 0.25}
    described = {"text": text, "spans": spans, "aspect": [10, 11], "gold": "negative", "saliency": "attention"}
    shares = [float(place == 2) for place in range(len(spans))]
    return {"part": "test", "line": line, **described, "shares": shares, "probabilities": probabilities}


def test_the_encoders_models_are_looked_at_once(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "bertabsa", "bertabsa_att", seeds=5)
    assert list(EXHIBIT.cells(scope)) == [look("bertabsa"), look("bertabsa_att"), look("bertabsa_att", True)]


def test_each_sentence_has_a_picture_of_all_models(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("bertabsa"): {"found": [seen(NOT_FAST, 134, 0.125)]},
        look("bertabsa_att", True): {"found": [seen(NOT_FAST, 134, 0.5)]},
    }
    scope = toy_scope(tmp_path, "bertabsa", "bertabsa_att")
    note, table, shares, picture = EXHIBIT.show(scope, FakeLookup(records))
    assert isinstance(note, str)
    told = ("negative", "positive", "fast 1.00, not 0.00, as 0.00")
    assert row_of(table, "test 134", "i5", "BERTABSA") == told
    assert row_of(table, "test 134", "i5", "BERTABSA-ATT (+PG-AS)")[:2] == ("negative", "negative")
    # Ours, then the paper's.
    assert row_of(shares, "test 134", "fast") == (1.0, 0.087, None, 0.005, 1.0, 0.376)
    assert row_of(shares, "test 273", "higher") == (None, 0.263, None, 0.636, None, 0.391)
    assert isinstance(picture, Picture)
    assert (picture.name, picture.title) == (
        "case-study-2",
        "Case study, second sentence, test line 134, gold: negative",
    )
    drawn = "".join(ElementTree.fromstring(picture.svg).itertext())  # noqa: S314 - made here
    assert "i5 is positive 62.5 %, negative 12.5 %, neutral 25.0 % (by attention of BERTABSA)" in drawn
    assert "attention of BERTABSA-ATT (+PG-AS)" in drawn


def test_a_sentence_that_is_not_the_papers_is_not_shown(tmp_path: Path) -> None:
    other = "this is not the file that the paper was made from ."
    records: dict[Cell, Record] = {look("memnet"): {"found": [seen(other, 134, 0.5)]}}
    _, table, _, *pictures = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert isinstance(table, Table)
    assert (table.rows, pictures) == ((), [])


@pytest.mark.shared
def test_the_sentences_are_in_the_public_files(shared_data: Path) -> None:
    files = {part: read(shared_data / "laptop" / f"{part}.txt") for part in ("test", "train")}
    aspects = ["price", "i5", "screen", "ati graphics card", "screen", "performance"]
    for case, aspect in zip(case_study._CASES, aspects, strict=True):
        example = files[case.part][case.line - 1]
        assert example.text.startswith(case.begins)
        assert example.aspect_text == aspect
