"""Agreement with marked words, counted by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.toys import LABELS, example, indexed
from torch import Tensor

from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.example import Corpus
from pssa.errors import InputError
from pssa.evaluation.agreement import NEAREST, Hits, _chance, marked_words, measure_agreement, nearness

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


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=1, max_size=6).filter(any))
def test_chance_is_the_mean_over_all_orders(marks: list[bool]) -> None:
    orders = list(permutations(marks))
    first = np.mean([order[0] for order in orders])
    recall = np.mean([sum(order[:3]) / sum(marks) for order in orders])
    marked = torch.tensor([marks])
    assert _chance(marked, torch.ones_like(marked))[0].tolist() == pytest.approx([first, recall, first])


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
