"""Attention on the words of evidence by round, on a scripted model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.experiments.analyses.subjects import classifier, corpus, subject

from pssa.data.evidence import Evidence, Finding, Header
from pssa.errors import InputError
from pssa.experiments.analyses.round_attention import look

TRAIN = corpus("a dim screen", "bright sharp screen")
MODEL = classifier([[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]], (0, 0), TRAIN)


def finding(word: int, kind: str, iteration: int) -> Finding:
    return Finding(word, kind, iteration, 0.5, 0.5, "positive", "positive")


def test_words_and_their_attention_are_summed_by_round_and_kind() -> None:
    found = [
        (finding(1, "misleading", 1), finding(0, "active", 2)),
        (finding(0, "active", 1), finding(1, "active", 2)),
    ]
    header = Header("memnet", "gradient", 3.0, 2, TRAIN.hash(), 0, "pg-as")
    evidence = Evidence.from_findings(header, TRAIN, found)
    assert look(replace(subject(TRAIN, TRAIN, MODEL), evidence=evidence)) == {
        "1": {"active": {"words": 1, "attention": 0.5}, "misleading": {"words": 1, "attention": 0.75}},
        "2": {"active": {"words": 2, "attention": 0.75}, "misleading": {"words": 0, "attention": 0.0}},
    }


def test_a_model_without_evidence_cannot_be_looked_at() -> None:
    with pytest.raises(InputError, match="no evidence supervised this model"):
        look(subject(TRAIN, TRAIN, MODEL))
