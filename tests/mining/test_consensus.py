"""Agreement of three models, by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from pssa.data.evidence import Finding
from pssa.data.example import DEFAULT_LABELS
from pssa.errors import InputError
from pssa.mining import ConsensusRule, Mined, agree
from pssa.saliency import Observation

RIGHT, WRONG = 0, 1
# One sentence of four words. The two that are right look at word 1, with a mean of
# (0.125, 0.75, 0.125, 0); the one that is wrong is sure of word 3.
SCORES = ((0.25, 0.5, 0.25, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
ENTROPY = 0.75 * math.log2(4 / 3) + 0.25 * math.log2(8)


def look(predicted: int, scores: tuple[float, ...]) -> Observation:
    return Observation(torch.eye(3)[[predicted]], torch.tensor([scores]))


def hear(predicted: tuple[int, int, int], **rule: Any) -> Mined:
    seen = [look(label, scores) for label, scores in zip(predicted, SCORES, strict=True)]
    return agree(seen, torch.tensor([RIGHT]), DEFAULT_LABELS, ConsensusRule(**{"threshold": 0.5} | rule))


TWO_RIGHT = (RIGHT, RIGHT, WRONG)


def test_the_top_word_of_those_that_were_right_is_active() -> None:
    ((finding,),) = hear(TWO_RIGHT).findings
    assert finding == Finding(1, "active", 1, finding.entropy, 0.75, "positive", "positive", expected=None)
    assert finding.entropy == pytest.approx(ENTROPY, abs=1e-6)


def test_the_mean_share_must_exceed_the_threshold() -> None:
    assert hear(TWO_RIGHT, threshold=0.74).findings[0]
    assert not hear(TWO_RIGHT, threshold=0.75).findings[0]


@pytest.mark.parametrize(("least", "heard"), [(1, True), (2, True), (3, False)])
def test_enough_models_must_be_right(least: int, heard: bool) -> None:
    assert bool(hear(TWO_RIGHT, least_right=least).findings[0]) == heard


def test_one_that_is_right_is_enough_where_that_is_asked_for_and_none_says_nothing() -> None:
    ((finding,),) = hear((WRONG, WRONG, RIGHT), least_right=1).findings
    assert (finding.word, finding.score, finding.entropy) == (3, 1.0, 0.0)
    for soft in (False, True):
        mined = hear((WRONG, WRONG, WRONG), least_right=1, threshold=0.0, soft=soft)
        assert mined.findings == ((),)
        assert mined.rounds[0].accuracy == 0


def test_soft_consensus_expects_the_mean_itself_of_every_word_that_matters_in_one_round() -> None:
    (findings,) = hear(TWO_RIGHT, soft=True).findings
    assert [(finding.word, finding.expected) for finding in findings] == [(1, 0.75), (0, 0.125), (2, 0.125)]
    assert all(finding.score == finding.expected and finding.kind == "active" for finding in findings)
    seen = [look(RIGHT, (0.992, 0.008, 0.0, 0.0))] * 2
    (few,) = agree(seen, torch.tensor([RIGHT]), DEFAULT_LABELS, ConsensusRule(0.5, soft=True)).findings
    assert [finding.word for finding in few] == [0]
    mined = hear(TWO_RIGHT, soft=True)
    assert {finding.iteration for finding in mined.findings[0]} == {1}
    assert [report.active for report in mined.rounds] == [3]


def test_the_report_sums_up_the_looks() -> None:
    # A second sentence that nobody is right about: accuracy is 2 of 6, its scores are not heard, its entropy is 0.
    seen = [
        Observation(torch.eye(3)[[label, WRONG]], torch.tensor([scores, scores]))
        for label, scores in zip(TWO_RIGHT, SCORES, strict=True)
    ]
    (report,) = agree(seen, torch.tensor([RIGHT, RIGHT]), DEFAULT_LABELS, ConsensusRule(0.5)).rounds
    assert report.accuracy == pytest.approx(2 / 6)
    assert report.mean_entropy == pytest.approx(ENTROPY / 2)
    assert (report.iteration, report.open_share, report.active, report.misleading) == (1, 0.5, 1, 0)


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ({"least_right": 0}, "least_right is 0; at least one model must be right"),
        ({"threshold": 1.0}, r"threshold is 1\.0; it is a share"),
        ({"threshold": -0.1}, r"threshold is -0\.1"),
        ({"threshold": float("nan")}, "threshold is nan"),
    ],
)
def test_an_agreement_that_makes_no_sense_is_refused(rule: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        ConsensusRule(**{"threshold": 0.5} | rule)
