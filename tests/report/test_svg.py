"""Heat maps as SVG, read back as XML, and widths without a font."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st
from tests.report.documents import explanation, explanations

from pssa.errors import InputError
from pssa.report.heat_map import clean
from pssa.report.svg import cut, is_right_to_left, text_width, to_svg
from pssa.runs.answers import Explanation

SPACE = "{http://www.w3.org/2000/svg}"
TEXT = "The screen is huge, but the battery dies."
SCREEN = explanation(TEXT, "screen", {"huge": 0.5, "is": 0.125, "dies": 0.03}, "positive")


def read(drawing: str) -> Element:
    root = fromstring(drawing)
    assert isinstance(root, Element)
    return root


def draw(given: list[Explanation], **options: Any) -> Element:
    return read(to_svg(given, **options))


def words_of(drawing: Element) -> list[Element]:
    """The text of every word, without the numbers below."""
    found = [group.find(f"{SPACE}text") for group in drawing.iter(f"{SPACE}g")]
    return [word for word in found if word is not None]


def test_every_word_has_its_number_in_its_title() -> None:
    drawing = draw([SCREEN])
    titles = [title.text for title in drawing.iter(f"{SPACE}title")]
    assert titles[:5] == ["The: 0.0 %", "the aspect", "is: 12.5 %", "huge: 50.0 %", ",: 0.0 %"]
    assert [word.text for word in words_of(drawing)][:5] == ["The", "screen", "is", "huge", ","]
    assert "huge 50.0 %" in drawing.attrib["aria-label"]
    assert drawing.attrib["role"] == "img"


def test_hot_words_have_heat_a_line_and_their_number_below() -> None:
    groups = {group.findtext(f"{SPACE}title"): group for group in draw([SCREEN]).iter(f"{SPACE}g")}
    heat, line = groups["huge: 50.0 %"].findall(f"{SPACE}rect")
    assert (heat.attrib["fill-opacity"], line.attrib["height"]) == ("0.85", "4.0")
    assert [text.text for text in groups["huge: 50.0 %"].findall(f"{SPACE}text")] == ["huge", ".50"]
    assert groups["The: 0.0 %"].findall(f"{SPACE}rect") == []
    (frame,) = groups["the aspect"].findall(f"{SPACE}rect")
    assert frame.attrib["fill"] == "none"


def test_lines_end_at_white_space() -> None:
    # The line has 176 pixels: the aspect takes 57.9, a space 4.4, an a 8.9, a ! 4.4: the second ! would not fit.
    given = explanation("screen aaaaaaaaaaaa!! so", "screen", {})
    lines: dict[str, str] = {}
    for word in words_of(draw([given], width=200)):
        lines[word.attrib["y"]] = lines.get(word.attrib["y"], "") + (word.text or "")
    assert list(lines.values()) == ["screen", "aaaaaaaaaaaa!!so"]


def test_a_word_longer_than_a_line_is_cut_and_numbered_once() -> None:
    given = explanation("x" * 200 + " screen", "screen", {"x" * 200: 1.0})
    drawing = draw([given], width=300)
    parts = [word for word in words_of(drawing) if set(word.text or "") == {"x"}]
    assert len(parts) > 2
    assert "".join(part.text or "" for part in parts) == "x" * 200
    assert [text.text for text in drawing.iter(f"{SPACE}text")].count("1.0") == 1


def test_text_that_runs_to_the_left_begins_at_the_right() -> None:
    given = explanation("הסוללה נגמרת מהר", "הסוללה", {"מהר": 0.5})
    places = [float(word.attrib["x"]) for word in words_of(draw([given]))]
    assert places == sorted(places, reverse=True)
    assert places[0] > 500


def test_two_runs_stand_below_each_other_with_what_changed() -> None:
    before = explanation(TEXT, "screen", {"huge": 0.25})
    texts = [text.text or "" for text in draw([SCREEN], versus=[before]).iter(f"{SPACE}text")]
    heads = [text for text in texts if text.startswith(("this run: ", "versus: "))]
    assert [head.split(":")[0] for head in heads] == ["versus", "this run"]
    assert texts[-1] == "changed most: huge .25 to .50, is .00 to .12, dies .00 to .03"


def test_a_narrow_drawing_is_refused() -> None:
    with pytest.raises(InputError, match="is 100; a heat map needs at least 200"):
        to_svg([SCREEN], width=100)


def test_no_drawing_refers_to_anything_outside() -> None:
    drawing = to_svg([explanation('a <script src="http://x"/> screen', "screen", {})])
    assert drawing.count("http://www.w3.org/2000/svg") == 1
    tags = {element.tag.removeprefix(SPACE) for element in read(drawing).iter()}
    assert tags == {"svg", "rect", "g", "title", "text"}


@pytest.mark.slow
@given(explanations(), st.integers(200, 900))
def test_any_text_is_drawn_whole_and_inside_the_frame(given: Explanation, width: int) -> None:
    drawing = draw([given], width=width)
    words = words_of(drawing)
    assert "".join("".join(word.text or "" for word in words).split()) == "".join(clean(given.text).split())
    height = float(drawing.attrib["height"])
    for word in words:
        assert float(word.attrib["x"]) >= 0
        assert float(word.attrib["x"]) + float(word.attrib.get("textLength", 0)) <= width + 0.1
        assert 0 < float(word.attrib["y"]) < height


def test_marks_joiners_and_what_they_join_take_no_room_and_stay_together() -> None:
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("👩\u200d👧", 10) == text_width("👩", 10) == 10
    assert text_width("屏幕", 10) == 20
    assert cut("xe\u0301y", 10, 7) == ["x", "e\u0301", "y"]


@given(st.text(), st.floats(20, 200))
def test_parts_fit_and_are_the_whole_text(text: str, most: float) -> None:
    parts = cut(text, 16, most)
    assert "".join(parts) == text
    assert all(text_width(part, 16) <= most + 1e-6 for part in parts)


@pytest.mark.parametrize(
    ("text", "expected"), [("abc", False), ("123 שלום", True), ("سلام abc", True), ("abc שלום", False), ("12 !", False)]
)
def test_the_first_letter_with_a_direction_decides(text: str, expected: bool) -> None:
    assert is_right_to_left(text) is expected
