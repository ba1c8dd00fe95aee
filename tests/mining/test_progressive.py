"""The rounds of mining on several sentences: against a literal transcription of Algorithm 1, and what it leaves open."""

from __future__ import annotations

import math

import pytest
import torch
from tests.mining.toys import NEGATIVE, POSITIVE, Scripted, index, scripted
from torch import nn

from pssa.data.evidence import RoundReport
from pssa.data.example import DEFAULT_LABELS
from pssa.mining import Mined, Miner, Procedure, Rule, mine
from pssa.models import IndexedCorpus
from pssa.saliency import build

SENTENCES = (
    "the screen is good",
    "a bad screen though so bright",
    "screen",
    "great screen",
    "so good a screen is this",
)
LABELS = (POSITIVE, NEGATIVE, POSITIVE, POSITIVE, NEGATIVE)
EVERYWHERE = 99.0  # bits: no gate


def run(
    corpus: IndexedCorpus, script: list[Scripted], rule: Rule, miners: list[Miner] | None = None, iterations: int = 0
) -> Mined:
    """Mine with one miner that speaks the script row after row, or with these miners, which never change."""
    procedure = Procedure(build("attention", {}), rule, iterations or len(script))
    everyone = torch.arange(len(corpus))

    def train(iteration: int, number: int, model: nn.Module, data: IndexedCorpus) -> nn.Module:
        return model if miners else script[iteration - 1]

    return mine(corpus, miners or [(script[0], everyone)], train, procedure, DEFAULT_LABELS)


def words(mined: Mined, row: int) -> list[tuple[int, str]]:
    return [(finding.word, finding.kind) for finding in mined.findings[row]]


def algorithm_1(
    script: list[Scripted], candidates: list[list[int]], gold: tuple[int, ...], epsilon: float
) -> list[tuple[set[int], set[int]]]:
    """Lines 2 to 25 of the paper, for sentences given by the words that may be mined; a model is a round's attention."""
    sets: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in candidates]
    for model in script:
        for x, (active, misleading) in enumerate(sets):
            left = [i for i in candidates[x] if i not in active | misleading]  # line 10: MaskWord
            total = sum(float(model.attention[x, i]) for i in left)
            alpha = {i: float(model.attention[x, i]) / total for i in left}  # line 12
            entropy = -sum(a * math.log2(a) for a in alpha.values() if a > 0)  # line 13
            if entropy < epsilon and len(left) > 1:  # line 14, and our rule for the last candidate
                m = max(left, key=alpha.__getitem__)  # line 15
                if int(model.probabilities[x].argmax()) == gold[x]:  # line 16
                    active.add(m)
                else:
                    misleading.add(m)
    return sets


@pytest.mark.parametrize("seed", range(10))
def test_mining_does_what_algorithm_1_says_on_drawn_attention(seed: int) -> None:
    corpus = index(*SENTENCES, labels=LABELS)
    generator = torch.Generator().manual_seed(seed)
    n, n_words = corpus.table.candidates.shape
    script = [
        Scripted(
            torch.rand(n, n_words, generator=generator) ** 4,
            torch.rand(n, 3, generator=generator).softmax(dim=1),
        )
        for _ in range(4)
    ]
    candidates = [row.nonzero().squeeze(1).tolist() for row in corpus.table.candidates]
    mined = run(corpus, script, Rule(epsilon=1.2))
    found = [
        ({word for word, kind in words(mined, x) if kind == "active"}, {word for word, kind in words(mined, x)})
        for x in range(n)
    ]
    expected = algorithm_1(script, candidates, LABELS, 1.2)
    assert found == [(active, active | misleading) for active, misleading in expected]
    assert any(active | misleading for active, misleading in expected)


