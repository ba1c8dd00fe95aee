"""SemEval XML, all years."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.data.example import Example
from pssa.data.formats import semeval_xml
from pssa.data.io import read
from pssa.errors import InputError

_2014 = """<?xml version="1.0" encoding="UTF-8"?>
<sentences>
  <sentence id="81">
    <text>Screen &amp; keys: the screen is great, "keys" awful.</text>
    <aspectTerms>
      <aspectTerm term="screen" polarity="positive" from="19" to="25"/>
      <aspectTerm term="keys" polarity="negative" from="37" to="41"/>
      <aspectTerm term="Screen" polarity="conflict" from="0" to="6"/>
    </aspectTerms>
  </sentence>
  <sentence id="82"><text>I like it.</text></sentence>
</sentences>
"""

_2016 = """<Reviews><Review rid="1"><sentences>
<sentence id="1:0"><text>Judging from the food, leave.</text><Opinions>
<Opinion target="food" category="FOOD#QUALITY" polarity="negative" from="17" to="21"/>
<Opinion target="NULL" category="SERVICE#GENERAL" polarity="negative" from="0" to="0"/>
</Opinions></sentence>
</sentences></Review></Reviews>
"""


def _file(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "data.xml"
    path.write_text(content)
    return path


def test_each_aspect_term_is_an_instance_of_its_sentence(tmp_path: Path) -> None:
    corpus = read(_file(tmp_path, _2014))
    assert [(e.id, e.sentence_id, e.aspect_text, e.aspect_chars, e.label) for e in corpus] == [
        ("81:0", "81", "screen", (19, 25), "positive"),
        ("81:1", "81", "keys", (37, 41), "negative"),
    ]
    assert corpus.dropped == {"conflict": 1, "no_aspect": 1}


def test_opinion_targets_are_read_and_null_targets_counted(tmp_path: Path) -> None:
    corpus = read(_file(tmp_path, _2016))
    assert [(e.aspect_text, e.label) for e in corpus] == [("food", "negative")]
    assert corpus.dropped == {"null_target": 1}


def test_wrong_offsets_name_the_line_of_the_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'screen' is not at its offsets 18-25"):
        read(_file(tmp_path, _2014.replace('"19"', '"18"')))


def test_malformed_xml_names_its_line_and_keeps_what_came_before(tmp_path: Path) -> None:
    path = _file(tmp_path, _2014.replace('<sentence id="82">', "<sentence id=82>"))
    report = check(path)
    assert report.instances == 2
    assert [(problem.line, problem.rejected) for problem in report.problems] == [(11, True)]


def test_text_with_markup_quotes_and_line_ends_survives(tmp_path: Path) -> None:
    text = "a <b> & \"menu\"\r\nof 'x'\tend"
    path = tmp_path / "out.xml"
    path.write_bytes(semeval_xml.encode([Example.from_text(text, (9, 13), label="neutral")]))
    assert [(e.text, e.aspect_chars) for e in read(path)] == [(text, (9, 13))]


def test_a_sentence_is_written_once_with_all_its_aspects() -> None:
    text = "good menu , bad bar"
    examples = [Example.from_text(text, span, label="neutral") for span in ((5, 9), (16, 19))]
    assert semeval_xml.encode(examples).count(b"<sentence ") == 1


def test_a_character_that_xml_forbids_cannot_be_written() -> None:
    with pytest.raises(InputError, match="does not allow"):
        semeval_xml.encode([Example.from_text("a menu \x01", (2, 6), label="neutral")])
