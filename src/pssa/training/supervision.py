"""The training objective: cross-entropy, and the attention penalty of the paper's last equation.

J_s = CE + gamma * distance(attention, expected) over the supervised words, both averaged over the batch by the step. Expected is
1/|active| on active words, or another share, and 0 on misleading ones; other words are free, and an example without evidence
contributes nothing. Both are computed in float32, whatever the model computed in.

gamma does not transfer between readings of the loss, so a penalty names a distance, a target and a gamma together:
`letter` is the paper's text, `release` its published code, `tuned` ours, with a gamma per model chosen on held-out data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from pssa.data.evidence import Evidence, Finding
from pssa.errors import InputError
from pssa.models import Batch, Prediction, pool_words
from pssa.saliency import normalise

# Keeps the gradient of the norm finite where attention and expectation agree.
_TINY = 1e-12


@dataclass(frozen=True)
class Supervision:
    """The expected attention of each word of a corpus of n examples."""

    expected: Tensor  # (n, N) attention
    supervised: Tensor  # (n, N) bool: words that have an expectation
    gamma: float
    distance: str = "squared"  # or "norm"
    rising: int = 0  # steps over which gamma rises from zero; 0: it is the same in all
    weights: Tensor | None = None  # (n,) how much each example counts; None: as much as any
    on: str = "attention"  # what the penalty constrains, or "gradient": the share of each word by Definition 2

    def to(self, device: torch.device) -> Supervision:
        """Return the same on `device`."""
        weights = None if self.weights is None else self.weights.to(device)
        expected, supervised = self.expected.to(device), self.supervised.to(device)
        return replace(self, expected=expected, supervised=supervised, weights=weights)


def cross_entropy(prediction: Prediction, batch: Batch, weights: Tensor | None) -> Tensor:
    """Return the (B,) negative log-likelihood of each example, counted `weights[index]` times.

    For a tagger it is the sum over the words of a sentence.
    """
    logits, labels = prediction.logits.float(), batch.labels
    if labels.dim() > 1:
        losses = functional.cross_entropy(logits, labels, reduction="none", ignore_index=-1).sum(dim=1)
    else:
        losses = functional.cross_entropy(logits, labels, reduction="none")
    return losses if weights is None else losses * weights[batch.index]


def attention_penalty(
    prediction: Prediction, batch: Batch, supervision: Supervision, words: Tensor | None = None
) -> Tensor:
    """Return the (B,) distance between attention and expectation of each example, before gamma.

    :param words: h(x), which the prediction depends on; needed where the penalty is on gradients.
    """
    n_words = batch.candidates.shape[1]
    if supervision.on == "gradient":
        assert words is not None, "a penalty on gradients needs h(x)"
        shares = gradient_shares(prediction, batch, words)
    else:
        assert prediction.attention is not None, "supervision needs a model that attends"
        shares = pool_words(prediction.attention.float(), batch.word_of, n_words)
    expected = supervision.expected[batch.index, :n_words]
    supervised = supervision.supervised[batch.index, :n_words]
    squared = ((shares - expected) * supervised).square().sum(dim=1)
    distance = squared if supervision.distance == "squared" else (squared + _TINY).sqrt() - _TINY**0.5
    return distance if supervision.weights is None else distance * supervision.weights[batch.index]


def gradient_shares(prediction: Prediction, batch: Batch, words: Tensor) -> Tensor:
    """Return each candidate's share (B, N) of the gradient of the predicted logit times h(x), itself open to gradients.

    It is Definition 2 of the paper without noise: one pass more, and training has dropout for noise.
    """
    logits = prediction.logits.float()
    predicted = logits.gather(1, logits.argmax(dim=1, keepdim=True)).sum()
    (gradient,) = torch.autograd.grad(predicted, words, create_graph=True)
    signed = torch.einsum("bpd,bpd->bp", gradient, words)
    return normalise(pool_words(signed.abs(), batch.word_of, batch.candidates.shape[1]), batch.candidates)


WORDS = ("both", "active", "misleading")
# How the active words of a sentence share its attention:
# - equal: alike, as in the paper;
# - round: every round half of the one before, as precision against human words decays;
# - score: in proportion to the share of saliency that each had when it was found;
# - confidence: each is to have that share itself, scaled down where they add up to more than one.
WEIGHTINGS = ("equal", "round", "score", "confidence")


@dataclass(frozen=True)
class Penalty:
    """The distance between attention and expectation, and its weight."""

    distance: str
    equal_shares: bool  # active words share the attention (1/|active| each); otherwise each expects all of it
    gamma: float


PENALTIES = {
    "tuned": Penalty("squared", equal_shares=True, gamma=1.0),
    "letter": Penalty("norm", equal_shares=True, gamma=0.1),
    "release": Penalty("squared", equal_shares=False, gamma=0.1),
}


def supervise(
    evidence: Evidence, n_words: int, penalty: Penalty, words: str = "both", weighting: str = "equal"
) -> Supervision:
    """Return the expected attention of every word of a corpus whose longest sentence has `n_words`.

    :param words: which kind of evidence to use; `active` and `misleading` are the paper's AS_a and AS_m.
    :param weighting: how the active words of a sentence share its attention.
    """
    check_use(penalty, words, weighting)
    expected = torch.zeros(len(evidence.examples), n_words)
    supervised = torch.zeros(len(evidence.examples), n_words, dtype=torch.bool)
    for row, example in enumerate(evidence.examples):
        shares = _shares(example.active, weighting) if penalty.equal_shares else [1.0] * len(example.active)
        by_word = {finding.word: share for finding, share in zip(example.active, shares, strict=True)}
        for finding in example.findings:
            if words in ("both", finding.kind):
                own = by_word.get(finding.word, 0.0) if finding.expected is None else finding.expected
                expected[row, finding.word] = own
                supervised[row, finding.word] = True
    return Supervision(expected, supervised, penalty.gamma, penalty.distance)


def check_use(penalty: Penalty, words: str, weighting: str) -> None:
    """Refuse unknown names, and a weighting where nothing is shared."""
    for name, value, known in (("words", words, WORDS), ("weighting", weighting, WEIGHTINGS)):
        if value not in known:
            raise InputError(f"{name} is {value!r}; it can be {', '.join(known)}")
    if weighting != "equal" and not penalty.equal_shares:
        raise InputError(
            f"weighting is {weighting!r}, but this penalty expects full attention on each active word; "
            "use weighting equal, or penalty tuned or letter"
        )


def _shares(active: Sequence[Finding], weighting: str) -> list[float]:
    """Return the expected share of each active word of a sentence."""
    by_round = weighting == "round"
    weights = [0.5 ** (each.iteration - 1) if by_round else max(each.score, 0.0) for each in active]
    total = sum(weights)
    # Without scores, as of words that a person added, all words share alike.
    if weighting == "equal" or total <= 0:
        return [1 / len(active) for _ in active]
    whole = max(total, 1.0) if weighting == "confidence" else total
    return [weight / whole for weight in weights]
