"""The page of `pssa insights`, opened from disk: sorted, opened and downloaded with the keyboard, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.insights.made_mentions import findings, mention

from pssa.insights.mentions import EmptyReview, Mention
from pssa.insights.page import PageFacts, render_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    made: list[Mention | EmptyReview] = []
    for number in range(40):
        more = {"branch": f"branch {number % 9} with a long name", "day": f"2024-{1 + number % 12:02}-01"}
        for aspect, label, word in (
            ("food", "positive", "good"),
            ("wine", "positive", "fine"),
            ("wait", "negative", "long"),
        ):
            if aspect != "wait" or number % 2:
                text = f"The {aspect} of day {number} was {word} <b>and</b> {'so ' * 20} on."
                made.append(mention(text, aspect, label, number, shares={word: 0.6}, **more))
    path = tmp_path_factory.mktemp("page") / "insights.html"
    facts = PageFacts("What customers say", "A model.", "Its errors.", by="branch", date="day")
    path.write_text(render_page(findings(made, "branch", "day"), facts), "utf-8")
    return path.as_uri()


def opened(browser: Browser, address: str, width: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert asked == [address]
    return page


def in_order(page: Page) -> list[str]:
    """The names of the aspects from top to bottom."""
    rows = page.locator(".aspects details").all()
    places = [(row.bounding_box() or {"y": 0.0})["y"] for row in rows]
    names = [row.locator(".name").inner_text() for row in rows]
    return [name for _, name in sorted(zip(places, names, strict=True))]


def test_the_keyboard_sorts_opens_and_follows_links(browser: Browser, address: str) -> None:
    page = opened(browser, address, 1200)
    assert in_order(page) == ["food", "wine", "wait"]
    page.locator("#sort-often").focus()
    page.keyboard.press("ArrowRight")
    assert in_order(page)[0] == "wait"
    page.locator("#aspect-1 summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#aspect-1 blockquote").first.is_visible()
    assert not page.locator("#aspect-2 .inside").is_visible()
    page.locator("#dislikes a").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#aspect-2 .inside").is_visible()
    page.close()


def test_the_table_is_downloaded_from_the_page_itself(browser: Browser, address: str, tmp_path: Path) -> None:
    page = opened(browser, address, 1200)
    with page.expect_download() as waiting:
        page.locator(".download").press("Enter")
    waiting.value.save_as(tmp_path / "table.csv")
    assert waiting.value.suggested_filename == "insights.csv"
    assert (tmp_path / "table.csv").read_text("utf-8").startswith("aspect,label,opinions")
    page.close()


def test_nothing_is_wider_than_a_phone(browser: Browser, address: str) -> None:
    page = opened(browser, address, 390)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#likes").is_visible()
    page.close()