def test_any_word_may_be_mined_but_the_aspect_and_the_only_remaining_candidate() -> None:
    corpus = index("good screen here", "screen")
    model = scripted([[0.1, 0.8, 0.1], [1.0, 0.0, 0.0]], [POSITIVE, POSITIVE])
    mined = run(corpus, [model] * 3, Rule(EVERYWHERE))
    assert words(mined, 0) == [(0, "active")]
    assert words(mined, 1) == []
    corpus = index("great screen", "so great screen")
    model = scripted([[1.0, 0.0, 0.0], [0.2, 0.8, 0.0]], [POSITIVE, NEGATIVE])
    mined = run(corpus, [model] * 3, Rule(EVERYWHERE))
    assert words(mined, 0) == []
    assert words(mined, 1) == [(1, "misleading")]
    assert [report.open_share for report in mined.rounds] == [0.5, 0.0, 0.0]
    mined = run(index("the screen is great"), [scripted([[0.1, 0.0, 0.1, 0.8]], [POSITIVE])], Rule(EVERYWHERE))
    assert words(mined, 0) == [(3, "active")]


def test_each_instance_is_judged_by_the_miner_of_its_fold() -> None:
    corpus = index(*["a good screen it is"] * 4)
    first = scripted([[0.9, 0.1, 0.0, 0.0, 0.0]] * 4, [POSITIVE] * 4)
    second = scripted([[0.0, 0.1, 0.0, 0.0, 0.9]] * 2 + [[0.0, 0.1, 0.0, 0.9, 0.0]] * 2, [NEGATIVE] * 4)
    miners: list[Miner] = [(first, torch.tensor([0, 3])), (second, torch.tensor([2, 1]))]
    mined = run(corpus, [], Rule(EVERYWHERE), miners, iterations=2)
    for row in (0, 3):
        assert words(mined, row) == [(0, "active"), (1, "active")]
    for row, top in ((1, 4), (2, 3)):
        assert words(mined, row) == [(top, "misleading"), (1, "misleading")]
    assert mined.rounds[0].accuracy == 0.5
    for model, rows in miners:
        assert isinstance(model, Scripted)
        assert {place for batch in model.shown for place in batch.index.tolist()} == set(rows.tolist())


def test_every_miner_is_trained_between_rounds_under_its_number_on_the_whole_corpus() -> None:
    corpus = index(*["a good screen it is"] * 4)
    miners = [(scripted([[0.9, 0.1, 0, 0, 0]] * 4, [0] * 4), torch.tensor(rows)) for rows in ([0, 1], [2, 3])]
    asked: list[tuple[int, int, bool, int]] = []

    def train(iteration: int, number: int, model: nn.Module, data: IndexedCorpus) -> nn.Module:
        asked.append((iteration, number, model is miners[number - 1][0], len(data)))
        return model

    mine(corpus, miners, train, Procedure(build("attention", {}), Rule(EVERYWHERE), 3), DEFAULT_LABELS)
    assert asked == [(2, 1, True, 4), (2, 2, True, 4), (3, 1, True, 4), (3, 2, True, 4)]


def test_a_random_pick_is_called_by_the_prediction_and_leaves_the_candidates() -> None:
    corpus = index(*["a good screen it is"] * 40)
    model = scripted([[0.9, 0.1, 0.0, 0.0, 0.0]] * 40, [POSITIVE] * 20 + [NEGATIVE] * 20)
    mined = run(corpus, [model] * 4, Rule(EVERYWHERE, drawn="word"))
    for row, kind in [(0, "active"), (39, "misleading")]:
        assert {found for _, found in words(mined, row)} == {kind}
    picked = [[word for word, _ in words(mined, row)] for row in range(40)]
    assert {sentence[0] for sentence in picked} == {0, 1, 3, 4}
    # A word is picked once, the aspect never. A sentence ends where no word with a score is left, or only one at all.
    assert all(len(set(sentence)) == len(sentence) and 2 not in sentence for sentence in picked)
    assert {len(sentence) for sentence in picked} == {2, 3}


def test_rounds_are_announced_as_they_end() -> None:
    corpus = index("the screen is great")
    model = scripted([[0.1, 0.0, 0.1, 0.8]], [POSITIVE])
    heard: list[RoundReport] = []
    procedure = Procedure(build("attention", {}), Rule(EVERYWHERE), 2)
    miner = (model, torch.tensor([0]))
    mined = mine(corpus, [miner], lambda k, number, model, data: model, procedure, DEFAULT_LABELS, heard.append)
    assert tuple(heard) == mined.rounds
