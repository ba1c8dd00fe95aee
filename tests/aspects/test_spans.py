"""Reading sentences with all their aspects, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pssa.aspects import AspectSentence, read_sentences
from pssa.errors import InputError

XML = """<sentences>
<sentence id="1"><text>The screen and the battery life are fine.</text><aspectTerms>
<aspectTerm term="battery life" polarity="conflict" from="19" to="31"/>
<aspectTerm term="screen" polarity="positive" from="4" to="10"/></aspectTerms></sentence>
<sentence id="2"><text>I bought it in May.</text></sentence>
<sentence id="3"><text>Food &amp; wine</text><aspectTerms>
<aspectTerm term="wine" polarity="neutral" from="7" to="11"/></aspectTerms></sentence>
</sentences>"""


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("content", [XML, XML.replace("\n", " ")])
def test_xml_keeps_sentences_without_aspects_and_conflicts(tmp_path: Path, content: str) -> None:
    one, two, three = read_sentences(write(tmp_path, "train.xml", content))
    assert [one.text[start:end] for start, end in one.aspects] == ["screen", "battery life"]
    assert (two.text, two.aspects) == ("I bought it in May.", ())
    assert (three.text, three.aspects) == ("Food & wine", ((7, 11),))


def test_opinions_of_later_years_count_once_and_null_is_no_aspect(tmp_path: Path) -> None:
    content = """<Reviews><Review><sentences>
    <sentence id="a"><text>Nice staff</text><Opinions>
    <Opinion target="staff" category="SERVICE" polarity="positive" from="5" to="10"/>
    <Opinion target="staff" category="STAFF" polarity="positive" from="5" to="10"/></Opinions></sentence>
    <sentence id="b"><text>Nice</text><Opinions>
    <Opinion target="NULL" category="GENERAL" polarity="positive" from="0" to="0"/></Opinions></sentence>
    </sentences></Review></Reviews>"""
    found = read_sentences(write(tmp_path, "later.xml", content))
    assert [(one.text, one.aspects) for one in found] == [("Nice staff", ((5, 10),)), ("Nice", ())]


def test_json_lines_have_lists_of_spans(tmp_path: Path) -> None:
    rows = lines(
        {"text": "Čistý 😀 pokoj", "aspects": [{"from": 8, "to": 13, "aspect": "pokoj"}], "label": "whatever"},
        {"text": "Nothing here", "aspects": []},
        {"text": "", "aspects": []},
    )
    found = read_sentences(write(tmp_path, "train.jsonl", rows))
    assert [(one.text, one.aspects) for one in found] == [
        ("Čistý 😀 pokoj", ((8, 13),)),
        ("Nothing here", ()),
        ("", ()),
    ]


def test_a_table_has_the_list_as_json(tmp_path: Path) -> None:
    content = 'text,aspects\nNice staff,"[{""from"": 5, ""to"": 10}]"\nNice,\n'
    found = read_sentences(write(tmp_path, "train.csv", content))
    assert [one.aspects for one in found] == [((5, 10),), ()]


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"text": "Nice staff", "aspect": "staff"}, "--group|group"),
        ({"text": "Nice staff"}, "aspects"),
        ({"aspects": []}, "text"),
        ({"text": 3, "aspects": []}, "text"),
        ({"text": "Nice staff", "aspects": "staff"}, "aspects"),
        ({"text": "Nice staff", "aspects": ["staff"]}, "from"),
        ({"text": "Nice staff", "aspects": [{"from": 5}]}, "to"),
        ({"text": "Nice staff", "aspects": [{"from": 5, "to": 11}]}, "5-11"),
        ({"text": "Nice staff", "aspects": [{"from": 4, "to": 5}]}, "4-5"),
        ({"text": "Nice staff", "aspects": [{"from": -1, "to": 4}]}, "-1-4"),
        ({"text": "Nice staff", "aspects": [{"from": True, "to": 4}]}, "from"),
        ({"text": "Nice staff", "aspects": [{"from": 0, "to": 4, "aspect": "staff"}]}, "staff"),
        ({"text": "x" * 100_001, "aspects": []}, "100001"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_by_its_line(tmp_path: Path, row: object, named: str) -> None:
    path = write(tmp_path, "train.jsonl", lines({"text": "Fine", "aspects": []}, row))
    with pytest.raises(InputError, match=rf"line 2.*({named})"):
        read_sentences(path)


@pytest.mark.parametrize(
    "content", ["not json\n", '{"text": "a", "aspects": [{"from": 0, "from": 0, "to": 1}]}\n', "[]\n"]
)
def test_what_is_no_json_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match="line 1"):
        read_sentences(write(tmp_path, "train.jsonl", content))


def test_one_aspect_a_line_is_refused_and_can_be_grouped(tmp_path: Path) -> None:
    rows = ("Nice staff and food,food,positive", "Cold soup,soup,negative", "Nice staff and food,staff,positive")
    content = "\n".join(["text,aspect,label", *rows, ""])
    path = write(tmp_path, "train.csv", content)
    with pytest.raises(InputError, match=r"line 2.*group"):
        read_sentences(path)
    found = read_sentences(path, group=True)
    assert [(one.text, one.aspects) for one in found] == [
        ("Nice staff and food", ((5, 10), (15, 19))),
        ("Cold soup", ((5, 9),)),
    ]


def test_of_aspects_that_overlap_the_longest_is_kept() -> None:
    found = AspectSentence.build("hard drive light", [(0, 4), (0, 10), (11, 16), (5, 12)])
    assert found.aspects == ((0, 10), (11, 16))


def test_triplets_are_read_by_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "train.txt", "A dim screen . It came late .####[([2], [1], 'NEG'), ([-1], [6], 'NEG')]\n")
    first, second = read_sentences(path)
    assert (first.text, first.aspects, second.aspects) == ("A dim screen .", ((6, 12),), ())
    assert first.sentence_id == second.sentence_id
    with pytest.raises(InputError, match=r"train\.txt, line 2"):
        read_sentences(write(tmp_path, "train.txt", "A fan .####[]\nA fan .####[(['x'], [1], 'NEG')]\n"))
