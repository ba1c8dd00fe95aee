"""Labels: other names for them, and the texts that describe them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.data import read
from pssa.data.labels import label_sentences, read_label_map, read_label_texts
from pssa.errors import InputError

STARS = {"5": "positive", "4": "positive", "3": "", "1": "negative"}


def rows(*labels: Any) -> list[dict[str, Any]]:
    return [{"text": "The screen is nice", "aspect": "screen", "label": label} for label in labels]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("map.toml", '"5" = "positive"\n"4" = "positive"\n3 = ""\n"1" = "negative"\n'),
        ("map.csv", "from,to\n5,positive\n4,positive\n3,\n1,negative\n"),
        ("map.csv", "Note;To;From\n;positive;5\n;positive;4\n;;3\n;negative;1\n"),
    ],
)
def test_a_file_says_what_the_inline_form_says(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    inline = read_label_map("5=positive, 4=positive,3=,1=negative")
    assert read_label_map(str(tmp_path / name)) == read_label_map(STARS) == inline == STARS


@pytest.mark.parametrize("given", ["5", "=positive", "5=positive,5=negative", {"a": 1}, 7, "nowhere.toml"])
def test_a_map_that_cannot_be_read_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        read_label_map(given)


def test_a_csv_map_needs_its_two_columns(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("stars,meaning\n5,positive\n")
    with pytest.raises(InputError, match="stars, meaning; expected `from` and `to`"):
        read_label_map(tmp_path / "map.csv")


def test_labels_are_merged_dropped_and_kept() -> None:
    corpus = read(rows(5, "4", "3", " 1 ", "neutral"), label_map=STARS)
    assert [example.label for example in corpus] == ["positive", "positive", "negative", "neutral"]
    assert corpus.dropped == {"3": 1}
    assert read(rows("positive", "neutral"), label_map="neutral=").dropped == {"neutral": 1}


def test_labels_that_only_the_map_names_are_declared_by_it() -> None:
    assert read(rows("5", "1"), label_map="5=good,1=bad").labels == ("good", "bad")
    with pytest.raises(InputError, match="gives 'bad', which is not one of good"):
        read(rows("5", "1"), label_map="5=good,1=bad", labels=("good", "mixed"))


TEXTS = {"good": "I like the {aspect}", "bad": "{aspect} is bad"}


def test_texts_are_given_as_a_dict_or_in_one_line() -> None:
    assert read_label_texts(TEXTS) == TEXTS
    assert read_label_texts("good=I like the {aspect}, bad={aspect} is bad") == TEXTS
    assert read_label_texts({}) == {}


@pytest.mark.parametrize("given", [3, "good", {"good": "I like it"}, {"good": "{aspect} {aspect}"}, {"good": 1}])
def test_a_text_says_where_the_aspect_stands(given: Any) -> None:
    with pytest.raises(InputError, match=r"label_texts.*\{aspect\}"):
        read_label_texts(given)


def test_every_label_is_shown_for_every_aspect() -> None:
    found = label_sentences(TEXTS, ("bad", "good"), ["hard disk", "screen"])
    assert [(one.text, one.aspect_text, one.label) for one in found[:2]] == [
        ("hard disk is bad", "hard disk", "bad"),
        ("I like the hard disk", "hard disk", "good"),
    ]
    assert [one.aspect_text for one in found] == ["hard disk", "hard disk", "screen", "screen"]
