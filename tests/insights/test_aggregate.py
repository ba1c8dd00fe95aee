"""What is counted of mentions, which words and quotations tell it, and which differences are marked."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.insights.made_mentions import LABELS, findings, mention

from pssa.evaluation.shares import ShareEstimator
from pssa.insights.aggregate import AspectTally, BoundedCounter, LabelTally, distinctive_words, select_aspects
from pssa.insights.findings import WHOLE
from pssa.insights.mentions import OVERALL, EmptyReview, Mention
from pssa.insights.page import ErrorRates

_TEXTS = (
    "The food was cold.",
    "The foods were good",
    "I like the thai food!",
    "No food 😡",
    "the service, <b>food</b>",
)
_MENTIONS = st.builds(
    lambda text, label, review, value, day: mention(
        text, "food", label, review, shares={"cold": 0.6, "good": 0.5, "food": 0.1}, branch=value, day=day
    ),
    st.sampled_from(_TEXTS),
    st.sampled_from(LABELS),
    st.integers(1, 9),
    st.sampled_from(("north", "south", "", None, 3)),
    st.sampled_from(("2024-01-01", "2024-05-09", "soon", None, 17)),
)


@settings(max_examples=20)
@given(st.lists(st.one_of(_MENTIONS, st.just(EmptyReview([]))), max_size=30))
def test_nothing_is_lost_or_counted_twice(mentions: list[Mention | EmptyReview]) -> None:
    known = [one for one in mentions if isinstance(one, Mention)]
    dated = [one for one in known if str(one.fields["day"]).startswith("2024")]
    found = findings(mentions, "branch", "day" if dated else None)
    whole = Counter(one.label for one in known)
    assert [one.count for one in found.whole.labels] == [whole[label] for label in LABELS]
    assert sum(one.total for one in (*found.aspects, *found.rest)) == len(known)
    assert found.survey.n_empty == len(mentions) - len(known)
    if dated:
        assert sum(part.total for part in found.whole.periods) == len(dated) == len(known) - found.tally.n_undated
    assert sum(part.total for part in found.whole.values) == sum(bool(one.fields["branch"]) for one in known)
    for aspect in (*found.aspects, *found.rest):
        assert sum(one.count for one in aspect.labels) == aspect.total
        for one in aspect.labels:
            assert one.share.low <= one.share.counted <= one.share.high
            assert len(one.quotations) <= min(3, one.count)
            assert all("food" not in word for word, _ in one.drivers)


def test_a_counter_keeps_the_most_frequent_and_what_it_forgot() -> None:
    counter = BoundedCounter(3)
    for number in range(100):
        counter.add("often")
        counter.add(f"rare {number}")
    assert counter["often"] == 100
    assert len(counter) <= 6
    assert sum(counter.values()) + counter.n_forgotten == 200


def test_words_of_other_labels_tell_less() -> None:
    aspect = AspectTally([0, 0, 0])
    for label, word in [("negative", "bland"), ("negative", "good"), ("positive", "good"), ("positive", "good")] * 2:
        tally = aspect.labels.setdefault(label, LabelTally())
        tally.add(mention(f"The food was {word}.", "food", label, shares={word: 0.6}), frozenset())
    assert [word for word, _ in distinctive_words(aspect, "negative", 2)] == ["bland", "good"]
    assert distinctive_words(aspect, "positive", 2) == [("good", 4)]
    assert distinctive_words(aspect, "neutral", 2) == []


def test_quotations_differ_show_the_telling_words_and_are_of_a_bearable_length() -> None:
    tally = LabelTally()
    for number in range(40):
        for word in ("cold", "stale", "bland"):
            text = f"On day {number % 2} the food was really quite {word} for us."
            tally.add(mention(text, "food", review=number, shares={word: 0.5}), frozenset())
    tally.add(mention("food " + "long " * 999, "food", shares={"long": 0.9}), frozenset())
    assert [one.driver for one in tally.best_quotations(2, ["stale", "cold"])] == ["stale", "cold"]
    assert {one.driver for one in tally.best_quotations(9)} == {"cold", "stale", "bland"}


def test_quotations_are_kept_for_the_strongest_words_alone() -> None:
    tally = LabelTally()
    for number in range(500):
        for word in ("cold", f"word{number}x"):
            text = f"On day {number} the food was {word}."
            tally.add(mention(text, "food", review=number, shares={word: 0.5}), frozenset())
    assert len(tally.quotations) <= 60
    assert "cold" in tally.quotations


def test_groups_and_time_are_marked_where_they_differ_and_nowhere_else() -> None:
    mentions: list[Mention | EmptyReview] = []
    for number in range(120):
        north = number % 2 == 0
        label = "negative" if north or number > 80 else "positive"
        text = f"The food of day {number} was fine."
        month = f"2024-{1 + number // 10:02}-01"
        mentions.append(mention(text, "food", label, number, branch="north" if north else "south", day=month))
        mentions.append(mention(text.replace("food", "wine"), "wine", "neutral", number, branch="north", day=month))
    found = findings(mentions, "branch", "day")
    assert {(one.aspect, one.value, one.is_higher) for one in found.differences if one.label == "negative"} == {
        ("food", "north", True),  # and so lower in the other group: the same fact
    }
    assert {one.aspect for one in found.differences} == {one.aspect for one in found.changes} == {"food", WHOLE}
    change = next(one for one in found.changes if (one.aspect, one.label) == ("food", "negative"))
    assert change.first < change.last


def test_guesses_and_rows_without_a_text_are_not_counted() -> None:
    known = mention("The food was cold.", "food", shares={"cold": 0.6})
    guess = mention("Das food war kalt und fad", "food", "positive", notes="mostly unknown words (5 of 6)")
    empty = [EmptyReview(["script unseen in training"]), EmptyReview([], is_blank=True)]
    found = findings([known, guess, *empty])
    assert [(one.label, one.count) for one in found.whole.labels if one.count] == [("negative", 1)]
    assert (found.survey.n_reviews, found.survey.n_unknown) == (3, 2)
    assert found.survey.n_blank == 1


def test_the_page_shows_the_aspects_of_a_handful_of_reviews_but_no_rare_ones_of_many() -> None:
    assert select_aspects({"screen": 1, "battery": 1, "": 3}) == {OVERALL, "screen", "battery"}
    many = {f"common {number}": 100 for number in range(20)} | {"rare": 4}
    assert select_aspects(many) == {OVERALL, *many} - {"rare"}


def test_mentions_without_an_opinion_are_counted_apart() -> None:
    known = [mention("The food was cold.", "food"), mention("I ate the food.", "food", "neutral", is_mention=True)]
    inferred = [
        mention("We went by tram.", "tram", "neutral", is_mention=None),
        mention("The tram is okay.", "tram", "neutral", is_mention=None),
        mention("The tram is slow.", "tram", "negative", is_mention=None),
    ]
    for made, aspect in ((known, "food"), (inferred, "tram")):
        found = findings([*made])
        assert found.survey.n_mentions == found.whole.n_mentions == found.aspects[0].n_mentions == 1
        assert (found.aspects[0].name, found.aspects[0].total) == (aspect, len(made) - 1)


def test_opinions_about_the_whole_have_a_row_of_their_own_and_are_neither_liked_nor_disliked() -> None:
    made: list[Mention | EmptyReview] = []
    for number in range(20):
        text = f"The food of day {number} was cold. Love it!"
        made.append(mention(text, "food", "negative", number))
        made.append(replace(mention(text, "", "positive", number), is_first=False))
    found = findings(made)
    assert [(one.name, one.total) for one in found.aspects] == [(OVERALL, 20), ("food", 20)]
    assert (found.whole.total, found.n_aspects, found.survey.n_reviews) == (40, 1, 20)
    assert not found.stand_out("good", 9)
    assert [one.name for one in found.stand_out("bad", 9)] == ["food"]


def judged(aspect: str, good: int, bad: int) -> list[Mention | EmptyReview]:
    return [
        mention(f"The {aspect} of day {number}", aspect, "positive" if number < good else "negative", number)
        for number in range(good + bad)
    ]


def test_aspects_are_liked_or_disliked_only_beyond_chance() -> None:
    usual = judged("food", 80, 20)
    for good, bad, likes, dislikes, contested in (
        (0, 12, [], ["wine"], []),
        (3, 2, [], [], []),  # too few
        (30, 25, [], [], ["wine"]),  # more complaints than usual, and yet most like it
        (15, 15, [], [], ["wine"]),
        (40, 0, ["wine"], [], []),
        (8, 1, [], [], []),
    ):
        found = findings([*usual, *judged("wine", good, bad)])
        assert [one.name for one in found.stand_out("good", 9) if one.name == "wine"] == likes
        assert [one.name for one in found.stand_out("bad", 9)] == dislikes
        assert [one.name for one in found.contested(9)] == contested


def test_a_sentence_whose_words_contradict_its_label_is_not_quoted() -> None:
    tally = LabelTally()
    for text, word in (
        ("I liked the characters a lot in this one, but it drags.", "liked"),
        ("The characters are great and the plot drags all the way.", "drags"),
        ("The characters are flat and boring from start to end.", "flat"),
        ("The characters are not good at all in this book.", "good"),
    ):
        tally.add(mention(text, "characters", "negative", shares={word: 0.6}), frozenset())
    assert {one.driver for one in tally.best_quotations(9)} == {"flat", "not good"}


_LABELS = ("positive", "negative")


def rates(folder: Path, held_out: Any) -> ErrorRates:
    (folder / "metrics.json").write_text(json.dumps({"held_out": held_out}), "utf-8")
    return ErrorRates.of_run(folder, _LABELS)


def test_a_matrix_is_read_in_the_order_of_the_labels(tmp_path: Path) -> None:
    found = rates(
        tmp_path, {"labels": ["negative", "positive"], "confusion": [[80, 20], [10, 90]], "source": "test.xml"}
    )
    assert found.confusion == ((90, 10), (20, 80))
    said = found.describe(ShareEstimator(found.confusion))
    assert "85.0 % of 200" in said
    assert "test.xml" in said


@pytest.mark.parametrize(
    "held_out",
    [
        None,
        [],
        {"labels": ["good", "bad"], "confusion": [[1, 2], [3, 4]]},
        {"labels": list(_LABELS), "confusion": [[1, 2]]},
        {"labels": list(_LABELS), "confusion": [[1, -2], [3, 4]]},
        {"labels": list(_LABELS), "confusion": [[1, True], [3, 4]]},
        {"labels": list(_LABELS)},
    ],
)
def test_what_is_no_matrix_of_these_labels_is_not_known(tmp_path: Path, held_out: Any) -> None:
    found = rates(tmp_path, held_out)
    assert found.confusion is None
    assert "do not account for" in found.describe(ShareEstimator(found.confusion))


def test_the_groups_of_a_joint_model_are_added_up(tmp_path: Path) -> None:
    groups = [{"labels": {"labels": list(_LABELS), "confusion": [[8, 2], [1, 9]]}, "spans": None}, {"labels": None}]
    (tmp_path / "metrics.json").write_text(json.dumps({"dev": [*groups, groups[0]]}), "utf-8")
    assert ErrorRates.of_run(tmp_path, _LABELS).confusion == ((16, 4), (2, 18))
    (tmp_path / "metrics.json").write_text(json.dumps({"dev": {"accuracy": 0.5, "macro_f1": 0.5}}), "utf-8")
    assert ErrorRates.of_run(tmp_path, _LABELS).confusion is None
