"""Saliencies against marked words and against each other, as a look."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.experiments.analyses.by_word import weighing
from tests.experiments.analyses.subjects import corpus, opinion_rows

from pssa.experiments.analyses.agreement import look

TEST = corpus("a dim grey screen", "a bright sharp screen")
SEEN = weighing(TEST, {"a": 0.4, "dim": 0.35, "grey": 0.25, "bright": 0.6, "sharp": 0.0})


def test_attention_is_compared_with_marked_words(tmp_path: Path) -> None:
    rows = opinion_rows(tmp_path, TEST, ("dim",), ("bright",))
    found = look(replace(SEEN, opinion_rows=rows), saliencies=("attention",))
    hits = found["agreement"]["saliencies"]["attention"]["overall"]
    # "a" comes first in one sentence, "bright" in the other.
    assert hits["precision_at_1"]["value"]["mean"] == 0.5
    assert hits["precision_at_1"]["control"]["mean"] == pytest.approx(1 / 3)
    assert hits["mass"]["value"]["mean"] == pytest.approx((0.35 + 0.6) / 2)
    assert found["correlation"] == []


def test_saliencies_are_compared_with_each_other() -> None:
    # Answers do not change when a word goes, so that one of the two puts words in no order.
    (pair,) = look(SEEN, saliencies=("attention", "leave_one_out"))["correlation"]
    assert (pair["first"], pair["second"], pair["instances"], pair["left_out"]) == ("attention", "leave_one_out", 0, 2)
    assert pair["kendall"] is None


def test_without_marks_there_is_no_agreement() -> None:
    assert set(look(SEEN, saliencies=("attention",))) == {"correlation"}
