"""Evidence: what it refuses, its edits, its statistics, and the difference of two files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pssa.data.evidence import (
    Evidence,
    Finding,
    Header,
    RoundReport,
    diff,
    drop_word,
    flip,
    keep_above,
    keep_iterations,
    keep_kind,
    stats,
)
from pssa.data.example import Corpus, Example
from pssa.errors import InputError

MENU = Example.from_text("Huge menu but slow", (5, 9), label="positive", id="1")
CORPUS = Corpus(
    (
        MENU,
        Example.from_text("a huge bar", (7, 10), label="negative", id="2"),
        Example.from_text("a bar", (2, 5), label="negative", id="3"),
    )
)
ROUNDS = (RoundReport(1, 0.5, 1.5, 0.75, 2, 0),)
HEADER = Header("memnet", "gradient", 3.0, 4, CORPUS.hash(), 0, "pg-as", ROUNDS, edits=("before",))
NAN = float("nan")


def finding(
    word: int,
    kind: str = "active",
    iteration: int = 1,
    entropy: float = 1.0,
    score: float = 0.5,
    gold: str = "positive",
) -> Finding:
    return Finding(word, kind, iteration, entropy, score, predicted="neutral", gold=gold, expected=0.5)


def evidence_of(*findings: Sequence[Finding]) -> Evidence:
    return Evidence.from_findings(HEADER, CORPUS, [*findings, *[()] * (len(CORPUS) - len(findings))])


EVIDENCE = evidence_of(
    [finding(0, score=0.75), finding(2, "misleading", 3, 0.5), finding(3, "active", 3, 2.0, 0.25)],
    [finding(1, entropy=1.5, gold="negative")],
)


def kinds_in(evidence: Evidence) -> list[dict[int, str]]:
    return [example.kinds for example in evidence.examples]


def test_findings_of_a_kind_come_in_the_order_of_their_iterations() -> None:
    late, early, other = finding(0, iteration=3), finding(3, iteration=2), finding(2, "misleading")
    example = evidence_of([late, other, early]).examples[0]
    assert example.active == (early, late)
    assert example.misleading == (other,)
    assert example.findings == (late, other, early)


def test_an_example_keeps_what_is_needed_to_read_it_without_the_corpus() -> None:
    example = EVIDENCE.examples[0]
    assert (example.id, example.label, example.aspect) == ("1", "positive", (1, 2))
    assert (example.words, example.spans[1]) == (("Huge", "menu", "but", "slow"), (5, 9))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: evidence_of([finding(4)]), "word 4 is not in example '1', which has 4 words"),
        (lambda: evidence_of([finding(-1)]), "word -1 is not in example"),
        (lambda: evidence_of([finding(1)]), "word 1, 'menu', is in the aspect"),
        (lambda: evidence_of([finding(0), finding(0, "misleading")]), "word 0, 'Huge', is found twice"),
        (lambda: evidence_of([finding(0, iteration=5)]), "iteration 5; expected at most 4"),
        (lambda: finding(1, "Active"), "`kind` is 'Active'; expected active or"),
        (lambda: finding(1, iteration=0), "`iteration` is 0"),
        (lambda: finding(1, entropy=NAN), "`entropy` is nan; expected a finite"),
        (lambda: finding(1, score=NAN), "`score` is nan; expected a finite"),
        (lambda: replace(finding(1), expected=NAN), "`expected` is nan; expected a finite"),
        (lambda: replace(HEADER, epsilon=float("inf")), "`epsilon` is inf"),
        (lambda: replace(HEADER, iterations=-1), "`iterations` is -1"),
        (lambda: RoundReport(1, 0.5, NAN, 0.5, 0, 0), "`mean_entropy` is nan"),
        (lambda: replace(EVIDENCE.examples[0], words=("Huge", "menu", "but", "fast!")), "`words` and `spans` of .*'1'"),
        (lambda: replace(EVIDENCE.examples[0], aspect=(3, 5)), "`aspect` is 3-5; expected word offsets"),
        (lambda: evidence_of((), (), (), ()), "for 4 examples; expected them for the 3"),
        (
            lambda: Evidence.from_findings(HEADER, Corpus((replace(MENU, label=None),)), [()]),
            "example '1' has no label",
        ),
        (lambda: keep_kind(EVIDENCE, "good"), "cannot keep 'good'; expected active or"),
        (lambda: keep_iterations(EVIDENCE, 0), "cannot keep 0 iterations"),
        (lambda: keep_above(EVIDENCE, NAN), "cannot keep scores above nan"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_another_corpus_is_refused_with_what_to_do_and_so_are_examples_of_another() -> None:
    EVIDENCE.check_corpus(CORPUS)
    first, *others = EVIDENCE.examples
    with pytest.raises(InputError, match=r"made from another corpus .* give the"):
        EVIDENCE.check_corpus(Corpus((replace(MENU, label="negative"), *CORPUS[1:])))
    with pytest.raises(InputError, match="has 1 examples; expected the 3 of its"):
        replace(EVIDENCE, examples=(first,)).check_corpus(CORPUS)
    for changed in (replace(first, id="8"), replace(first, words=("HUGE", "menu", "but", "slow"))):
        with pytest.raises(InputError, match="example '1' where"):
            replace(EVIDENCE, examples=(changed, *others)).check_corpus(CORPUS)


def test_evidence_is_read_and_edited_without_torch() -> None:
    modules = "evidence, evidence_file, opinion_words"
    code = f"import sys; from pssa.data import {modules}; import pssa.cli.evidence; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("edit", "left", "said"),
    [
        (lambda e: drop_word(e, "HUGE"), [{2: "misleading", 3: "active"}, {}, {}], "drop-word 'HUGE': 2 changed"),
        (lambda e: drop_word(e, "hug"), kinds_in(EVIDENCE), "drop-word 'hug': 0 changed"),
        (
            lambda e: flip(e, "huge"),
            [{0: "misleading", 2: "misleading", 3: "active"}, {1: "misleading"}, {}],
            "flip 'huge': 2 changed",
        ),
        (lambda e: keep_above(e, 0.5), [{0: "active"}, {}, {}], "keep-above 0.5: 3 changed"),
        (lambda e: keep_iterations(e, 1), [{0: "active"}, {1: "active"}, {}], "keep-iterations 1: 2 changed"),
        (lambda e: keep_kind(e, "active"), [{0: "active", 3: "active"}, {1: "active"}, {}], "keep active: 1 changed"),
        (lambda e: keep_kind(e, "misleading"), [{2: "misleading"}, {}, {}], "keep misleading: 3 changed"),
    ],
)
def test_an_edit_changes_findings_and_says_so_in_the_header(
    edit: Callable[[Evidence], Evidence], left: list[dict[int, str]], said: str
) -> None:
    before = kinds_in(EVIDENCE)
    edited = edit(EVIDENCE)
    assert kinds_in(edited) == left
    assert edited.header.edits == ("before", said)
    assert kinds_in(EVIDENCE) == before


def test_flipping_forgets_a_wanted_attention_and_nothing_else() -> None:
    before, flipped = (each.examples[0].findings for each in (EVIDENCE, flip(EVIDENCE, "but")))
    assert flipped == (before[0], replace(before[1], kind="active", expected=None), before[2])


def test_statistics_have_an_entry_for_each_iteration_of_the_header_and_each_label() -> None:
    assert stats(EVIDENCE).per_iteration == (
        {"active": 2, "misleading": 0, "mean_entropy": 1.25},
        {"active": 0, "misleading": 0, "mean_entropy": None},
        {"active": 1, "misleading": 1, "mean_entropy": 1.25},
        {"active": 0, "misleading": 0, "mean_entropy": None},
    )
    assert stats(EVIDENCE).per_class == {
        "negative": {"examples": 2, "active": 1, "misleading": 0},
        "positive": {"examples": 1, "active": 2, "misleading": 1},
    }


def test_words_come_by_frequency_with_their_gold_labels_and_without_regard_to_case() -> None:
    counted = stats(EVIDENCE)
    assert counted.active_words == (
        {"word": "huge", "count": 2, "labels": {"negative": 1, "positive": 1}},
        {"word": "slow", "count": 1, "labels": {"positive": 1}},
    )
    assert counted.misleading_words == ({"word": "but", "count": 1, "labels": {"positive": 1}},)
    assert [profile["word"] for profile in stats(EVIDENCE, top=1).active_words] == ["huge"]


def test_words_are_added_removed_or_flipped() -> None:
    first = evidence_of([finding(0), finding(2)], [finding(1)])
    second = evidence_of([finding(3, "misleading"), finding(2, "misleading")], [finding(1)])
    assert diff(first, second) == {
        **{"added": 1, "removed": 1, "flipped": 1, "same": 1},
        "examples": [
            {
                "id": "1",
                "added": [{"word": 3, "text": "slow", "kind": "misleading"}],
                "removed": [{"word": 0, "text": "Huge", "kind": "active"}],
                "flipped": [{"word": 2, "text": "but", "kind": "misleading"}],
            }
        ],
    }
    with pytest.raises(InputError, match="different corpora"):
        diff(first, replace(first, header=replace(HEADER, corpus_hash="other")))
