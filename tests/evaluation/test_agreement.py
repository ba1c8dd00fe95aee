"""Agreement of saliencies with marked words and with each other, counted by hand."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.toys import LABELS, example, indexed
from torch import Tensor

from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.example import Corpus
from pssa.errors import InputError
from pssa.evaluation.agreement import (
    NEAREST,
    Hits,
    correlate,
    marked_words,
    measure_agreement,
    nearness,
    rank_correlations,
    rank_words,
)

EXAMPLES = [
    example("the great good screen is bad", label="yes"),  # five candidates, of which 1 and 2 are marked
    example("a screen so awful", label="no"),  # three, of which the last is marked
    example("the screen", label="no"),  # not marked
]
CORPUS = indexed(EXAMPLES)
MARKED = torch.zeros(CORPUS.table.candidates.shape, dtype=torch.bool)
MARKED[0, [1, 2]] = MARKED[1, 3] = True
SCORES = torch.tensor([[0.1, 0.4, 0.2, 0, 0, 0.3], [0.7, 0, 0.2, 0.1, 0, 0], [1.0, 0, 0, 0, 0, 0]])


def means(hits: Hits, part: str = "value") -> list[float]:
    return [getattr(each, part).mean for each in (hits.precision_at_1, hits.recall_at_3, hits.mass)]


def test_hits_are_those_counted_by_hand_and_chance_is_the_share_of_marked_words() -> None:
    found = measure_agreement({"s": SCORES}, MARKED, CORPUS, LABELS)
    assert (found.instances, found.left_out) == (2, 1)
    overlap = found.saliencies["s"]
    # The first sentence: great leads, then bad, then good. The second: a leads, then so, then awful.
    assert means(overlap.per_label["yes"]) == pytest.approx([1, 1, 0.6])
    assert means(overlap.per_label["no"]) == pytest.approx([0, 1, 0.1])
    assert means(overlap.overall) == pytest.approx([0.5, 1, 0.35])
    assert [overlap.overall.instances, *(hits.instances for hits in overlap.per_label.values())] == [2, 1, 1]
    assert means(overlap.per_label["yes"], "control") == pytest.approx([2 / 5, 3 / 5, 2 / 5])
    assert means(overlap.per_label["no"], "control") == pytest.approx([1 / 3, 1, 1 / 3])
    assert means(overlap.per_label["yes"], "difference") == pytest.approx([3 / 5, 2 / 5, 1 / 5])


def test_the_nearest_words_stand_beside() -> None:
    nearest = measure_agreement({}, MARKED, CORPUS, LABELS).saliencies[NEAREST]
    # `good` and `is` stand at distance 1, `great` and `bad` at 2, `the` at 3; `a` and `so` at 1, `awful` at 2.
    assert nearest.per_label["yes"].mass.value.mean == pytest.approx(1.5 / (1 + 1 + 0.5 + 0.5 + 1 / 3))
    assert means(nearest.per_label["no"]) == pytest.approx([0, 1, 0.5 / 2.5])


def test_nearness_falls_with_the_distance_from_either_end_of_the_aspect() -> None:
    corpus = indexed([example("the so hard drive is bad", "hard drive")])
    shares = nearness(corpus.table.aspect_span, corpus.table.candidates)
    assert shares[0].tolist() == pytest.approx([1 / 6, 1 / 3, 0, 0, 1 / 3, 1 / 6])


def test_marks_on_the_aspect_or_on_hidden_words_do_not_count() -> None:
    hidden = indexed([EXAMPLES[0].hide([1])])
    marked = torch.tensor([[False, True, True, True, False, False]])
    overlap = measure_agreement({"s": SCORES[:1]}, marked, hidden, LABELS).saliencies["s"]
    assert means(overlap.overall, "control") == pytest.approx([1 / 4, 3 / 4, 1 / 4])


def test_a_sentence_about_which_a_saliency_says_nothing_counts_as_chance() -> None:
    examples = [example("so great screen", label="yes")] * 2000
    corpus = indexed(examples)
    marked = torch.tensor([[False, True, False]]).expand(2000, -1)
    overlap = measure_agreement({"s": torch.zeros(2000, 3)}, marked, corpus, LABELS).saliencies["s"]
    assert overlap.overall.precision_at_1.value.mean == pytest.approx(0.5, abs=0.05)
    assert overlap.overall.mass.value.mean == 0


def test_a_label_that_is_unknown_or_does_not_occur_has_no_numbers_of_its_own() -> None:
    overlap = measure_agreement(
        {"s": SCORES[:1]}, MARKED[:1], indexed([example("the great good screen is bad")]), LABELS
    )
    assert overlap.saliencies["s"].per_label == {}
    assert overlap.saliencies["s"].overall.instances == 1


def test_data_that_nobody_marked_is_refused() -> None:
    with pytest.raises(InputError, match="in any of the 3 sentences"):
        measure_agreement({"s": SCORES}, torch.zeros_like(MARKED), CORPUS, LABELS)


def test_active_words_of_evidence_are_marked() -> None:
    corpus = Corpus((EXAMPLES[0], EXAMPLES[1]), LABELS)
    header = Header("human", "human", None, iterations=1, corpus_hash=corpus.hash(), seed=0, method="opinion-words")
    active = Finding(2, "active", 1, 0.0, 1.0, "yes", "yes")
    misleading = Finding(0, "misleading", 1, 0.0, 1.0, "yes", "no")
    evidence = Evidence.from_findings(header, corpus, [[active], [misleading]])
    marked: Tensor = marked_words(evidence, 6)
    assert marked.nonzero().tolist() == [[0, 2]]
    assert marked.shape == (2, 6)


def test_the_highest_score_comes_first_and_other_words_come_last() -> None:
    scores = torch.tensor([[0.1, 0.9, 0.5, 7.0]])
    candidates = torch.tensor([[True, True, True, False]])
    assert rank_words(scores, candidates).tolist() == [[2, 0, 1, 3]]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=8), st.integers(0, 9))
def test_ranks_are_an_order_of_the_words(drawn: list[tuple[float, bool]], seed: int) -> None:
    scores = torch.tensor([[score for score, _ in drawn]])
    candidates = torch.tensor([[candidate for _, candidate in drawn]])
    [ranks] = rank_words(scores, candidates, seed).tolist()
    assert sorted(ranks) == list(range(len(drawn)))
    for (score, candidate), rank in zip(drawn, ranks, strict=True):
        for (other, also), after in zip(drawn, ranks, strict=True):
            if (candidate, score) > (also, other) and candidate:
                assert rank < after


def test_equal_scores_come_in_every_order_equally_often() -> None:
    scores, candidates = torch.zeros(6000, 3), torch.ones(6000, 3, dtype=torch.bool)
    orders, times = rank_words(scores, candidates, 1).unique(dim=0, return_counts=True)  # type: ignore[no-untyped-call]
    assert len(orders) == 6
    # Six standard deviations of a count of 6000 at 1/6 are 173.
    assert all(abs(count - 1000) < 173 for count in times.tolist())


few_values = st.sampled_from([0.0, 0.1, 0.2, 0.5])  # equal scores are common
sentences = st.lists(st.tuples(few_values, few_values), min_size=3, max_size=9)


def of(first: list[float], second: list[float]) -> list[float]:
    both = torch.tensor([first]), torch.tensor([second])
    [found] = rank_correlations(*both, torch.ones(1, len(first), dtype=torch.bool)).tolist()
    return list(found)


def test_cases_worked_by_hand() -> None:
    assert of([1, 2, 3], [10, 20, 90]) == pytest.approx([1, 1])
    assert of([1, 2, 3], [3, 2, 1]) == pytest.approx([-1, -1])
    # Two pairs agree and one does not; rho = 1 - 6 * (0 + 1 + 1) / (3 * 8).
    assert of([1, 2, 3], [1, 3, 2]) == pytest.approx([1 / 3, 0.5])
    # One of three pairs is a tie on the right: 2 / sqrt(3 * 2); ranks 1, 2, 3 and 1, 2.5, 2.5.
    assert of([1, 2, 3], [1, 2, 2]) == pytest.approx([2 / math.sqrt(6), 1.5 / math.sqrt(2 * 1.5)])


@pytest.mark.slow
@settings(deadline=None)  # the first example imports scipy
@given(sentences)
def test_both_equal_those_of_scipy_on_any_scale(drawn: list[tuple[float, float]]) -> None:
    from scipy import stats  # type: ignore[import-untyped]

    first, second = [a for a, _ in drawn], [b for _, b in drawn]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        expected = [stats.kendalltau(first, second).statistic, stats.spearmanr(first, second).statistic]
    assert of(first, second) == pytest.approx(expected, nan_ok=True)
    assert of([math.exp(score) for score in first], second) == pytest.approx(expected, nan_ok=True)


def test_only_candidates_count() -> None:
    first, second = torch.tensor([[1.0, 9.0, 2.0, 3.0]]), torch.tensor([[1.0, 0.0, 3.0, 2.0]])
    candidates = torch.tensor([[True, False, True, True]])
    assert rank_correlations(first, second, candidates)[0].tolist() == pytest.approx([1 / 3, 0.5])


def test_short_sentences_and_those_without_differences_are_left_out_and_counted() -> None:
    scores = {
        "a": torch.tensor([[1.0, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]),
        "b": torch.tensor([[1.0, 2, 3], [1, 3, 2], [5, 5, 5], [1, 2, 3]]),
    }
    candidates = torch.ones(4, 3, dtype=torch.bool)
    candidates[3, 0] = False
    [found] = correlate(scores, candidates)
    assert (found.first, found.second, found.instances, found.left_out) == ("a", "b", 2, 2)
    assert found.kendall is not None
    assert found.spearman is not None
    assert (found.kendall.mean, found.spearman.mean) == pytest.approx((2 / 3, 0.75))
    assert found.kendall.low == pytest.approx(1 / 3)
    assert found.kendall.high == pytest.approx(1)


def test_every_pair_is_compared_once_and_without_a_sentence_there_is_no_number() -> None:
    [found] = correlate({"a": torch.ones(2, 3), "b": torch.ones(2, 3)}, torch.ones(2, 3, dtype=torch.bool))
    assert (found.kendall, found.spearman, found.instances, found.left_out) == (None, None, 0, 2)
    scores = {name: torch.rand(5, 4, generator=torch.Generator().manual_seed(0)) for name in "abc"}
    pairs = correlate(scores, torch.ones(5, 4, dtype=torch.bool))
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert correlate({"a": torch.ones(1, 3)}, torch.ones(1, 3, dtype=torch.bool)) == ()


def test_sentences_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    first, second = torch.rand(7, 5, generator=generator), torch.rand(7, 5, generator=generator)
    candidates = torch.rand(7, 5, generator=generator) < 0.8
    whole = rank_correlations(first, second, candidates)
    monkeypatch.setattr("pssa.evaluation.agreement._AT_ONCE", 2)
    np.testing.assert_array_equal(rank_correlations(first, second, candidates), whole)
