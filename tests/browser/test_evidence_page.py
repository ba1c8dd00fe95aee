"""The review of evidence, as people do it: one key a change, nothing lost over reloads and kills, two windows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.conftest import Files
from tests.browser.server import Server

from pssa.cli import main
from pssa.data.evidence import ExampleEvidence
from pssa.data.evidence_file import read_evidence

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
expect: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

OpenPage = Callable[..., "Page"]


@pytest.fixture
def page(open_page: OpenPage, review_server: Server) -> Page:
    """Where changes are made."""
    return _opened(open_page, review_server)


@pytest.fixture
def reading(open_page: OpenPage, server: Server) -> Page:
    """Where nothing is changed."""
    return _opened(open_page, server)


def _opened(open_page: OpenPage, server: Server, phone: bool = False) -> Page:
    page = open_page(server.address("/evidence"), phone)
    expect(page.locator("#sentence-title")).to_have_text("Sentence 1 of 160")
    return page


@pytest.fixture
def first(files: Files) -> ExampleEvidence:
    """The first sentence: it has findings, words without any, and an aspect."""
    found = read_evidence(files.evidence).examples[0]
    assert len(found.findings) == 2
    return found


def _free(example: ExampleEvidence) -> int:
    """A word that is neither aspect nor found."""
    taken = {*range(*example.aspect), *(finding.word for finding in example.findings)}
    return min(set(range(len(example.words))) - taken)


def _choose(page: Page, word: int) -> None:
    page.keyboard.press("Home")
    for _ in range(word):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#words button").nth(word)).to_be_focused()


def _shown(page: Page) -> list[str]:
    """What the page says of each word of its sentence."""
    expect(page.locator("#words button").first).to_be_visible()
    return [str(button.get_attribute("title")) for button in page.locator("#words button").all()]


def _log(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "evidence.jsonl.review.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


def _said(page: Page, message: str) -> None:
    expect(page.locator("#status")).to_contain_text(message)


def _review(page: Page, first: ExampleEvidence) -> list[str]:
    """Flip, drop, add, make it the other kind, undo that; and what is shown then."""
    one, two = (finding.word for finding in first.findings)
    other = {"active": "misleading", "misleading": "active"}[first.findings[0].kind]
    for word, key, said in (
        (one, "f", f"is now {other}. Saved."),
        (two, "d", "is dropped. Saved."),
        (_free(first), "a", "is now active. Saved."),
        (_free(first), "m", "is now misleading. Saved."),
        (_free(first), "u", "Undone"),
    ):
        _choose(page, word)
        page.keyboard.press(key)
        _said(page, said)
    return _shown(page)


def test_a_key_changes_a_word_and_every_change_is_in_the_log(
    page: Page, first: ExampleEvidence, tmp_path: Path
) -> None:
    shown = _review(page, first)
    assert (shown[first.findings[1].word], shown[_free(first)]) == ("not evidence", "active, found in round 1")
    assert [entry["action"] for entry in _log(tmp_path)] == ["flip", "drop", "active", "flip", "undo"]
    expect(page.locator("#totals")).to_contain_text("3 changes saved")
    for _ in range(3):
        page.keyboard.press("u")
    expect(page.locator("#totals")).to_contain_text("0 changes saved")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.keyboard.press("u")
    _said(page, "There is nothing to undo.")


def test_nothing_is_lost_by_a_reload_or_a_kill(page: Page, review_server: Server, first: ExampleEvidence) -> None:
    shown = _review(page, first)
    page.reload()
    expect(page.locator("#totals")).to_contain_text("3 changes saved")
    assert _shown(page) == shown

    review_server.kill()
    page.keyboard.press("d")
    _said(page, "The server does not respond")
    assert _shown(page) == shown
    review_server.start()
    page.reload()
    expect(page.locator("#totals")).to_contain_text("3 changes saved")
    assert _shown(page) == shown
    page.keyboard.press("u")
    expect(page.locator("#totals")).to_contain_text("2 changes saved")


def test_an_export_can_be_trained_with_by_the_command_on_the_page(
    page: Page, first: ExampleEvidence, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _choose(page, first.findings[0].word)
    page.keyboard.press("d")
    _said(page, "Saved.")
    page.get_by_role("button", name="Export reviewed evidence").click()
    command = shlex.split(page.locator("#command").inner_text())
    written = tmp_path / "evidence.reviewed-1.jsonl"
    given = ["--train", str(files.corpus), "--model", "memnet", "--evidence", str(written), "--out", "RUN"]
    assert command == ["pssa", "train", *given]
    evidence = read_evidence(written)
    assert len(evidence.examples[0].findings) == 1
    assert evidence.header.edits[1].startswith("review drop ")
    page.get_by_text("Edits recorded in its header").click()
    expect(page.locator("#exported li").nth(1)).to_have_text(evidence.header.edits[1])
    monkeypatch.chdir(tmp_path)
    assert main([*command[1:], "--epochs", "1", "--set", "dimension=8", "--device", "cpu"]) == 0
    assert (tmp_path / "RUN" / "evidence.jsonl").read_bytes() == written.read_bytes()


def test_sentences_are_paged_by_button_and_by_key(reading: Page) -> None:
    title = reading.locator("#list-title")
    expect(title).to_have_text("Sentences 1 to 50 of 160")
    reading.get_by_role("button", name="Next page").click()
    expect(title).to_have_text("Sentences 51 to 100 of 160")
    reading.keyboard.press("k")
    expect(reading.locator("#sentence-title")).to_have_text("Sentence 50 of 160")
    reading.keyboard.press("j")
    expect(reading.locator("#sentence-title")).to_have_text("Sentence 51 of 160")


def test_sentences_are_filtered_also_after_a_reload(reading: Page, files: Files) -> None:
    examples = read_evidence(files.evidence).examples
    kinds = [
        {finding.kind for finding in example.findings if example.words[finding.word].casefold() == files.frequent}
        for example in examples
    ]
    negative = sum(example.label == "negative" for example in examples)
    active, either = sum("active" in found for found in kinds), sum(bool(found) for found in kinds)
    assert 1 < active <= either < 160

    reading.get_by_label("Label").select_option("negative")
    _counted(reading, negative)
    reading.get_by_role("button", name="Reset").click()
    _counted(reading, 160)
    reading.get_by_label("Word", exact=True).fill(files.frequent.upper())
    reading.get_by_label("Kind").select_option("active")
    _counted(reading, active)
    reading.reload()
    _counted(reading, active)
    expect(reading.get_by_label("Kind")).to_have_value("active")
    reading.get_by_role("button", name="Reset").click()
    _counted(reading, 160)
    reading.get_by_label("Show", exact=True).select_option("disagreements")
    _counted(reading, either)
    expect(reading.locator("#words .second").first).to_be_visible()


def _counted(page: Page, selected: int) -> None:
    expect(page.locator("#list-title")).to_have_text(f"Sentences 1 to {min(50, selected)} of {selected}")


def test_of_two_windows_the_late_one_reloads_its_sentence(
    page: Page, open_page: OpenPage, review_server: Server, first: ExampleEvidence, tmp_path: Path
) -> None:
    other = _opened(open_page, review_server)
    word = first.findings[0].word
    _choose(page, word)
    page.keyboard.press("d")
    _said(page, "is dropped. Saved.")
    _choose(other, word)
    other.keyboard.press("f")
    _said(other, "changed in another window")
    assert _shown(other)[word] == "not evidence"
    assert len(_log(tmp_path)) == 1
    other.keyboard.press("u")
    _said(other, "Undone")
    page.keyboard.press("u")
    _said(page, "nothing to undo")
    assert len(_log(tmp_path)) == 2


def test_the_same_can_be_done_with_a_mouse(page: Page, first: ExampleEvidence) -> None:
    word = first.findings[0].word
    kinds = {"active": "misleading", "misleading": "active"}
    page.locator("#words button").nth(word).click()
    page.get_by_role("button", name="Flip").click()
    _said(page, f"is now {kinds[first.findings[0].kind]}. Saved.")
    page.locator("#words button").nth(first.aspect[0]).click()
    for name in ("Active", "Misleading", "Flip", "Drop"):
        expect(page.locator("[data-action]").get_by_text(name)).to_be_disabled()
    page.locator("#list button").nth(2).click()
    expect(page.locator("#sentence-title")).to_have_text("Sentence 3 of 160")
    page.get_by_role("button", name="Undo").click()
    _said(page, "Undone")
    expect(page.locator("#sentence-title")).to_have_text("Sentence 1 of 160")


def test_keys_do_nothing_to_the_aspect_and_nothing_while_typing(reading: Page, first: ExampleEvidence) -> None:
    _choose(reading, first.aspect[0])
    reading.keyboard.press("a")
    _said(reading, "belongs to the aspect")
    reading.get_by_label("Word", exact=True).click()
    reading.keyboard.type("fdamu")
    expect(reading.get_by_label("Word", exact=True)).to_have_value("fdamu")
    expect(reading.locator("#totals")).to_contain_text("0 changes saved")


def test_rounds_are_shown_on_demand(reading: Page, first: ExampleEvidence) -> None:
    expect(reading.locator("#rounds table")).to_be_hidden()
    reading.get_by_text("Rounds: entropy, score and prediction").click()
    rows = reading.locator("#rounds tbody tr")
    expect(rows).to_have_count(2)
    finding = min(first.findings, key=lambda finding: finding.iteration)
    cells = rows.first.locator("td").all_inner_texts()
    assert cells == [
        first.words[finding.word],
        finding.kind,
        str(finding.iteration),
        f"{finding.entropy:.3f}",
        f"{finding.score:.3f}",
        finding.predicted,
        finding.gold,
    ]


def test_a_phone_shows_the_review_without_scrolling_sideways(open_page: OpenPage, server: Server) -> None:
    page = _opened(open_page, server, phone=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_text("Filter sentences").tap()
    page.get_by_text("Rounds: entropy").tap()
    page.get_by_role("button", name="Export").tap()
    expect(page.locator("#command")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_changes_need_the_token_that_the_printed_address_brings(
    open_page: OpenPage, drawn_server: Server, first: ExampleEvidence
) -> None:
    page = _opened(open_page, drawn_server)
    assert "token" not in page.url
    _choose(page, first.findings[0].word)
    page.keyboard.press("d")
    expect(page.locator("#totals")).to_contain_text("one change saved")
    page.reload()
    expect(page.locator("#words button").first).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("#totals")).to_contain_text("0 changes saved")
    other = open_page(f"{drawn_server.url}/evidence")
    expect(other.locator("#sentence-title")).to_have_text("Sentence 1 of 160")
    _choose(other, first.findings[0].word)
    other.keyboard.press("d")
    expect(other.get_by_label("This server requires a token")).to_be_focused()


def test_a_frequent_word_is_selected_in_each_sentence_and_dropped_everywhere(page: Page, tmp_path: Path) -> None:
    button = page.locator("#frequent button").first
    word = str(button.text_content())
    count = int(str(button.get_attribute("title")).split()[1])
    button.click()
    chosen = page.locator("#words button.chosen")
    for _ in range(min(count, 3)):
        expect(chosen).to_contain_text(re.compile(re.escape(word), re.IGNORECASE))
        page.keyboard.press("j")
    page.keyboard.press("d")
    _said(page, "Saved")
    page.get_by_role("button", name="Drop everywhere").click()  # also where it is dropped already
    _said(page, "is dropped in")
    assert [entry["action"] for entry in _log(tmp_path)] == ["drop"] * count
    page.keyboard.press("u")
    _said(page, "Undone")
    expect(page.locator("#totals")).to_contain_text("one change saved")
