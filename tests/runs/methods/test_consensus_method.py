"""Consensus as a method: who judges whom, by which saliencies, and what the evidence says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.data.evidence import Evidence
from pssa.data.example import Corpus
from pssa.runs.training_run import mine

SETTINGS: dict[str, Any] = {
    "model": "memnet",
    "method": "consensus",
    "dimension": 8,
    "epochs": 2,
    "batch_size": 8,
    "device": "cpu",
    "consensus_models": 2,
    "consensus_folds": 2,
    "consensus_right": 1,
    "consensus_threshold": 0.0,
}


def mined(corpus: Corpus, path: Path, **settings: Any) -> Evidence:
    return mine(corpus, path, **SETTINGS | settings)


def shares(evidence: Evidence) -> dict[tuple[str, int], float]:
    """By example and word."""
    return {(example.id, found.word): found.score for example in evidence.examples for found in example.findings}


@pytest.mark.slow
def test_several_saliencies_give_the_mean_of_what_each_gives(corpus: Corpus, tmp_path: Path) -> None:
    # The whole distributions, so that every word with a share of 0.01 or more can be compared.
    soft = {"consensus_soft": True, "consensus_models": 1}
    attention = shares(mined(corpus, tmp_path / "1.jsonl", **soft, saliency="attention"))
    gradient = shares(mined(corpus, tmp_path / "2.jsonl", **soft, saliency="gradient"))
    both = mined(corpus, tmp_path / "3.jsonl", **soft, consensus_saliencies="attention,gradient")
    assert both.header.saliency == "attention+gradient"
    compared = shares(both)
    for place in attention.keys() & gradient.keys():
        assert compared[place] == pytest.approx((attention[place] + gradient[place]) / 2, abs=1e-6)
    assert len(attention.keys() & gradient.keys()) > len(corpus)
    assert attention != gradient


def test_one_saliency_named_is_that_saliency(corpus: Corpus, tmp_path: Path) -> None:
    usual = mined(corpus, tmp_path / "1.jsonl")
    named = mined(corpus, tmp_path / "2.jsonl", consensus_saliencies="leave_one_out")
    assert named == usual
    assert (usual.header.saliency, usual.header.iterations) == ("leave_one_out", 1)


def test_further_words_are_further_rounds_and_leave_the_first_as_it_was(corpus: Corpus, tmp_path: Path) -> None:
    one, three = (mined(corpus, tmp_path / f"{words}.jsonl", consensus_words=words) for words in (1, 3))
    assert three.header.iterations == 3
    assert [report.iteration for report in three.header.rounds] == [1, 2, 3]
    for few, many in zip(one.examples, three.examples, strict=True):
        assert few.findings == many.findings[:1]
        assert [found.iteration for found in many.findings] == list(range(1, len(many.findings) + 1))
        assert [found.score for found in many.findings] == sorted((f.score for f in many.findings), reverse=True)
