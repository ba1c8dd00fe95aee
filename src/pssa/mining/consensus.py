"""Consensus: the words that several models agree on, none of which was trained on the instance.

Each instance is scored by several models, none of which was trained on it. The scores of those that predicted it correctly are
averaged. Where enough of them were right, the top word of the mean is active if its share exceeds a threshold; or, `soft`, the
mean itself becomes the expected attention of all candidates. No word is called misleading: the scores of a wrong model are not
used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pssa.data.evidence import ACTIVE, Finding, RoundReport
from pssa.errors import InputError
from pssa.mining.progressive import Mined
from pssa.saliency import Observation, entropy_bits

# A smaller share changes nothing measurable, and would make evidence files long.
_LEAST_SHARE = 0.01


@dataclass(frozen=True)
class ConsensusRule:
    """The rule by which models agree."""

    threshold: float  # least mean share of a word
    least_right: int = 2  # of the models that may judge an instance
    soft: bool = False  # supervise the whole distribution instead of words above the threshold

    def __post_init__(self) -> None:
        if self.least_right < 1:
            raise InputError(f"least_right is {self.least_right}; at least one model must be right")
        if not 0 <= self.threshold < 1:
            raise InputError(f"threshold is {self.threshold}; it is a share, at least 0 and below 1")


def agree(observed: Sequence[Observation], gold: Tensor, labels: Sequence[str], rule: ConsensusRule) -> Mined:
    """Mine from several observations of a whole corpus, each by models that were not trained on what they judge."""
    right = torch.stack([one.predicted == gold for one in observed])  # (M, n)
    scores = torch.stack([one.scores for one in observed])  # (M, n, N)
    votes = right.sum(dim=0)
    mean = torch.einsum("mn,mnw->nw", right.float(), scores) / votes.clamp(min=1)[:, None]
    entropies = entropy_bits(mean)
    findings = []
    for row, (count, label) in enumerate(zip(votes.tolist(), gold.tolist(), strict=True)):
        shares = _taken(mean[row], rule) if count >= rule.least_right else {}
        findings.append(_findings(shares, float(entropies[row]), labels[label], rule))
    report = RoundReport(
        iteration=1,
        accuracy=right.float().mean().item(),
        mean_entropy=entropies.mean().item(),
        open_share=sum(map(bool, findings)) / len(findings),
        active=sum(map(len, findings)),
        misleading=0,
    )
    return Mined(tuple(findings), (report,))


def _taken(mean: Tensor, rule: ConsensusRule) -> dict[int, float]:
    """Return the words that are taken and their mean shares, the top word first."""
    order = mean.argsort(descending=True, stable=True).tolist()
    if rule.soft:
        return {word: share for word in order if (share := float(mean[word])) >= _LEAST_SHARE}
    top = float(mean[order[0]])
    return {order[0]: top} if top > rule.threshold else {}


def _findings(shares: dict[int, float], entropy: float, label: str, rule: ConsensusRule) -> tuple[Finding, ...]:
    return tuple(
        Finding(word, ACTIVE, 1, entropy, share, predicted=label, gold=label, expected=share if rule.soft else None)
        for word, share in shares.items()
    )
