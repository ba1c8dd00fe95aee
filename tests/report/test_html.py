"""Heat maps as HTML, read back with a parser."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from tests.report.documents import explanation, explanations, parse, plain, refuse_outside

from pssa.report.heat_map import clean
from pssa.report.html import HEAT_STYLE, html_fragment, make_environment, to_html
from pssa.report.svg import to_svg
from pssa.report.terminal import to_terminal
from pssa.runs.answers import Explanation

TEXT = "The screen is huge, but the battery dies."
SCREEN = explanation(TEXT, "screen", {"huge": 0.5, "is": 0.125, "dies": 0.03}, "positive")
BATTERY = explanation(TEXT, "battery", {"dies": 0.25})


def test_every_word_sentence_and_caption_says_its_numbers() -> None:
    document = parse(html_fragment(SCREEN))
    titles = [word.attributes["title"] for word in document.all("i")]
    assert titles[:4] == ["The: 0.0 %", "is: 12.5 %", "huge: 50.0 %", ",: 0.0 %"]
    assert len(titles) == 9
    (aspect,) = document.all("b", "aspect")
    assert (aspect.text, aspect.attributes["title"]) == ("screen", "the aspect")
    (sentence,) = parse(html_fragment(SCREEN)).all("p", "heat")
    assert sentence.attributes["role"] == "img"
    assert sentence.attributes["dir"] == "auto"
    said = "The [screen] is huge, but the battery dies. Shares by attention: huge 50.0 %, is 12.5 %."
    assert sentence.attributes["aria-label"] == said
    (caption,) = parse(html_fragment(SCREEN, "my run")).all("figcaption")
    assert caption.text == "my run: screen is positive 25.0 % · negative 62.5 % · neutral 12.5 % by attention"


def test_a_withheld_label_and_notes_are_shown_wherever_a_person_reads() -> None:
    notes = ("mostly unknown words (9 of 9)", "aspect <unseen>")
    given = replace(SCREEN, answer=replace(SCREEN.answer, label="uncertain", notes=notes))
    (caption,) = parse(html_fragment(given)).all("figcaption")
    assert caption.text == "screen is uncertain · positive 25.0 % · negative 62.5 % · neutral 12.5 % by attention"
    said = "mostly unknown words (9 of 9); aspect <unseen>; do not rely on this answer"
    for page in (to_html([given]), given._repr_html_()):
        assert [note.text for note in parse(page).all("p", "note") if "rely" in note.text] == [f"Note: {said}."]
    assert "is uncertain, positive 25.0 %" in plain(to_terminal([given]))
    assert "note:" not in plain(to_terminal([given]))
    assert plain(to_terminal([given], with_notes=True)).endswith(f"\n  note: {said}\n")
    assert "is uncertain, positive 25.0 %" in to_svg([given])


def test_a_page_shows_the_aspects_of_a_sentence_under_one_heading() -> None:
    page = to_html([SCREEN, BATTERY, explanation("So what", "what", {})], title="Two <sentences>")
    document = parse(page)
    assert [heading.text for heading in document.all("h2")] == ["Sentence 1", "Sentence 2"]
    assert [len(section.all("figure")) for section in document.all("section")] == [2, 1]
    assert [title.text for title in document.all("title") + document.all("h1")] == ["Two <sentences>"] * 2
    refuse_outside(page)


def test_two_runs_stand_side_by_side_with_what_changed_and_one_stands_alone() -> None:
    before = explanation(TEXT, "screen", {"huge": 0.25, "but": 0.625})
    document = parse(to_html([SCREEN], versus=[before], names=("after <b>", "before")))
    (both,) = document.all("div", "side-by-side")
    assert [caption.text.split(":")[0] for caption in both.all("figcaption")] == ["before", "after <b>"]
    changed = (
        "Shares that changed most: but 62.5 % to 0.0 %, huge 25.0 % to 50.0 %, is 0.0 % to 12.5 %, dies 0.0 % to 3.0 %."
    )
    assert document.all("p", "note")[-1].text == changed
    assert "No share changed." in to_html([SCREEN], versus=[SCREEN], names=("a", "b"))
    alone = to_html([SCREEN])
    assert html_fragment(SCREEN) in alone
    assert "side-by-side" not in alone.partition("<body>")[2]


@given(st.text(st.characters()))
def test_text_is_text_in_elements_and_in_attributes(text: str) -> None:
    template = make_environment().from_string('<p title="{{ text }}">{{ text }}</p>')
    (element,) = parse(template.render(text=text)).children
    assert element.text == element.attributes["title"] == clean(text)


def test_a_table_has_a_caption_and_heads_with_their_scope() -> None:
    source = '{% from "table.html.jinja" import table %}{{ table("Fruit & more", ("name", "count"), rows) }}'
    rows = [["<pear>", 2], ["plum", Markup("<b>3</b>")]]
    found = parse(make_environment().from_string(source).render(rows=rows))
    assert [caption.text for caption in found.all("caption")] == ["Fruit & more"]
    assert [(head.text, head.attributes["scope"]) for head in found.all("th")] == [
        ("name", "col"),
        ("count", "col"),
        ("<pear>", "row"),
        ("plum", "row"),
    ]
    assert [cell.text for cell in found.all("td")] == ["2", "3"]
    assert found.all("table")[0].attributes["class"] == "numbers"


def test_a_page_is_complete_and_forbids_everything_from_outside() -> None:
    found = to_html([], title="A <title>")
    assert found.startswith("<!DOCTYPE html>")
    document = parse(found)
    assert document.all("html")[0].attributes["lang"] == "en"
    assert document.all("title")[0].text == "A <title>"
    policies = [meta.attributes.get("content") for meta in document.all("meta") if "http-equiv" in meta.attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    refuse_outside(found)


def test_templates_of_another_folder_may_extend_those_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text(
        '{% extends "page.html.jinja" %}{% block body %}<p>{{ text }}</p>{% endblock %}'
    )
    found = make_environment(tmp_path).get_template("own.jinja").render(title="Own", text="<b>")
    assert parse(found).all("p")[0].text == "<b>"


def test_a_fragment_needs_no_other_style() -> None:
    elements = parse(html_fragment(SCREEN)).all()
    used = {name for element in elements for name in element.attributes.get("class", "").split()}
    assert used == {"heat-map", "by", "heat", "aspect", "h10", "h3", "h1"}
    assert used <= set(re.findall(r"\.([a-z][\w-]*)", HEAT_STYLE))


def test_text_cannot_become_markup() -> None:
    text = """<script>alert("1")</script> 'quoted' & <img src=x onerror=y> the screen\x1b[31m"""
    given = explanation(text, "screen", {"script": 0.5, '"': 0.1, "<": 0.2})
    page = to_html([given], versus=[given], title=text, names=(text, text))
    refuse_outside(page)
    assert all(sentence.text == clean(text) for sentence in parse(page).all("p", "heat")[1:])
    assert "\x1b" not in page


@pytest.mark.slow
@given(explanations())
def test_any_text_comes_back_whole_with_its_numbers(given: Explanation) -> None:
    page = to_html([given], versus=[given])
    refuse_outside(page)
    page.encode()
    for sentence in parse(page).all("p", "heat")[1:]:
        assert sentence.text == clean(given.text)
        words = sentence.all("i")
        shares = [share for index, share in enumerate(given.shares) if not given.aspect[0] <= index < given.aspect[1]]
        assert [word.attributes["title"] for word in words] == [
            f"{word.text}: {100 * share:.1f} %" for word, share in zip(words, shares, strict=True)
        ]
