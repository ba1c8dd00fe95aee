from __future__ import annotations

import base64
import csv
import io

import pytest
from tests.insights.made_mentions import findings, mention
from tests.report.documents import parse

from pssa.insights.mentions import EmptyReview, Mention
from pssa.insights.page import PageFacts, render_page

_HOSTILE = "<script>alert(1)</script>\"'&amp; </style> \x00\u202e"
_FACTS = PageFacts(
    "What customers say", "A model.", "Its errors.", "Trained on tea.", False, _HOSTILE, "day", 3, _HOSTILE
)


def page(mentions: list[Mention | EmptyReview], by: str | None = None, date: str | None = None) -> str:
    return render_page(findings(mentions, by, date), _FACTS)


def reviews() -> list[Mention | EmptyReview]:
    made: list[Mention | EmptyReview] = [EmptyReview([])]
    for number in range(30):
        more = {"branch": ("north", "south")[number % 2], "day": f"2024-01-{1 + number:02}"}
        made.append(mention(f"The food {number} was awful.", "food", "negative", number, shares={"awful": 0.7}, **more))
        made.append(
            mention(f"The wine {number} was lovely.", "wine", "positive", number, shares={"lovely": 0.7}, **more)
        )
    return made


def test_the_first_screen_says_what_they_like_and_dislike_and_why() -> None:
    document = parse(page(reviews(), "branch", "day"))
    by_id = {element.attributes["id"]: element.text for element in document.all() if "id" in element.attributes}
    for name, aspect, word in (("likes", "wine", "lovely"), ("dislikes", "food", "awful")):
        assert aspect in by_id[name]
        assert word in by_id[name]
        assert "100 %" in by_id[name]
    assert {"aspects", "groups", "time", "how", "aspect-0", "aspect-1"} <= by_id.keys()


def test_the_page_fetches_and_runs_nothing_and_its_table_is_inside() -> None:
    document = parse(page(reviews(), "branch", "day"))
    assert not document.all("script") + document.all("link") + document.all("img") + document.all("form")
    anchors = {element.attributes["id"] for element in document.all() if "id" in element.attributes}
    links = [element.attributes["href"] for element in document.all("a")]
    assert all(link[1:] in anchors for link in links if not link.startswith("data:text/csv"))
    content = base64.b64decode(next(link for link in links if link.startswith("data:")).partition("base64,")[2])
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [(row["aspect"], row["label"], row["labelled"], row["drivers"]) for row in rows[:2]] == [
        ("food", "positive", "0", ""),
        ("food", "negative", "30", "awful"),
    ]


@pytest.mark.parametrize("aspect", ["<b>food</b>", '"><script>x</script>', "food\x00", "еда", "食べ物"])
def test_hostile_and_foreign_reviews_are_shown_as_text(aspect: str) -> None:
    text = f"The {aspect} was {_HOSTILE} bad."
    made: list[Mention | EmptyReview] = [
        mention(text, aspect, "negative", number, shares={"bad": 0.5}, branch=_HOSTILE + str(number % 2))
        for number in range(8)
    ]
    html = page(made, "branch")
    document = parse(html)
    assert not document.all("script")
    assert "\x00" not in html
    assert "alert(1)" in document.text


def test_a_page_without_any_aspect_says_so() -> None:
    document = parse(page([EmptyReview([]), EmptyReview(["script unseen in training"])]))
    assert "No opinion was found in 2 reviews" in document.text
    assert "1 review without an aspect: script unseen in training" in document.text
    assert not document.all("details")


def test_time_and_groups_are_drawings_and_the_first_lines_say_how_far_to_trust() -> None:
    document = parse(page(reviews(), "branch", "day"))
    assert "Trained on tea." in document.text
    drawn = [element.attributes.get("aria-label", "") for element in document.all("svg")]
    assert any(label.startswith("all opinions: ") and "2024" in label for label in drawn)
    assert {"north", "south"} <= {element.text for element in document.all("bdi")}
    without = parse(page(reviews()))
    assert not {"time", "groups"} & {element.attributes.get("id") for element in without.all()}
