"""Edits of evidence, and the line that each leaves in the header."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.evidence_edit import drop_word, flip, keep_above, keep_iterations, keep_kind
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

_CORPUS = Corpus(
    (
        Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1"),
        Example.from_text("a huge bar", (7, 10), label="negative", id="2"),
    )
)
_HEADER = Header("memnet", "gradient", 3.0, 5, _CORPUS.hash(), 0, "pg-as", edits=("before",))


def _finding(word: int, kind: str, iteration: int, score: float) -> Finding:
    return Finding(word, kind, iteration, 1.0, score, "positive", "positive", expected=0.5)


_EVIDENCE = Evidence.from_findings(
    _HEADER,
    _CORPUS,
    [
        [_finding(0, "active", 1, 0.75), _finding(2, "misleading", 2, 0.5), _finding(3, "active", 4, 0.25)],
        [_finding(1, "misleading", 1, 0.5)],
    ],
)


def _left(evidence: Evidence) -> list[list[tuple[int, str]]]:
    return [[(finding.word, finding.kind) for finding in example.findings] for example in evidence.examples]


@pytest.mark.parametrize(
    ("edit", "left", "said"),
    [
        (lambda e: drop_word(e, "HUGE"), [[(2, "misleading"), (3, "active")], []], "drop-word 'HUGE': 2 changed"),
        (lambda e: drop_word(e, "hug"), _left(_EVIDENCE), "drop-word 'hug': 0 changed"),
        (
            lambda e: flip(e, "huge"),
            [[(0, "misleading"), (2, "misleading"), (3, "active")], [(1, "active")]],
            "flip 'huge': 2 changed",
        ),
        (lambda e: keep_above(e, 0.5), [[(0, "active")], []], "keep-above 0.5: 3 changed"),
        (lambda e: keep_iterations(e, 1), [[(0, "active")], [(1, "misleading")]], "keep-iterations 1: 2 changed"),
        (lambda e: keep_kind(e, "active"), [[(0, "active"), (3, "active")], []], "keep active: 2 changed"),
        (
            lambda e: keep_kind(e, "misleading"),
            [[(2, "misleading")], [(1, "misleading")]],
            "keep misleading: 2 changed",
        ),
    ],
)
def test_an_edit_changes_findings_and_says_so_in_the_header(
    edit: Callable[[Evidence], Evidence], left: list[list[tuple[int, str]]], said: str
) -> None:
    before = _left(_EVIDENCE)
    edited = edit(_EVIDENCE)
    assert _left(edited) == left
    assert edited.header.edits == ("before", said)
    assert _left(_EVIDENCE) == before


def test_edited_evidence_is_still_that_of_its_corpus() -> None:
    drop_word(_EVIDENCE, "huge").check_corpus(_CORPUS)


def test_flipping_forgets_a_wanted_attention_and_nothing_else() -> None:
    flipped = flip(_EVIDENCE, "but").examples[0].findings
    assert flipped[1] == Finding(2, "active", 2, 1.0, 0.5, "positive", "positive", expected=None)
    assert flipped[0] == _EVIDENCE.examples[0].findings[0]


def test_values_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(InputError, match="cannot keep 'good'; expected active or misleading"):
        keep_kind(_EVIDENCE, "good")
    with pytest.raises(InputError, match="cannot keep 0 iterations"):
        keep_iterations(_EVIDENCE, 0)
    with pytest.raises(InputError, match="cannot keep scores above nan"):
        keep_above(_EVIDENCE, float("nan"))
