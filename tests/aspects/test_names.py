"""Finding given names: whole words, any case, singular and plural, the longest name; lists and files of names."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.aspects import NameFinder, find_in_texts, parse_names, read_names
from pssa.errors import InputError
from pssa.runs.answers import Question, examples_of


def find(text: str, *names: str) -> list[str]:
    return [each.aspect for each in find_in_texts(NameFinder(names), [text])[0]]


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        (("food",), "The FOOD was good, foods too; seafood, foodie.", ["FOOD", "foods"]),
        (("batteries",), "The battery died", ["battery"]),
        (("battery",), "Two batteries; battery's end", ["batteries", "battery"]),
        (("dish", "knife", "person"), "dishes, knives, people", ["dishes", "knives", "people"]),
        (("news", "glass", "bus"), "A new idea, glasses, the bu", ["glasses"]),
        (("front desk",), "Front  desk, front-desk and the front of a desk", ["Front  desk", "front-desk"]),
        (("wi-fi",), "wi-fi, Wi Fi, wi - fi", ["wi-fi", "Wi Fi"]),
        (("battery", "battery life", "life"), "battery life and battery", ["battery life", "battery"]),
        (("屏幕",), "这个屏幕很好", ["屏幕"]),
        (("café",), "The cafe\u0301 and the CAFÉ", ["cafe\u0301", "CAFÉ"]),
        (("straße",), "Die STRASSE ist laut", ["STRASSE"]),
        (("wifi",), "", []),
    ],
)
def test_names_are_found_as_whole_words(names: tuple[str, ...], text: str, expected: list[str]) -> None:
    assert find(text, *names) == expected


def test_an_aspect_has_its_offsets_in_the_review_and_is_judged_in_its_sentence() -> None:
    review = "😀 Nice. The front desk was slow!\n\nGood food."
    found = find_in_texts(NameFinder(("food", "front desk")), ["", review])[1]
    assert [each.aspect for each in found] == ["front desk", "food"]
    assert all(review[each.start : each.end] == each.aspect for each in found)
    ((example, _),) = examples_of(Question(review, ((found[0].start, found[0].end),)))
    assert (example.text, example.aspect_text) == ("The front desk was slow!", "front desk")


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("ab- '’.A屏幕s")), max_size=60))
def test_any_text_gets_spans_that_can_be_judged(text: str) -> None:
    found = find_in_texts(NameFinder(("a", "a b", "ab", "屏")), [text])[0]
    assert all(text[each.start : each.end] == each.aspect for each in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    asked = Question(text, tuple((each.start, each.end) for each in found))
    assert [example.aspect_text for example, _ in examples_of(asked)] == [each.aspect for each in found]


def test_many_names_and_a_long_text_take_no_long_time() -> None:
    finder = NameFinder((*(f"name {number}" for number in range(900)), "food " * 19 + "end"))
    began = time.process_time()
    assert len(find_in_texts(finder, ["food " * 15_000 + "name 77"])[0]) == 1
    assert time.process_time() - began < 10


def test_names_are_parsed_from_text_and_from_a_file(tmp_path: Path) -> None:
    assert parse_names(' food, "desk, front",wifi,,food') == ("food", "desk, front", "wifi")
    (tmp_path / "names.txt").write_text("\ufeff# names\nfood\n\n  front desk \r\nC#\n", "utf-8")
    assert read_names(tmp_path / "names.txt") == ("food", "front desk", "C#")


@pytest.mark.parametrize("content", ["", "# nothing\n", "food\n!!\n", "x" * 300, b"caf\xe9\n", "a " * 21])
def test_a_file_without_usable_names_is_refused(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=r"names\.txt"):
        read_names(path)


@pytest.mark.parametrize("given", ["", " , ", '"open', "...", "a\nb"])
def test_a_list_without_usable_names_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="aspect"):
        NameFinder(parse_names(given))
