"""The training objective, and the attention that evidence asks for."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from pssa import models
from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, Finding, Header
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import Batch, Prediction, WordTable, index_words
from pssa.training import Settings, Task, fit
from pssa.training.supervision import (
    PENALTIES,
    Penalty,
    Supervision,
    attention_penalty,
    cross_entropy,
    supervise,
)

LN3 = math.log(3)
LOSSES = (math.log(2), math.log(4 / 3))  # of an even guess, and of three to one for the right class


def batch_of(index: list[int], word_of: list[list[int]], n_words: int) -> Batch:
    """Only labels, index and the map from positions to words matter here."""
    n = len(index)
    filler = torch.zeros(n, 2, dtype=torch.long)
    candidates = torch.ones(n, n_words, dtype=torch.bool)
    labels = torch.zeros(n, dtype=torch.long)
    return Batch(filler, torch.tensor(word_of), filler, filler, candidates, labels, torch.tensor(index))


# Examples 1 and 0 of a corpus, in this order, of three words each.
BATCH = batch_of([1, 0], [[0, 1, 2], [0, 1, 2]], 3)


def predicted(logits: list[list[float]] | None = None, attention: Tensor | None = None) -> Prediction:
    return Prediction(torch.tensor(logits or [[0.0, 0.0], [LN3, 0.0]]), attention)


def test_weights_belong_to_examples_of_the_corpus_not_to_rows_of_the_batch() -> None:
    weights = torch.tensor([3.0, 0.5])
    assert cross_entropy(predicted(), BATCH, weights).tolist() == pytest.approx([0.5 * LOSSES[0], 3.0 * LOSSES[1]])


# Example 0: word 0 active, word 1 misleading, word 2 free. Example 1: no evidence. The batch is cropped by a word.
SUPERVISED = torch.tensor([[True, True, False, False], [False] * 4])
EXPECTED = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0] * 4])
ATTENTION = [[0.1, 0.2, 0.7], [0.4, 0.5, 0.1]]


@pytest.mark.parametrize(("distance", "expected"), [("squared", 0.36 + 0.25), ("norm", math.sqrt(0.36 + 0.25))])
def test_the_penalty_of_an_example_is_taken_over_its_supervised_words(distance: str, expected: float) -> None:
    supervision = Supervision(EXPECTED, SUPERVISED, gamma=10.0, distance=distance)
    penalty = attention_penalty(predicted(attention=torch.tensor(ATTENTION)), BATCH, supervision)
    assert penalty.tolist() == pytest.approx([0, expected], abs=1e-5)  # the first row has no evidence


def test_a_penalty_on_gradients_moves_what_the_shares_depend_on() -> None:
    # Logit 0 is w0 h0 + w1 h1 + w2 h2, so the shares are those of |w_i h_i|: 0.1, 0.2 and 0.7 in the second row.
    words = torch.tensor([[[1.0], [1.0], [1.0]], [[1.0], [2.0], [7.0]]], requires_grad=True)
    weights = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
    logits = torch.stack([(words.squeeze(2) * weights).sum(dim=1), torch.full((2,), -9.0)], dim=1)
    supervision = Supervision(EXPECTED, SUPERVISED, gamma=1.0, on="gradient")
    penalty = attention_penalty(Prediction(logits, None), BATCH, supervision, words)
    assert penalty.tolist() == pytest.approx([0, 0.9**2 + 0.2**2])
    (gradient,) = torch.autograd.grad(penalty.sum(), weights)
    assert gradient[0] < 0 < gradient[1]  # the active word's share is to rise, the misleading one's to fall


def test_the_gradient_of_the_squared_penalty_is_twice_the_difference_on_supervised_words() -> None:
    attention = torch.tensor(ATTENTION, requires_grad=True)
    penalty = attention_penalty(predicted(attention=attention), BATCH, Supervision(EXPECTED, SUPERVISED, 1.0))
    penalty.sum().backward()  # type: ignore[no-untyped-call]
    assert attention.grad is not None
    torch.testing.assert_close(attention.grad, torch.tensor([[0.0, 0.0, 0.0], [-1.2, 1.0, 0.0]]))


@pytest.mark.parametrize("distance", ["squared", "norm"])
def test_attention_as_expected_costs_nothing_and_has_a_finite_gradient(distance: str) -> None:
    attention = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], requires_grad=True)
    supervision = Supervision(EXPECTED, SUPERVISED, 1.0, distance)
    penalty = attention_penalty(predicted(attention=attention), BATCH, supervision)
    penalty.sum().backward()  # type: ignore[no-untyped-call]
    assert attention.grad is not None
    assert penalty.tolist() == pytest.approx([0, 0], abs=1e-9)
    assert torch.all(attention.grad == 0)


def test_the_pieces_of_a_word_are_supervised_together() -> None:
    # [CLS] first first second: word 0 has 0.3 + 0.2, which is what is expected of it.
    batch = batch_of([0], [[-1, 0, 0, 1]], 2)
    attention = torch.tensor([[0.4, 0.3, 0.2, 0.1]])
    supervision = Supervision(torch.tensor([[0.5, 0.0]]), torch.tensor([[True, True]]), 1.0)
    penalty = attention_penalty(predicted([[0.0, 0.0]], attention), batch, supervision)
    assert float(penalty) == pytest.approx(0.1**2)


def test_the_objective_is_float32_whatever_the_model_computed_in() -> None:
    attention = torch.tensor(ATTENTION, dtype=torch.bfloat16)
    prediction = Prediction(torch.zeros(2, 2, dtype=torch.bfloat16), attention)
    # Half of 16 bits would round ln 2 to 0.6914 or 0.6953.
    assert cross_entropy(prediction, BATCH, None).tolist() == pytest.approx([LOSSES[0]] * 2, abs=1e-6)
    penalty = attention_penalty(prediction, BATCH, Supervision(EXPECTED, SUPERVISED, 1.0))
    first, second = attention[1, :2].tolist()
    assert penalty.tolist() == pytest.approx([0, (1 - first) ** 2 + second**2], abs=1e-6)


CORPUS = Corpus(
    (
        Example.from_text("the screen is huge and colorful but dark", (4, 10), label="positive", id="a"),
        Example.from_text("screen is so good", (0, 6), label="negative", id="b"),
        Example.from_text("nice screen", (5, 11), label="positive", id="c"),
    )
)
N_WORDS = 8


def found(word: int, kind: str, expected: float | None = None, iteration: int = 1, score: float = 0.5) -> Finding:
    return Finding(word, kind, iteration, 1.0, score, "positive", "positive", expected)


def evidence_of(*findings: list[Finding]) -> Evidence:
    header = Header("memnet", "attention", 3.0, 3, CORPUS.hash(), 0, "aw-as")
    return Evidence.from_findings(header, CORPUS, findings)


# The first sentence has two active words and one misleading, the second one misleading, the third nothing.
EVIDENCE = evidence_of([found(3, ACTIVE), found(5, ACTIVE), found(6, MISLEADING)], [found(1, MISLEADING)], [])


def entries(
    evidence: Evidence, penalty: str, words: str = "both", weighting: str = "equal"
) -> dict[tuple[int, int], float]:
    """Expected weights by example and word."""
    supervision = supervise(evidence, N_WORDS, PENALTIES[penalty], words, weighting)
    assert supervision.expected.shape == supervision.supervised.shape == (3, N_WORDS)
    assert not supervision.expected[~supervision.supervised].any()
    places = supervision.supervised.nonzero().tolist()
    return {(row, word): float(supervision.expected[row, word]) for row, word in places}


@pytest.mark.parametrize(
    ("penalty", "share", "distance"), [("tuned", 0.5, "squared"), ("letter", 0.5, "norm"), ("release", 1.0, "squared")]
)
def test_active_words_share_the_attention_or_each_have_all_of_it(penalty: str, share: float, distance: str) -> None:
    assert entries(EVIDENCE, penalty) == {(0, 3): share, (0, 5): share, (0, 6): 0.0, (1, 1): 0.0}
    supervision = supervise(EVIDENCE, N_WORDS, PENALTIES[penalty])
    assert (supervision.distance, supervision.gamma) == (distance, PENALTIES[penalty].gamma)


def test_one_kind_of_words_alone_can_be_used() -> None:
    assert entries(EVIDENCE, "tuned", "active") == {(0, 3): 0.5, (0, 5): 0.5}
    assert entries(EVIDENCE, "tuned", "misleading") == {(0, 6): 0.0, (1, 1): 0.0}


@pytest.mark.parametrize(
    ("penalty", "weighting"), [*((name, "equal") for name in PENALTIES), ("tuned", "round"), ("tuned", "confidence")]
)
def test_an_expectation_of_its_own_wins(penalty: str, weighting: str) -> None:
    soft = evidence_of([found(3, ACTIVE, 0.7), found(5, ACTIVE, 0.0)], [found(1, MISLEADING, 0.1)], [])
    expected = {(0, 3): 0.7, (0, 5): 0.0, (1, 1): 0.1}
    assert entries(soft, penalty, weighting=weighting) == pytest.approx(expected)


# Rounds 1, 2 and 3 took active words; the second took another that misled.
DECAYING = evidence_of(
    [
        found(3, ACTIVE, iteration=1, score=0.6),
        found(5, ACTIVE, iteration=2, score=0.3),
        found(7, ACTIVE, iteration=3, score=0.3),
        found(6, MISLEADING, iteration=2, score=0.9),
    ],
    [found(2, ACTIVE, iteration=2, score=0.4)],
    [],
)


@pytest.mark.parametrize(
    ("weighting", "shares", "alone"),
    [
        ("equal", (1 / 3, 1 / 3, 1 / 3), 1.0),
        ("round", (4 / 7, 2 / 7, 1 / 7), 1.0),  # 1, 1/2 and 1/4, which add up to 7/4
        ("score", (0.5, 0.25, 0.25), 1.0),  # 0.6, 0.3 and 0.3 of 1.2
        ("confidence", (0.5, 0.25, 0.25), 0.4),  # these add up to more than one, and 0.4 does not
    ],
)
@pytest.mark.parametrize("penalty", ["tuned", "letter"])
def test_a_weighting_says_how_active_words_share_and_misleading_ones_keep_zero(
    penalty: str, weighting: str, shares: tuple[float, float, float], alone: float
) -> None:
    first, second, third = shares
    expected = {(0, 3): first, (0, 5): second, (0, 7): third, (0, 6): 0.0, (1, 2): alone}
    assert entries(DECAYING, penalty, weighting=weighting) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weighting", "scores", "shares"),
    [
        ("confidence", (0.5, 0.25), (0.5, 0.25)),  # little confidence leaves attention free
        ("score", (0.2, -1.0), (1.0, 0.0)),  # negative scores weigh nothing
        ("score", (0.0, -1.0), (0.5, 0.5)),  # scores that say nothing leave the words alike
        ("confidence", (0.0, -1.0), (0.5, 0.5)),
    ],
)
def test_odd_scores_still_share(weighting: str, scores: tuple[float, float], shares: tuple[float, float]) -> None:
    odd = evidence_of([found(word, ACTIVE, score=score) for word, score in zip((3, 5), scores, strict=True)], [], [])
    assert entries(odd, "tuned", weighting=weighting) == {(0, 3): shares[0], (0, 5): shares[1]}


@pytest.mark.parametrize(
    ("penalty", "use", "what"),
    [
        ("tuned", {"words": "all"}, "words is 'all'; it can be both, active, misleading"),
        ("tuned", {"weighting": "even"}, "weighting is 'even'; it can be equal, round, score, confidence"),
        # Where each word is to have everything, nothing can be shared.
        ("release", {"weighting": "round"}, "weighting is 'round', but this penalty"),
    ],
)
def test_an_unknown_use_is_refused(penalty: str, use: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        supervise(EVIDENCE, N_WORDS, PENALTIES[penalty], **use)


def attention_after(gamma: float, distance: str) -> Tensor:
    """Attention of an MN on the three sentences, trained for a while under the evidence."""
    vocabulary = Vocabulary.build([word for example in CORPUS for word in example.words])
    matrix = torch.randn(len(vocabulary), 6, generator=torch.Generator().manual_seed(1))
    options = {"initial_bound": 0.5, "dropout": 0.0, "embedding_dropout": 0.0, "hops": 1}
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


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["squared", "norm"])
def test_training_moves_attention_to_what_is_expected(distance: str) -> None:
    free, taught = attention_after(0.0, distance), attention_after(20.0, distance)
    expected = torch.zeros(N_WORDS)
    expected[[3, 5]] = 0.5
    torch.testing.assert_close(taught[0], expected, atol=0.05, rtol=0)
    assert float(taught[1, 1]) < 0.05
    assert float((free[0] - expected).abs().max()) > 0.2
    assert float(free[1, 1]) > 0.9
