"""Heat maps as HTML, read back with a parser."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from tests.report.documents import explanation, explanations, parse, refuse_outside

from pssa.report.heat import Pair, clean, level
from pssa.report.html import STYLE, comparison_fragment, html_fragment, legend, to_html
from pssa.runs.explain import Explanation

TEXT = "The screen is huge, but the battery dies."
SCREEN = explanation(TEXT, "screen", {"huge": 0.5, "is": 0.125, "dies": 0.03}, "positive")
BATTERY = explanation(TEXT, "battery", {"dies": 0.25})


def test_every_word_has_its_number_in_its_title() -> None:
    document = parse(html_fragment(SCREEN))
    titles = [word.attributes["title"] for word in document.all("i")]
    assert titles[:4] == ["The: 0.0%", "is: 12.5%", "huge: 50.0%", ",: 0.0%"]
    assert len(titles) == 9
    (aspect,) = document.all("b", "aspect")
    assert (aspect.text, aspect.attributes["title"]) == ("screen", "the aspect")


def test_heat_is_a_class_and_hot_words_show_their_number() -> None:
    words = {word.text: word.attributes for word in parse(html_fragment(SCREEN)).all("i")}
    assert (words["huge"]["class"], words["huge"]["data-n"]) == ("h10", ".50")
    assert (words["is"]["class"], words["is"]["data-n"]) == ("h3", ".12")
    assert words["dies"]["class"] == "h1"
    assert "data-n" not in words["dies"]
    assert "class" not in words["The"]


def test_who_cannot_see_it_is_told_the_sentence_and_its_numbers() -> None:
    (sentence,) = parse(html_fragment(SCREEN)).all("p", "heat")
    assert sentence.attributes["role"] == "img"
    assert sentence.attributes["dir"] == "auto"
    said = "The [screen] is huge, but the battery dies. Shares by attention: huge 50.0%, is 12.5%."
    assert sentence.attributes["aria-label"] == said


def test_the_caption_says_label_probabilities_and_saliency() -> None:
    (caption,) = parse(html_fragment(SCREEN, "my run")).all("figcaption")
    assert caption.text == "my run: screen is positive 0.250 · negative 0.625 · neutral 0.125 by attention"


def test_a_page_shows_the_aspects_of_a_sentence_under_one_heading() -> None:
    page = to_html([SCREEN, BATTERY, explanation("So what", "what", {})], title="Two <sentences>")
    document = parse(page)
    assert [heading.text for heading in document.all("h2")] == ["Sentence 1", "Sentence 2"]
    assert [len(section.all("figure")) for section in document.all("section")] == [2, 1]
    assert [title.text for title in document.all("title") + document.all("h1")] == ["Two <sentences>"] * 2
    refuse_outside(page)


def test_two_runs_stand_side_by_side_with_what_changed() -> None:
    before = explanation(TEXT, "screen", {"huge": 0.25, "but": 0.625})
    document = parse(to_html([SCREEN], versus=[before], names=("after <b>", "before")))
    (both,) = document.all("div", "side-by-side")
    assert [caption.text.split(":")[0] for caption in both.all("figcaption")] == ["before", "after <b>"]
    changed = "Shares that changed most: but 62.5% to 0.0%, huge 25.0% to 50.0%, is 0.0% to 12.5%, dies 0.0% to 3.0%."
    assert document.all("p", "note")[-1].text == changed


def test_nothing_changed_is_said_too_and_one_alone_stands_alone() -> None:
    both = comparison_fragment(Pair(SCREEN, SCREEN), ("a", "b"))
    assert "No share changed." in both
    assert both in to_html([SCREEN], versus=[SCREEN], names=("a", "b"))
    assert comparison_fragment(Pair(SCREEN), ("a", "b")) == html_fragment(SCREEN)


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
            f"{word.text}: {share:.1%}" for word, share in zip(words, shares, strict=True)
        ]


def test_a_page_is_no_larger_than_its_words_ask_for() -> None:
    long = explanation("so " * 500 + "screen", "screen", {"so": 0.002})
    assert len(to_html([long])) < 60_000


def test_the_legend_shows_the_colours_that_words_get() -> None:
    samples = parse(legend().source).all("i")
    assert [(sample.text, sample.attributes["class"]) for sample in samples] == [
        (f"{share:.0%}", f"h{level(share)}") for share in (0.05, 0.1, 0.2, 0.3, 0.4)
    ]


def test_hotter_words_are_darker_and_thicker_underlined() -> None:
    found = re.findall(r"\.h(\d+) \{ background: rgba\(\d+, \d+, \d+, ([\d.]+)\); border-bottom: (\d)px", STYLE)
    assert [int(heat) for heat, _, _ in found] == list(range(1, 11))
    opacities, widths = [float(found) for _, found, _ in found], [int(found) for *_, found in found]
    assert opacities == sorted(set(opacities))
    assert widths == sorted(widths)
    assert (widths[0], widths[-1]) == (0, 4)
