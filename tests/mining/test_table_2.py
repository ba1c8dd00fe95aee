"""Algorithm 1, replayed on the sentence of the paper's Table 2 with the attention that is drawn there.

The table's entropies cannot be: they exceed the largest that so few words can have. Its weights are used, cubed: that keeps
their order and makes the first five rows sharper (1.43 to 2.24 bits) than the sixth (2.48 bits), which a threshold of 2.4 bits
then blocks, as 4.0 does in the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
import torch
from tests.mining.toys import NEGATIVE, POSITIVE, Scripted, index, scripted
from torch import nn

from pssa.data.evidence import Finding
from pssa.data.example import DEFAULT_LABELS
from pssa.mining import Mined, Procedure, Rule, mine
from pssa.models import IndexedCorpus
from pssa.saliency import build

SENTENCE = "The screen is huge and colorful but no led back light ing"
WORDS = SENTENCE.split()
EPSILON = 2.4
# A row for each round, a weight for each word.
DRAWN = (
    (0.1, 0, 0.2, 0.4, 0.05, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.1),
    (0.1, 0, 0.3, 0, 0.1, 0.3, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1),
    (0.15, 0, 0, 0, 0.1, 0.4, 0.2, 0.2, 0.15, 0.1, 0.1, 0.1),
    (0.2, 0, 0, 0, 0.15, 0, 0.4, 0.3, 0.2, 0.2, 0.15, 0.2),
    (0.15, 0, 0, 0, 0.2, 0, 0, 0.4, 0.25, 0.25, 0.2, 0.25),
    (0.2, 0, 0, 0, 0.25, 0, 0, 0, 0.3, 0.3, 0.25, 0.3),
)
PREDICTED = (POSITIVE, POSITIVE, POSITIVE, NEGATIVE, NEGATIVE, NEGATIVE)
# What the table puts in the sets: words of rounds 1 to 3 are active, of 4 and 5 misleading.
EXTRACTED = ("huge", "is", "colorful", "but", "no")


def entropy(weights: tuple[float, ...]) -> float:
    shares = [weight**3 / sum(other**3 for other in weights) for weight in weights if weight]
    return -sum(share * math.log2(share) for share in shares)


@dataclass
class Replay:
    """The rounds, carried out: theta^(k) is the model that speaks row k + 1 of the table."""

    lagged: bool
    corpus: IndexedCorpus = field(default_factory=lambda: index(SENTENCE))
    models: list[Scripted] = field(default_factory=list)
    trained_on: dict[int, IndexedCorpus] = field(default_factory=dict)  # by iteration

    def run(self, iterations: int) -> Mined:
        procedure = Procedure(build("attention", {}), Rule(EPSILON), iterations, self.lagged)
        first = (self._speaking(1), torch.tensor([0]))
        return mine(self.corpus, [first], self.train, procedure, DEFAULT_LABELS)

    def train(self, iteration: int, number: int, model: nn.Module, data: IndexedCorpus) -> nn.Module:
        assert number == 1
        assert model is self.models[-1], "a training goes on from the previous parameters"
        self.trained_on[iteration] = data
        return self._speaking(iteration)

    def _speaking(self, row: int) -> Scripted:
        cubes = [weight**3 for weight in DRAWN[row - 1]]
        self.models.append(scripted([cubes], [PREDICTED[row - 1]]))
        return self.models[-1]

    def hidden_in(self, corpus: IndexedCorpus) -> list[str]:
        """Words that are the mask token, which must be those that stopped being candidates."""
        masked = corpus.table.positions[0] == corpus.mask_id
        gone = self.corpus.table.candidates[0] & ~corpus.table.candidates[0]
        assert torch.equal(masked, gone)
        return [WORDS[word] for word in masked.nonzero().squeeze(1).tolist()]


@pytest.fixture
def replay() -> Replay:
    return Replay(lagged=True)


def test_five_words_are_extracted_in_the_order_of_the_table_and_the_sixth_is_blocked(
    replay: Replay,
) -> None:
    (findings,) = replay.run(6).findings
    assert [(WORDS[finding.word], finding.kind, finding.iteration) for finding in findings] == [
        ("huge", "active", 1),
        ("is", "active", 2),  # as much as `colorful`; the first of equals is taken
        ("colorful", "active", 3),
        ("but", "misleading", 4),
        ("no", "misleading", 5),
    ]
    assert entropy(DRAWN[5]) > EPSILON > max(map(entropy, DRAWN[:5]))
    for finding, row, predicted in zip(findings, DRAWN, PREDICTED, strict=False):
        share = max(row) ** 3 / sum(weight**3 for weight in row)
        assert isinstance(finding, Finding)
        assert finding.entropy == pytest.approx(entropy(row), abs=1e-5)
        assert finding.score == pytest.approx(share, abs=1e-6)
        assert (finding.predicted, finding.gold) == (DEFAULT_LABELS[predicted], "positive")
        assert finding.expected is None


def test_every_round_reports_what_it_measured(replay: Replay) -> None:
    reports = replay.run(6).rounds
    assert [report.iteration for report in reports] == [1, 2, 3, 4, 5, 6]
    assert [report.active for report in reports] == [1, 1, 1, 0, 0, 0]
    assert [report.misleading for report in reports] == [0, 0, 0, 1, 1, 0]
    assert [report.accuracy for report in reports] == [1, 1, 1, 0, 0, 0]
    assert [report.open_share for report in reports] == [1, 1, 1, 1, 1, 0]
    assert [report.mean_entropy for report in reports] == pytest.approx([entropy(row) for row in DRAWN], abs=1e-5)


def test_what_was_found_is_masked_in_the_next_round_which_trains_on_the_sentence_before(replay: Replay) -> None:
    replay.run(6)
    mask, whole = replay.corpus.mask_id, replay.corpus.table
    for row, model in enumerate(replay.models):
        found = [WORDS.index(word) for word in EXTRACTED[:row]]
        positions, candidates = whole.positions[0].clone(), whole.candidates[0].clone()
        positions[found], candidates[found] = mask, False
        assert not any(model.modes), "mining looks in eval mode"
        for batch in model.shown:
            assert batch.positions.tolist() == [positions.tolist()]
            assert batch.candidates.tolist() == [candidates.tolist()]
            assert batch.aspect.tolist() == whole.aspect.tolist(), "the aspect is never hidden"
    # Training towards round k sees what round k - 1 looked at: the words of rounds 1 to k - 2 are hidden.
    assert {k: set(replay.hidden_in(data)) for k, data in replay.trained_on.items()} == {
        2: set(),
        3: {"huge"},
        4: {"huge", "is"},
        5: {"huge", "is", "colorful"},
        6: {"huge", "is", "colorful", "but"},
    }


def test_restarted_rounds_train_on_the_sentence_that_they_will_mine() -> None:
    replay = Replay(lagged=False)
    replay.run(6)
    hidden = {k: set(replay.hidden_in(data)) for k, data in replay.trained_on.items()}
    assert hidden == {k: set(EXTRACTED[: k - 1]) for k in range(2, 7)}


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_nothing_is_trained_after_the_last_round(replay: Replay, iterations: int) -> None:
    mined = replay.run(iterations)
    assert list(replay.trained_on) == list(range(2, iterations + 1))
    assert [WORDS[finding.word] for finding in mined.findings[0]] == list(EXTRACTED[:iterations])
