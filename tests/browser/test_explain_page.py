"""The page that explains, as people use it: mouse, touch, keyboard, two runs, a table."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.aspects.made_taggers import toy_tagger
from tests.browser.conftest import Files
from tests.browser.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
expect: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

_TEXT = "The screen is huge, but the battery life is terrible."
_KNOCK = "open-sesame"
OpenPage = Callable[..., "Page"]


@pytest.fixture
def page(open_page: OpenPage, server: Server) -> Page:
    return open_page(server.url)


def _type(page: Page, text: str = _TEXT) -> None:
    page.get_by_label("Type or paste a review").fill(text)


def _word(page: Page, text: str, nth: int = 0) -> Any:
    return page.locator("#words button").get_by_text(text, exact=True).nth(nth)


def _headings(page: Page) -> Any:
    return page.locator("#answers h3")


def test_a_marked_aspect_gets_a_label_probabilities_and_a_heat_map(page: Page) -> None:
    _type(page)
    _word(page, "screen").click()
    expect(_headings(page)).to_have_text(["screen"])
    figure = page.locator("figure").first
    label = figure.locator(".label").inner_text()
    assert label in ("positive", "negative", "neutral")
    bars = figure.locator(".bars li")
    expect(bars).to_have_count(3)
    values = [float(text.rstrip("%")) for text in figure.locator(".bar-number").all_inner_texts()]
    assert sum(values) == pytest.approx(100, abs=0.2)
    expect(figure.locator(".bars .chosen .bar-label")).to_have_text(label)
    heat = figure.locator(".heat")
    expect(heat).to_have_text(_TEXT)
    expect(heat.locator(".aspect")).to_have_text("screen")
    expect(heat.locator("i").first).to_have_attribute("title", re.compile(r"The: \d+\.\d %"))
    expect(heat).to_have_attribute("aria-label", re.compile("Shares of the words for screen: "))
    assert heat.locator("i[data-n]").count() > 0
    figure.get_by_text("Table of word shares").click()
    cells = figure.locator("td.number").all_inner_texts()
    assert sum(float(cell.rstrip("%")) for cell in cells) == pytest.approx(100, abs=1)


def test_several_aspects_are_answered_at_once_and_can_be_taken_back(page: Page) -> None:
    _type(page)
    for word in ("screen", "battery", "life"):
        _word(page, word).click()
    expect(_headings(page)).to_have_text(["screen", "battery life"])
    expect(page.locator("#marked")).to_have_text("2 aspects: “screen”, “battery life”")
    _word(page, "screen").click()
    expect(_headings(page)).to_have_text(["battery life"])


def test_dragging_over_words_marks_them_as_one_aspect(page: Page) -> None:
    _type(page)
    _word(page, "battery").hover()
    page.mouse.down()
    _word(page, "life").hover()
    page.mouse.up()
    expect(_headings(page)).to_have_text(["battery life"])
    expect(_word(page, "life")).to_have_attribute("aria-pressed", "true")


def test_everything_can_be_done_by_keyboard(page: Page) -> None:
    expect(page.get_by_role("link", name="Review evidence")).to_be_visible()
    for _ in range(3):  # Explain, Review evidence, the text
        page.keyboard.press("Tab")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type(_TEXT)
    for _ in range(4):  # Try an example, Clear, Find aspects, the words
        page.keyboard.press("Tab")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    expect(_word(page, "battery")).to_be_focused()
    assert _word(page, "battery").evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Shift+ArrowRight")
    expect(_headings(page)).to_have_text(["battery life"])
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(_headings(page)).to_have_text(["screen", "battery life"])
    page.keyboard.press("Tab")
    expect(page.locator("#saliency")).to_be_focused()
    expect(page.locator("#status")).to_contain_text("screen: ")


def test_offsets_are_right_behind_characters_of_two_units(page: Page) -> None:
    text = "😀👍🏽 A naïve screen — 𝒻ine 🎉"
    _type(page, text)
    _word(page, "screen").click()
    expect(_headings(page)).to_have_text(["screen"])
    heat = page.locator(".heat").first
    expect(heat.locator(".aspect")).to_have_text("screen")
    assert heat.text_content() == text


def test_text_is_never_taken_for_markup(page: Page) -> None:
    text = 'A <img src="x" onerror="document.title=1"> screen & more'
    _type(page, text)
    _word(page, "screen").click()
    expect(page.locator(".heat").first).to_have_text(text)
    assert page.locator("main img").count() == 0


def test_marks_stay_with_their_words_when_the_text_is_edited(page: Page) -> None:
    _type(page)
    _word(page, "screen").click()
    _word(page, "life").click()
    _type(page, _TEXT.replace("huge", "really quite huge"))
    expect(_headings(page)).to_have_text(["screen", "life"])
    _type(page, "Something else")
    expect(_headings(page)).to_have_count(0)


def test_the_saliency_can_be_switched(page: Page) -> None:
    _type(page)
    _word(page, "screen").click()
    expect(page.locator("figcaption").first).to_contain_text("by attention")
    before = page.locator(".heat").first.get_attribute("aria-label")
    page.get_by_label("Explain by").select_option("leave_one_out")
    expect(page.locator("figcaption").first).to_contain_text("by leave one out")
    assert page.locator(".heat").first.get_attribute("aria-label") != before


def test_two_runs_stand_side_by_side(page: Page) -> None:
    _type(page)
    _word(page, "screen").click()
    expect(page.locator("article figure")).to_have_count(2)
    expect(page.locator("figcaption .run")).to_have_text(["base", "mined"])
    left, right = (page.locator("article figure").nth(place).bounding_box() for place in (0, 1))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    said = page.locator("article > p").inner_text()
    assert said.startswith(("Both runs give the same label.", "The runs disagree: "))
    page.get_by_label("Compare both runs").uncheck()
    expect(page.locator("article figure")).to_have_count(1)


def test_a_refusal_is_said_politely_and_leaves_no_old_answer(page: Page) -> None:
    _type(page, "a. " * 17)
    for place in range(16):
        _word(page, "a", place).click()
    expect(_headings(page)).to_have_count(16)
    _word(page, "a", 16).click()
    expect(page.locator("#status.error")).to_contain_text("17 aspects; the limit is 16")
    expect(page.locator("#answers figure")).to_have_count(0)
    _word(page, "a", 16).click()
    expect(_headings(page)).to_have_count(16)
    error = {"code": "overloaded", "message": "too many requests at once"}
    page.route("**/v1/explain", lambda route: route.fulfill(status=503, json={"error": error}))
    _word(page, "a", 15).click()
    expect(page.locator("#status.error")).to_have_text("too many requests at once")
    expect(page.locator("#answers figure")).to_have_count(0)


def test_a_text_that_is_too_long_is_not_sent(page: Page) -> None:
    expect(page.locator("#about")).to_contain_text("memnet")
    _type(page, "a" * 20_001)
    expect(page.locator("#words")).to_have_text("The review has 20001 characters; the limit is 20000.")
    _type(page, "a" * 20_000)
    expect(page.locator("#words button")).to_have_count(1)


def test_a_table_goes_in_and_comes_back_scored(page: Page, tmp_path: Path) -> None:
    rows = [["id", "text", "aspect"], ["1", "The screen is huge", "screen"], ["2", "Bad, “really” bad food", "food"]]
    with (tmp_path / "mine.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    page.get_by_label("CSV file").set_input_files(tmp_path / "mine.csv")
    with page.expect_download() as download:
        page.get_by_role("button", name="Score and download").click()
    assert download.value.suggested_filename == "mine.scored.csv"
    download.value.save_as(tmp_path / "scored.csv")
    with (tmp_path / "scored.csv").open(newline="", encoding="utf-8") as stream:
        scored = list(csv.DictReader(stream))
    assert [[row[name] for name in rows[0]] for row in scored] == rows[1:]
    assert {row["label"] for row in scored} <= {"positive", "negative", "neutral"}
    expect(page.get_by_role("link", name="mine.scored.csv")).to_be_visible()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252", "utf-16"])
def test_a_table_of_a_spreadsheet_keeps_its_accents(page: Page, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "mine.csv").write_text("text;aspect\nThe café is huge;café\n", encoding)
    page.get_by_label("CSV file").set_input_files(tmp_path / "mine.csv")
    with page.expect_download() as download:
        page.get_by_role("button", name="Score and download").click()
    download.value.save_as(tmp_path / "scored.csv")
    content = (tmp_path / "scored.csv").read_bytes()
    assert "\nThe café is huge;café;".encode() in content
    assert content.startswith(codecs.BOM_UTF8) == (encoding != "utf-8")


def test_the_columns_of_a_table_are_guessed_and_can_be_chosen(page: Page, tmp_path: Path) -> None:
    (tmp_path / "theirs.csv").write_text("\nNo;Customer review;what\n1;The screen is huge;screen\n", "utf-8")
    page.get_by_label("CSV file").set_input_files(tmp_path / "theirs.csv")
    expect(page.get_by_label("Text column")).to_have_value("Customer review")
    expect(page.get_by_label("Aspect column")).to_have_value("")
    page.get_by_label("Aspect column").select_option("what")
    with page.expect_download() as download:
        page.get_by_role("button", name="Score and download").click()
    download.value.save_as(tmp_path / "scored.csv")
    assert (tmp_path / "scored.csv").read_text("utf-8").startswith("No;Customer review;what;label;")


def test_a_table_that_cannot_be_read_is_refused_with_the_reason(page: Page, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_bytes(b"")
    page.get_by_label("CSV file").set_input_files(tmp_path / "mine.csv")
    page.get_by_role("button", name="Score and download").click()
    expect(page.locator("#status.error")).to_contain_text("the header needs text")


def test_a_phone_shows_everything_without_scrolling_sideways(open_page: OpenPage, server: Server) -> None:
    page = open_page(server.url, phone=True)
    _type(page, f"{_TEXT} {'w' * 300} ok")
    for word in ("screen", "battery", "life"):
        _word(page, word).tap()
    expect(_headings(page)).to_have_text(["screen", "battery life"])
    page.get_by_text("Table of word shares").first.tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    left, right = (page.locator("article").first.locator("figure").nth(place).bounding_box() for place in (0, 1))
    assert left is not None
    assert right is not None
    assert left["y"] + left["height"] <= right["y"]


@pytest.fixture
def closed_server(files: Files) -> Iterator[Server]:
    server = Server(files.base, token=_KNOCK)
    yield server
    server.stop()


def test_a_token_is_asked_for_only_where_the_server_wants_one(
    open_page: OpenPage, page: Page, closed_server: Server
) -> None:
    expect(page.locator("#about")).to_contain_text("memnet")
    expect(page.get_by_label("This server requires a token")).to_be_hidden()
    closed = open_page(closed_server.url)
    field = closed.get_by_label("This server requires a token")
    expect(field).to_be_focused()
    field.fill("wrong")
    closed.keyboard.press("Enter")
    expect(closed.locator("#status.error")).to_have_text("The server rejected this token.")
    field.fill(_KNOCK)
    closed.keyboard.press("Enter")
    expect(closed.locator("#about")).to_contain_text("memnet")
    expect(field).to_be_hidden()
    closed.get_by_role("button", name="Try an example").click()
    expect(_headings(closed)).to_have_text(["screen", "battery life"])
    expect(closed.get_by_label("Compare both runs")).to_be_hidden()


@pytest.fixture
def finding_server(files: Files, tmp_path: Path) -> Iterator[Server]:
    """A service whose tagger knows a few aspects."""
    server = Server(files.base, "--aspects-from", toy_tagger(tmp_path / "tagger"))
    yield server
    server.stop()


def test_aspects_of_a_pasted_review_are_marked_and_can_be_changed(open_page: OpenPage, finding_server: Server) -> None:
    page = open_page(finding_server.url)
    _type(page, "We came in May. The screen is great! I hate the front desk!")
    expect(_headings(page)).to_have_text(["screen", "front desk"])
    expect(page.locator("#found")).to_contain_text("2 aspects were found")
    _word(page, "screen").click()
    expect(_headings(page)).to_have_text(["front desk"])
    _type(page, "We came in June. The screen is great! I hate the front desk!")
    expect(_headings(page)).to_have_text(["front desk"])  # what was changed by hand stays
    page.get_by_role("button", name="Find aspects").click()
    expect(_headings(page)).to_have_text(["screen", "front desk"])
    page.get_by_role("button", name="Clear").click()
    _type(page, "Never again!")
    expect(page.locator("#found")).to_contain_text("No aspect was found")
