"""The joint model: finds the aspects of a sentence and labels them in one pass of an encoder.

On the states h of the words stand four small layers:

- tags: B and I of an aspect with an opinion, B and I of a mention without one, and O;
- the label of each aspect: v(t) pools the states of its words with a gate, asks the other words by attention, and a linear
  layer reads the answer o beside v(t), as in BERTABSA-ATT;
- the overall label, or none, for an opinion whose aspect the sentence does not name: the state of [CLS] asks all words;
- attention learns from opinion words that people marked, or that mining found, as in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from pssa.runs.devices import computes_bfloat16

TAGS = ("B-opinion", "I-opinion", "B-mention", "I-mention", "O")


@dataclass(frozen=True)
class JointBatch:
    """Sentences with what is known of them. B sentences, P pieces, W words, N aspects."""

    ids: Tensor  # (B, P)
    present: Tensor  # (B, P) bool
    pooling: Tensor  # (B, W, P): the share of each piece in the state of a word
    words: Tensor  # (B, W) bool
    # What people marked; or, in a batch that a teacher labelled, its probabilities.
    tags: Tensor  # (B, W, 5) bool: the tags that may be right; all, where nothing is known
    rows: Tensor  # (N,) the sentence of each aspect
    aspects: Tensor  # (N, W) bool: its words
    labels: Tensor  # (N,); of a teacher (N, C)
    overall: Tensor  # (B,), -100 where it is not known; of a teacher (B, C + 1)
    evidence: Tensor  # (N + B, W) bool: words that the attention of an aspect, or of all, should choose; may be empty

    def to(self, device: torch.device) -> JointBatch:
        """Return the batch on a device."""
        return JointBatch(**{name: value.to(device, non_blocking=True) for name, value in vars(self).items()})


@dataclass(frozen=True)
class JointPrediction:
    """Logits and attention."""

    tags: Tensor  # (B, W, 5)
    labels: Tensor  # (N, C)
    overall: Tensor  # (B, C + 1), the last for no opinion
    attention: Tensor  # (N + B, W)


class JointModel(nn.Module):
    """An encoder with its four layers."""

    def __init__(self, body: nn.Module, width: int, n_labels: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.body = body
        self.tags = nn.Linear(width, len(TAGS))
        self.gate = nn.Linear(width, 1, bias=False)
        self.aspect_query = nn.Linear(width, width)
        self.overall_query = nn.Linear(width, width)
        self.label = nn.Linear(2 * width, n_labels)
        self.overall = nn.Linear(2 * width, n_labels + 1)
        self.dropout = nn.Dropout(dropout)
        self.scale = 1 / math.sqrt(width)

    def states(self, batch: JointBatch) -> tuple[Tensor, Tensor]:
        """Return the states of [CLS] (B, D) and of the words (B, W, D)."""
        device = batch.ids.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.training and computes_bfloat16(device)):
            pieces = self.body(input_ids=batch.ids, attention_mask=batch.present.long()).last_hidden_state
        pieces = pieces.float()
        return pieces[:, 0], batch.pooling @ pieces

    def forward(self, batch: JointBatch) -> JointPrediction:
        """Read the sentences and label the given aspects."""
        return self.judge(batch, *self.states(batch))

    def judge(self, batch: JointBatch, whole: Tensor, words: Tensor) -> JointPrediction:
        """Label the given aspects of sentences that were read."""
        tags = self.tags(self.dropout(words))
        mine, inside = words[batch.rows], batch.aspects
        aspect = _attend(self.gate(mine).squeeze(-1), inside, mine)[0]
        others = batch.words[batch.rows] & ~inside
        others |= batch.words[batch.rows] & ~others.any(1, keepdim=True)
        found, weights = _attend(self._scores(self.aspect_query(aspect), mine), others, mine)
        labels = self.label(self.dropout(torch.cat([found, aspect], 1)))
        summary, whole_weights = _attend(self._scores(self.overall_query(whole), words), batch.words, words)
        overall = self.overall(self.dropout(torch.cat([summary, whole], 1)))
        return JointPrediction(tags, labels, overall, torch.cat([weights, whole_weights]))

    def _scores(self, queries: Tensor, words: Tensor) -> Tensor:
        return torch.einsum("nd,nwd->nw", queries, words) * self.scale


def _attend(scores: Tensor, allowed: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
    weights = scores.masked_fill(~allowed, -1e4).softmax(1) * allowed
    return torch.einsum("nw,nwd->nd", weights, states), weights


@dataclass(frozen=True)
class JointLoss:
    """Weights of the parts of the loss; that of the labels is one. No part waits for a value from a GPU."""

    overall: float = 0.5
    evidence: float = 0.3  # gamma of the attention's supervision
    penalty: str = (
        "mass"  # -log of the attention on evidence; or "squared": its distance from an even share, as in the paper
    )

    def __call__(self, predicted: JointPrediction, batch: JointBatch) -> Tensor:
        """Return the loss of a batch."""
        chances, is_taught = predicted.tags.log_softmax(-1), batch.tags.is_floating_point()
        if is_taught:
            loss = _mean(-(batch.tags * chances).sum(-1), batch.words)
        else:  # where several tags may be right their probabilities add up
            right = chances.masked_fill(~batch.tags, -1e4).logsumexp(-1)
            loss = _mean(-right, batch.words & ~batch.tags.all(-1))
        for logits, gold, weight in (
            (predicted.labels, batch.labels, 1.0),
            (predicted.overall, batch.overall, self.overall),
        ):
            known = gold >= 0 if gold.ndim == 1 else gold.any(1)
            loss = loss + weight * _mean(cross_entropy(logits, gold, reduction="none"), known)
        if not self.evidence:
            return loss
        marked, weights = batch.evidence, predicted.attention
        if is_taught:
            penalties = -(marked * weights.clamp(min=1e-6).log()).sum(1)
        elif self.penalty == "mass":
            penalties = -(weights * marked).sum(1).clamp(min=1e-6).log()
        else:
            penalties = (weights - marked / marked.sum(1, keepdim=True).clamp(min=1)).square().sum(1)
        return loss + self.evidence * _mean(penalties, marked.any(1))


def _mean(values: Tensor, counted: Tensor) -> Tensor:
    """Return the mean of the values that count; 0 if none does."""
    return (values * counted).sum() / counted.sum().clamp(min=1)
