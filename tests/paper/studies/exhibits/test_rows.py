"""Rows of the tables, the paper's numbers beside them, and what only some exhibits have."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import blind, knowing, marked_scope, row_of, toy_scope

import paper
import pssa
from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.comparison import Change, Gain
from paper.experiments.ledger import Record
from paper.studies.exhibit import Picture, Table, plot_line
from paper.studies.exhibits import case_study, find, stress
from paper.studies.exhibits._rows import METHODS, ModelRow, Scoreboard, format_gain
from pssa.data import read
from pssa.data.tokenize import split_on_space
from pssa.stress import KINDS
from pssa.stress.variants import VERSION

PLAIN = ModelRow("memnet", METHODS[""])


def test_a_gain_is_of_the_seeds_that_both_have(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, seeds=2)
    boosted = ModelRow("memnet", METHODS["+Boosting"])
    first, second = (Place("laptop", "memnet", seed) for seed in (0, 1))
    known: dict[Cell, Record] = {
        Training(first): blind(),
        Training(second): knowing(),
        Training(second, "boosting"): knowing(),
    }
    gain = Scoreboard(scope, FakeLookup(known)).gain(boosted, PLAIN, "laptop")
    assert gain is not None
    assert (gain.accuracy.points, gain.macro_f1.points, gain.seeds) == (0.0, 0.0, 1)


INTERVAL = {"low macro-F1": -1.5, "high macro-F1": 0.5}


def test_a_gain_is_told_with_stars_and_keeps_its_chances() -> None:
    reading = format_gain(Gain(Change(1.25, 0.03, 0.97, 0.0, 2.5), Change(-0.5, 0.7, 0.3, -1.5, 0.5), 5, 1))
    assert reading is not None
    assert reading.text == "+1.25* / -0.50"
    assert (
        reading.parts
        == {"accuracy": 1.25, "macro-F1": -0.5, "p accuracy": 0.03, "p macro-F1": 0.7, "seeds": 5} | INTERVAL
    )
    assert format_gain(None) is None


def test_a_line_has_the_points_that_were_measured_and_one_value_has_no_spread() -> None:
    line = plot_line("MN", {100: [0.5, 0.5], 25: [], 50: [0.25]})
    assert (line.name, line.x, line.y, line.spread) == ("MN", (50, 100), (25, 50), (None, 0.0))
    assert plot_line("MN", {50: []}).x == ()


def test_test_scores_by_epoch_are_read_by_pages_alone() -> None:
    """Nothing that trains, tunes or sets a default reads what choosing on test would report."""
    folders = (Path(pssa.__file__).parent, Path(paper.__file__).parent)
    sources = (path for folder in folders for path in folder.rglob("*.py"))
    readers = {path.stem for path in sources if '["curve"]' in path.read_text("utf-8")}
    assert readers == {"_course", "_rows", "selection"}


EXHIBIT = find("stress")


def test_the_judged_variants_are_those_of_the_file_and_of_this_version(tmp_path: Path) -> None:
    path = Path(__file__).parents[4] / "results" / "raw" / "stress-judged.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    table = EXHIBIT.show(marked_scope(tmp_path, "memnet"), FakeLookup({}))[-1]
    assert row_of(table, "in all") == (f"{sum(row['sound'] for row in rows)} of {len(rows)}",)
    for kind in KINDS:
        own = [row["sound"] for row in rows if row["kind"] == kind]
        assert row_of(table, kind) == (f"{sum(own)} of {len(own)}",)
    assert tomllib.loads(stress._JUDGED.read_text("utf-8"))["version"] == VERSION


CASE_STUDY = find("case-study")
LINES = settings(test=(273, 134, 57), train=(1095, 1262, 1222))
NOT_FAST = "not as fast as i would have expect for an i5 ."


def look(model: str, supervised: bool = False) -> Analysis:
    place = Place("laptop", model, 0)
    return Analysis(Training(place, evidence=Mining(place, "pg-as") if supervised else None), "heat", LINES)


def seen(text: str, line: int, negative: float) -> Record:
    """Attention on the third word alone, and the aspect is the eleventh."""
    spans = [list(span) for span in split_on_space(text)]
    probabilities = {"positive": 0.75 - negative, "negative": negative, "neutral": 0.25}
    described = {"text": text, "spans": spans, "aspect": [10, 11], "gold": "negative", "saliency": "attention"}
    shares = [float(place == 2) for place in range(len(spans))]
    return {"part": "test", "line": line, **described, "shares": shares, "probabilities": probabilities}


def test_each_sentence_has_a_picture_of_all_models(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        look("bertabsa"): {"found": [seen(NOT_FAST, 134, 0.125)]},
        look("bertabsa_att", True): {"found": [seen(NOT_FAST, 134, 0.5)]},
    }
    scope = toy_scope(tmp_path, "bertabsa", "bertabsa_att")
    note, table, shares, picture = CASE_STUDY.show(scope, FakeLookup(records))
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
    _, table, _, *pictures = CASE_STUDY.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
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
