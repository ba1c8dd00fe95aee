"""What is told of evidence: counts by round, agreement with people, and what needs no model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from paper.experiments.mining_stats import describe_evidence
from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.example import Corpus, Example


def example(text: str, label: str) -> Example:
    start = text.index("screen")
    return Example.from_text(text, (start, start + 6), label=label, id=text)


CORPUS = Corpus(
    (
        example("the screen is huge and bright", "positive"),
        example("dull screen is here", "negative"),
        example("a Huge screen", "positive"),
    )
)


def finding(word: int, kind: str = "active", iteration: int = 1, score: float = 0.5) -> Finding:
    return Finding(word, kind, iteration, 0.5, score, "positive", "positive")


def evidence(*lookup: Sequence[Finding]) -> Evidence:
    header = Header("memnet", "gradient", 3.0, 2, CORPUS.hash(), 0, "pg-as")
    return Evidence.from_findings(header, CORPUS, lookup)


# "huge" first and "and" second; a misleading "is"; "huge" again, where nobody marked a word.
MINED = evidence(
    (finding(3, score=0.8), finding(4, iteration=2, score=0.4)), (finding(2, "misleading"),), (finding(1),)
)
HUMAN = evidence((finding(3), finding(5)), (finding(0),), ())


def test_rounds_tell_kinds_frequencies_and_agreement() -> None:
    found = describe_evidence(MINED, CORPUS, HUMAN)
    assert found["rounds"] == {
        "1": {
            "active": 2,
            "misleading": 1,
            "log_frequency": pytest.approx(2 * math.log(2)),
            "seen_once": 0,
            "judged": {"positive": 1},
            "marked": {"positive": 1},
        },
        "2": {
            "active": 1,
            "misleading": 0,
            "log_frequency": 0.0,
            "seen_once": 1,
            "judged": {"positive": 1},
            "marked": {"positive": 0},
        },
    }
    counts = {name: found[name] for name in ("instances", "with_active", "judged", "judged_with_active")}
    assert counts == {"instances": 3, "with_active": 2, "judged": 2, "judged_with_active": 1}


def test_words_above_a_score_are_told_where_people_marked_any() -> None:
    found = describe_evidence(MINED, CORPUS, HUMAN)["by_score"]
    assert found["0.0"] == {"judged": {"positive": 2}, "marked": {"positive": 1}, "covered": 1}
    assert found["0.4"] == {"judged": {"positive": 1}, "marked": {"positive": 1}, "covered": 1}
    assert found["0.8"] == {"judged": {}, "marked": {}, "covered": 0}


def test_marked_words_are_told_by_when_they_were_found() -> None:
    # "huge" stands in train twice and is found at once; "bright" and "dull" stand there once and are not found.
    assert describe_evidence(MINED, CORPUS, HUMAN)["opinion"] == {
        "first": {"words": 1, "log_frequency": pytest.approx(math.log(2))},
        "later": {"words": 0, "log_frequency": 0.0},
        "missed": {"words": 2, "log_frequency": 0.0},
    }


def test_a_marked_word_of_the_second_round_is_found_later() -> None:
    found = describe_evidence(evidence((finding(3, iteration=2),), (), ()), CORPUS, HUMAN)["opinion"]
    assert [found[name]["words"] for name in ("first", "later", "missed")] == [0, 1, 2]


def test_chance_and_nearness_need_no_model() -> None:
    # Two of five candidates are marked, neither beside the aspect; one of three, and one of the two neighbours.
    assert describe_evidence(MINED, CORPUS, HUMAN)["reference"] == {
        "positive": {"instances": 1, "random": 0.4, "nearest": 0.0},
        "negative": {"instances": 1, "random": pytest.approx(1 / 3), "nearest": 0.5},
    }
