"""From evidence to expected attention, and what a training makes of it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pssa import models
from pssa.data.batch import index_words
from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, Finding, Header
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import WordTable
from pssa.training import Settings, Task, fit
from pssa.training.supervision import PENALTIES, Penalty, supervise

CORPUS = Corpus(
    (
        Example.from_text("the screen is huge and colorful but dark", (4, 10), label="positive", id="a"),
        Example.from_text("screen is so good", (0, 6), label="negative", id="b"),
        Example.from_text("nice screen", (5, 11), label="positive", id="c"),
    )
)
N_WORDS = 8


def found(word: int, kind: str, expected: float | None = None) -> Finding:
    return Finding(word, kind, 1, 1.0, 0.5, "positive", "positive", expected)


def evidence_of(*findings: list[Finding]) -> Evidence:
    header = Header("memnet", "attention", 3.0, 1, CORPUS.hash(), 0, "aw-as")
    return Evidence.from_findings(header, CORPUS, findings)


# The first sentence has two active words and one misleading, the second one misleading, the third nothing.
EVIDENCE = evidence_of([found(3, ACTIVE), found(5, ACTIVE), found(6, MISLEADING)], [found(1, MISLEADING)], [])


def entries(evidence: Evidence, penalty: str, words: str = "both") -> dict[tuple[int, int], float]:
    """Expected weights by example and word."""
    supervision = supervise(evidence, N_WORDS, PENALTIES[penalty], words)
    assert supervision.expected.shape == supervision.supervised.shape == (3, N_WORDS)
    assert not supervision.expected[~supervision.supervised].any()
    places = supervision.supervised.nonzero().tolist()
    return {(row, word): float(supervision.expected[row, word]) for row, word in places}


@pytest.mark.parametrize(("penalty", "share"), [("tuned", 0.5), ("letter", 0.5), ("release", 1.0)])
def test_active_words_share_the_attention_or_each_have_all_of_it(penalty: str, share: float) -> None:
    assert entries(EVIDENCE, penalty) == {(0, 3): share, (0, 5): share, (0, 6): 0.0, (1, 1): 0.0}


def test_one_kind_of_words_alone_can_be_used() -> None:
    assert entries(EVIDENCE, "tuned", "active") == {(0, 3): 0.5, (0, 5): 0.5}
    assert entries(EVIDENCE, "tuned", "misleading") == {(0, 6): 0.0, (1, 1): 0.0}


@pytest.mark.parametrize("penalty", PENALTIES)
def test_an_expectation_of_its_own_wins(penalty: str) -> None:
    soft = evidence_of([found(3, ACTIVE, 0.7), found(5, ACTIVE, 0.2)], [found(1, MISLEADING, 0.1)], [])
    expected = {(0, 3): 0.7, (0, 5): 0.2, (1, 1): 0.1}
    assert entries(soft, penalty) == pytest.approx(expected)


def test_an_expectation_of_zero_is_one_too() -> None:
    assert entries(evidence_of([found(3, ACTIVE, 0.0)], [], []), "tuned") == {(0, 3): 0.0}


@pytest.mark.parametrize(("penalty", "distance"), [("tuned", "squared"), ("letter", "norm"), ("release", "squared")])
def test_distance_and_gamma_come_with_the_penalty(penalty: str, distance: str) -> None:
    supervision = supervise(EVIDENCE, N_WORDS, PENALTIES[penalty])
    assert (supervision.distance, supervision.gamma) == (distance, PENALTIES[penalty].gamma)


def test_an_unknown_kind_of_words_is_refused() -> None:
    with pytest.raises(InputError, match="words is 'all'; it can be both, active, misleading"):
        supervise(EVIDENCE, N_WORDS, PENALTIES["tuned"], "all")


def attention_after(gamma: float, distance: str) -> Tensor:
    """Attention of an MN on the three sentences, trained for a while under the evidence."""
    vocabulary = Vocabulary.build([word for example in CORPUS for word in example.words])
    matrix = torch.randn(len(vocabulary), 6, generator=torch.Generator().manual_seed(1))
    options = {"initial_bound": 0.5, "dropout": 0.0, "embedding_dropout": 0.0}
    model = models.build("memnet", WordTable(matrix, vocabulary.n_trained), 3, options, seed=0)
    data = index_words(CORPUS, vocabulary, DEFAULT_LABELS)
    supervision = supervise(EVIDENCE, N_WORDS, Penalty(distance, equal_shares=True, gamma=gamma))
    fit(model, Task(data, 0, "final", supervision=supervision), Settings(learning_rate=0.05), epochs=60)
    batch = data.batch(torch.arange(3))
    with torch.no_grad():
        prediction = model.classify(model.encode(batch), batch)  # type: ignore[operator]
    assert prediction.logits.argmax(dim=1).tolist() == data.labels.tolist()
    weights = prediction.attention
    assert isinstance(weights, Tensor)
    return weights


@pytest.mark.parametrize("distance", ["squared", "norm"])
def test_training_moves_attention_to_what_is_expected(distance: str) -> None:
    free, taught = attention_after(0.0, distance), attention_after(20.0, distance)
    expected = torch.zeros(N_WORDS)
    expected[[3, 5]] = 0.5
    torch.testing.assert_close(taught[0], expected, atol=0.05, rtol=0)
    assert float(taught[1, 1]) < 0.05
    assert float((free[0] - expected).abs().max()) > 0.2
    assert float(free[1, 1]) > 0.9
