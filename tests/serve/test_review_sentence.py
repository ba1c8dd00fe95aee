"""What each action makes of a word, and what it may not touch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.serve.review_toys import EVIDENCE, HUGE, SLOW

from pssa.data.evidence import Finding
from pssa.serve.review.sentence import ReviewError, Sentence

_SENTENCE = Sentence(0, EVIDENCE.examples[0], EVIDENCE.examples[0])


def test_flipping_keeps_what_was_measured_and_forgets_a_wanted_attention() -> None:
    assert _SENTENCE.after("flip", 0) == replace(HUGE, kind="misleading", expected=None)


def test_flipping_twice_is_as_if_nothing_had_happened() -> None:
    once = _SENTENCE.with_finding(0, _SENTENCE.after("flip", 0), 1)
    assert once.changed
    twice = once.with_finding(0, once.after("flip", 0), 2)
    assert not twice.changed
    assert twice.example == _SENTENCE.original
    assert twice.version == 2


def test_a_dropped_word_comes_back_with_what_was_measured() -> None:
    dropped = _SENTENCE.with_finding(3, _SENTENCE.after("drop", 3), 1)
    assert dropped.example.findings == (HUGE,)
    assert dropped.after("misleading", 3) == SLOW
    assert dropped.after("active", 3) == replace(SLOW, kind="active")


def test_an_added_word_is_certain_and_of_the_first_round() -> None:
    assert _SENTENCE.after("active", 2) == Finding(2, "active", 1, 0.0, 1.0, "positive", "positive")
    assert _SENTENCE.after("misleading", 2) == Finding(2, "misleading", 1, 0.0, 1.0, "positive", "positive")


def test_findings_of_the_file_keep_its_order_and_added_ones_follow() -> None:
    added = _SENTENCE.with_finding(2, _SENTENCE.after("active", 2), 1)
    without = added.with_finding(3, None, 2)
    again = without.with_finding(3, SLOW, 3)
    assert [finding.word for finding in again.example.findings] == [3, 0, 2]


def test_added_words_are_in_the_order_of_the_sentence_whichever_came_first() -> None:
    bare = Sentence(2, EVIDENCE.examples[2], EVIDENCE.examples[2])
    later = bare.with_finding(3, bare.after("active", 3), 1)
    both = later.with_finding(0, later.after("misleading", 0), 2)
    assert [finding.word for finding in both.example.findings] == [0, 3]


@pytest.mark.parametrize(
    ("action", "word", "code", "said"),
    [
        ("flip", 2, "refused", "'but' is neither active nor misleading; add it first"),
        ("drop", 2, "refused", "'but' is neither active nor misleading; add it first"),
        ("active", 0, "refused", "'Huge' is active already; flip it or drop it instead"),
        ("active", 3, "refused", "'slow' is misleading already; flip it or drop it instead"),
        ("active", 1, "refused", "'menu' belongs to the aspect, which is never evidence"),
        ("misleading", 4, "missing", "there is no word 4; the sentence has 4 words from 0"),
        ("drop", -1, "missing", "there is no word -1; the sentence has 4 words from 0"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(action: str, word: int, code: str, said: str) -> None:
    with pytest.raises(ReviewError) as caught:
        _SENTENCE.after(action, word)
    assert (caught.value.code, str(caught.value)) == (code, said)
