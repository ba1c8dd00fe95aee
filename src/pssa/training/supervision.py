"""From evidence to what attention should be: the penalties, as named pairs of a distance, a target and a gamma.

gamma does not transfer between readings of the loss, so the three come together:
`letter` is the paper's text, `release` its published code, `tuned` ours, with a gamma per model chosen on held-out data.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pssa.data.evidence import ACTIVE, Evidence, ExampleEvidence
from pssa.errors import InputError
from pssa.training.losses import Supervision

__all__ = ["PENALTIES", "WORDS", "Penalty", "supervise"]

WORDS = ("both", "active", "misleading")


@dataclass(frozen=True)
class Penalty:
    """How far attention is from what is expected, and how much that weighs."""

    distance: str
    equal_shares: bool  # active words share the attention (1/|active| each); otherwise each is to have all of it
    gamma: float


PENALTIES = {
    "tuned": Penalty("squared", equal_shares=True, gamma=1.0),
    "letter": Penalty("norm", equal_shares=True, gamma=0.1),
    "release": Penalty("squared", equal_shares=False, gamma=0.1),
}


def supervise(evidence: Evidence, n_words: int, penalty: Penalty, words: str = "both") -> Supervision:
    """Expected attention for every word of a corpus whose longest sentence has `n_words`.

    :param words: which kind of evidence to use; `active` and `misleading` are the paper's AS_a and AS_m.
    """
    if words not in WORDS:
        raise InputError(f"words is {words!r}; it can be {', '.join(WORDS)}")
    expected = torch.zeros(len(evidence.examples), n_words)
    supervised = torch.zeros(len(evidence.examples), n_words, dtype=torch.bool)
    for row, example in enumerate(evidence.examples):
        for word, weight in _expectations(example, penalty, words).items():
            expected[row, word] = weight
            supervised[row, word] = True
    return Supervision(expected, supervised, penalty.gamma, penalty.distance)


def _expectations(example: ExampleEvidence, penalty: Penalty, words: str) -> dict[int, float]:
    share = 1 / max(1, len(example.active)) if penalty.equal_shares else 1.0
    usual = {True: share, False: 0.0}
    return {
        finding.word: usual[finding.kind == ACTIVE] if finding.expected is None else finding.expected
        for finding in example.findings
        if words in ("both", finding.kind)
    }
