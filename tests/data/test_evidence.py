"""Evidence and its edits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from pssa.data.evidence import (
    Evidence,
    ExampleEvidence,
    Finding,
    Header,
    RoundReport,
    drop_word,
    flip,
    keep_above,
    keep_iterations,
    keep_kind,
)
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

_EXAMPLE = Example.from_text("the huge menu but slow", (9, 13), label="positive", id="7")
_CORPUS = Corpus((_EXAMPLE,))
_HEADER = Header("memnet", "gradient", 3.0, 5, _CORPUS.hash(), 0, "pg-as")


def _finding(word: int, kind: str = "active", iteration: int = 1) -> Finding:
    return Finding(word, kind, iteration, entropy=1.5, score=0.25, predicted="positive", gold="positive")


def _example(*findings: Finding) -> ExampleEvidence:
    return Evidence.from_findings(_HEADER, _CORPUS, [findings]).examples[0]


def test_findings_of_a_kind_come_in_the_order_of_their_iterations() -> None:
    late, early, other = _finding(1, iteration=3), _finding(4, iteration=2), _finding(3, "misleading")
    example = _example(late, other, early)
    assert example.active == (early, late)
    assert example.misleading == (other,)
    assert example.findings == (late, other, early)


def test_an_example_keeps_what_is_needed_to_read_it_without_the_corpus() -> None:
    example = _example()
    assert (example.id, example.label, example.aspect) == ("7", "positive", (2, 3))
    assert example.words == ("the", "huge", "menu", "but", "slow")
    assert example.spans[2] == (9, 13)


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([_finding(5)], "word 5 is not in example '7', which has 5 words"),
        ([_finding(-1)], "word -1 is not in example"),
        ([_finding(2)], "word 2, 'menu', is in the aspect"),
        ([_finding(1), _finding(1, "misleading")], "word 1, 'huge', is found twice"),
        ([_finding(1, iteration=6)], "iteration 6; expected at most 5"),
    ],
)
def test_findings_that_cannot_be_are_refused(findings: list[Finding], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _example(*findings)


def test_another_corpus_is_refused_and_the_message_says_what_to_do() -> None:
    evidence = Evidence.from_findings(_HEADER, _CORPUS, [()])
    evidence.check_corpus(_CORPUS)
    relabelled = Corpus((replace(_EXAMPLE, label="negative"),))
    with pytest.raises(InputError, match=r"made from another corpus .* give the"):
        evidence.check_corpus(relabelled)


def test_evidence_whose_examples_are_not_those_of_its_corpus_is_refused() -> None:
    evidence = Evidence.from_findings(_HEADER, _CORPUS, [()])
    with pytest.raises(InputError, match="has 0 examples; expected the 1 of its"):
        replace(evidence, examples=()).check_corpus(_CORPUS)
    for changed in (replace(_example(), id="8"), replace(_example(), words=("the", "HUGE", "menu", "but", "slow"))):
        with pytest.raises(InputError, match="example '7' where"):
            replace(evidence, examples=(changed,)).check_corpus(_CORPUS)


def test_evidence_is_read_and_edited_without_torch() -> None:
    modules = "evidence, evidence_file, opinion_words"
    code = f"import sys; from pssa.data import {modules}; import pssa.cli.evidence; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


_EDIT_CORPUS = Corpus(
    (
        Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1"),
        Example.from_text("a huge bar", (7, 10), label="negative", id="2"),
    )
)
_EDIT_HEADER = Header("memnet", "gradient", 3.0, 5, _EDIT_CORPUS.hash(), 0, "pg-as", edits=("before",))


def _edit_finding(word: int, kind: str, iteration: int, score: float) -> Finding:
    return Finding(word, kind, iteration, 1.0, score, "positive", "positive", expected=0.5)


_EVIDENCE = Evidence.from_findings(
    _EDIT_HEADER,
    _EDIT_CORPUS,
    [
        [
            _edit_finding(0, "active", 1, 0.75),
            _edit_finding(2, "misleading", 2, 0.5),
            _edit_finding(3, "active", 4, 0.25),
        ],
        [_edit_finding(1, "misleading", 1, 0.5)],
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


def test_flipping_forgets_a_wanted_attention_and_nothing_else() -> None:
    flipped = flip(_EVIDENCE, "but").examples[0].findings
    assert flipped[1] == Finding(2, "active", 2, 1.0, 0.5, "positive", "positive", expected=None)
    assert flipped[0] == _EVIDENCE.examples[0].findings[0]


NAN = float("nan")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: _finding(1, "Active"), "`kind` is 'Active'; expected active or"),
        (lambda: _finding(1, iteration=0), "`iteration` is 0"),
        (lambda: replace(_finding(1), entropy=NAN), "`entropy` is nan; expected a finite"),
        (lambda: replace(_finding(1), score=NAN), "`score` is nan; expected a finite"),
        (lambda: replace(_finding(1), expected=NAN), "`expected` is nan; expected a finite"),
        (lambda: replace(_HEADER, epsilon=float("inf")), "`epsilon` is inf"),
        (lambda: replace(_HEADER, iterations=-1), "`iterations` is -1"),
        (lambda: RoundReport(1, 0.5, NAN, 0.5, 0, 0), "`mean_entropy` is nan"),
        (
            lambda: replace(_example(), words=("the", "huge", "menu", "but", "fast!")),
            "`words` and `spans` of example '7'",
        ),
        (lambda: replace(_example(), aspect=(4, 6)), "`aspect` is 4-6; expected word offsets"),
        (lambda: Evidence.from_findings(_HEADER, _CORPUS, [(), ()]), "for 2 examples; expected them for the 1"),
        (
            lambda: Evidence.from_findings(_HEADER, Corpus((replace(_EXAMPLE, label=None),)), [()]),
            "example '7' has no label",
        ),
        (lambda: keep_kind(_EVIDENCE, "good"), "cannot keep 'good'; expected active or"),
        (lambda: keep_iterations(_EVIDENCE, 0), "cannot keep 0 iterations"),
        (lambda: keep_above(_EVIDENCE, NAN), "cannot keep scores above nan"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
