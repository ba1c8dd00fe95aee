"""Algorithm 1: mine the words that decide, round by round; each round hides the words found so far.

Each example is judged by one miner. By default one miner judges all and is trained on all; with cross-fitting there are several,
each judging only examples that it was not trained on. The caller trains the miners.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pssa.data.evidence import ACTIVE, MISLEADING, Finding, RoundReport
from pssa.errors import InputError
from pssa.models import IndexedCorpus
from pssa.saliency import Observation, Saliency, entropy_bits, observe

_DRAWN = ("nothing", "word", "mask")


@dataclass(frozen=True)
class Rule:
    """Lines 13 to 21: which word of a sentence is extracted.

    A sentence gives its top word where the entropy of its scores is below epsilon; the word is active where the prediction was
    right, misleading where it was wrong. The last candidate of a sentence is never taken.
    """

    epsilon: float  # bits
    # RM gates and routes like the others. "word": it takes and hides any candidate instead of the top word; "mask", the other
    # reading: it takes the top word, and hides any candidate instead.
    drawn: str = "nothing"
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise InputError(f"epsilon is {self.epsilon}; it must be greater than 0 (bits of entropy)")
        if self.drawn not in _DRAWN:
            raise InputError(f"drawn is {self.drawn!r}; it can be {', '.join(_DRAWN)}")

    def extract(self, observed: Observation, candidates: Tensor, iteration: int) -> tuple[Tensor, Tensor]:
        """Take at most one word from each example; `candidates` (n, N) are the words not hidden so far.

        Return the word of each (n,), and the word to hide in the next rounds (n,): the same one, unless the mask is drawn. Both
        are -1 where none is taken.
        """
        has_scores = observed.scores.sum(dim=1) > 0
        is_open = (entropy_bits(observed.scores) < self.epsilon) & has_scores & (candidates.sum(dim=1) > 1)
        generator = torch.Generator().manual_seed(self.seed * 1009 + iteration)
        drawn = torch.rand(candidates.shape, generator=generator).masked_fill(~candidates, -1).argmax(dim=1)
        top = observed.scores.argmax(dim=1)
        words = drawn if self.drawn == "word" else top
        hidden = drawn if self.drawn == "mask" else words
        return words.masked_fill(~is_open, -1), hidden.masked_fill(~is_open, -1)


Miner = tuple[nn.Module, Tensor]  # a trained model, and the rows (m,) of the examples that it judges
# (iteration, number of the miner, its model, the whole corpus as masked for this training) -> the model trained on
Train = Callable[[int, int, nn.Module, IndexedCorpus], nn.Module]
RoundObserver = Callable[[RoundReport], None]


@dataclass(frozen=True)
class Mined:
    """The findings of each example of the corpus, and the report of each round."""

    findings: tuple[tuple[Finding, ...], ...]
    rounds: tuple[RoundReport, ...]


def _keep(observed: Observation) -> Observation:
    return observed


@dataclass(frozen=True)
class Procedure:
    """How the rounds are run.

    The paper's Algorithm 1 trains on the sentences as they were masked *before* the extraction of the round that just ended
    (`lagged`); the released code restarts every time and trains on the sentences that it will mine.
    """

    saliency: Saliency
    rule: Rule
    iterations: int
    lagged: bool = True
    share: Callable[[Observation], Observation] = _keep  # makes processes that mine together observe the same


def mine(
    corpus: IndexedCorpus,
    miners: Sequence[Miner],
    train: Train,
    procedure: Procedure,
    labels: Sequence[str],
    on_round: RoundObserver | None = None,
) -> Mined:
    """Run the rounds. There is no training after the last one, since nothing would read it."""
    findings: list[list[Finding]] = [[] for _ in range(len(corpus))]
    found, hidden = torch.zeros_like(corpus.table.candidates), torch.zeros_like(corpus.table.candidates)
    before = masked = corpus
    rounds = []
    for iteration in range(1, procedure.iterations + 1):
        if iteration > 1:
            before, masked = masked, corpus.hide(hidden)
            data = before if procedure.lagged else masked
            miners = [(train(iteration, number, model, data), rows) for number, (model, rows) in enumerate(miners, 1)]
        # A word that was taken without being hidden, as with a mask that is drawn, is not taken again.
        observed = procedure.share(_observe_all(miners, masked, procedure.saliency)).without(found)
        words, to_hide = procedure.rule.extract(observed, masked.table.candidates, iteration)
        report, taken = _record(words, observed, iteration, corpus.labels, labels)
        rounds.append(report)
        for row, finding in taken.items():
            findings[row].append(finding)
        rows = (words >= 0).nonzero().squeeze(1)
        found[rows, words[rows]] = True
        hidden[rows, to_hide[rows]] = True
        if on_round is not None:
            on_round(report)
    return Mined(tuple(map(tuple, findings)), tuple(rounds))


def _observe_all(miners: Sequence[Miner], masked: IndexedCorpus, saliency: Saliency) -> Observation:
    parts = [(rows, observe(model, masked.select(rows), saliency)) for model, rows in miners]
    n_words, n_classes = masked.table.candidates.shape[1], parts[0][1].probabilities.shape[1]
    whole = Observation.blank(len(masked), n_words, n_classes)
    for rows, part in parts:
        whole.fill(rows, part)
    return whole


def _record(
    words: Tensor, observed: Observation, iteration: int, gold: Tensor, labels: Sequence[str]
) -> tuple[RoundReport, dict[int, Finding]]:
    """Return the report of a round that takes `words` (n,), and the finding of each row that gives one."""
    entropies, predicted = entropy_bits(observed.scores), observed.predicted
    shares = observed.scores.gather(1, words.clamp(min=0)[:, None]).squeeze(1)
    columns = (words, entropies, shares, predicted, gold)
    found = {}
    for row, (word, entropy, share, answer, label) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if word >= 0:
            kind = ACTIVE if answer == label else MISLEADING
            found[row] = Finding(word, kind, iteration, entropy, share, predicted=labels[answer], gold=labels[label])
    kinds = [finding.kind for finding in found.values()]
    report = RoundReport(
        iteration,
        accuracy=(predicted == gold).float().mean().item(),
        mean_entropy=entropies.mean().item(),
        open_share=(words >= 0).float().mean().item(),
        active=kinds.count(ACTIVE),
        misleading=kinds.count(MISLEADING),
    )
    return report, found
