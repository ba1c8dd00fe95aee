"""Consensus: the words that several models agree on, none of which was trained on the instance.

Each instance is scored by several models, none of which was trained on it, by one saliency or the mean of several. The scores
of those that predicted it correctly are averaged. Where enough of them were right, the top words of the mean, usually one, are
active if their share exceeds a threshold; or, `soft`, the mean itself becomes the expected attention of all candidates. No word
is called misleading: the scores of a wrong model are not used.
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
    words: int = 1  # taken from an instance at most; the second is of round 2, and so on

    def __post_init__(self) -> None:
        if self.least_right < 1:
            raise InputError(f"least_right is {self.least_right}; at least one model must be right")
        if not 0 <= self.threshold < 1:
            raise InputError(f"threshold is {self.threshold}; it is a share, at least 0 and below 1")
        if self.words < 1:
            raise InputError(f"words is {self.words}; at least one can be taken")

    @property
    def rounds(self) -> int:
        """One round for each word that can be taken; a distribution is taken in one."""
        return 1 if self.soft else self.words


def blend(observed: Sequence[Observation]) -> Observation:
    """Average one model's observations by several saliencies; a word needs the support of all to have a large share."""
    if len(observed) == 1:
        return observed[0]
    return Observation(observed[0].probabilities, torch.stack([one.scores for one in observed]).mean(dim=0))


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
    accuracy, entropy = right.float().mean().item(), entropies.mean().item()
    reports = (_report(number, findings, accuracy, entropy) for number in range(1, rule.rounds + 1))
    return Mined(tuple(findings), tuple(reports))


def _report(number: int, findings: Sequence[Sequence[Finding]], accuracy: float, entropy: float) -> RoundReport:
    """Report the words taken as the `number`th of their instances; the models are run once for all of them."""
    taken = [sum(finding.iteration == number for finding in found) for found in findings]
    return RoundReport(
        iteration=number,
        accuracy=accuracy,
        mean_entropy=entropy,
        open_share=sum(map(bool, taken)) / len(taken),
        active=sum(taken),
        misleading=0,
    )


def _taken(mean: Tensor, rule: ConsensusRule) -> dict[int, float]:
    """Return the words that are taken and their mean shares, the top word first."""
    order = mean.argsort(descending=True, stable=True).tolist()
    shares = {word: float(mean[word]) for word in order}
    if rule.soft:
        return {word: share for word, share in shares.items() if share >= _LEAST_SHARE}
    return {word: shares[word] for word in order[: rule.words] if shares[word] > rule.threshold}


def _findings(shares: dict[int, float], entropy: float, label: str, rule: ConsensusRule) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            word,
            ACTIVE,
            1 if rule.soft else rank,
            entropy,
            share,
            predicted=label,
            gold=label,
            expected=share if rule.soft else None,
        )
        for rank, (word, share) in enumerate(shares.items(), start=1)
    )
