"""Comprehensiveness and sufficiency of a linear bag of words, by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.toys import WEIGHTS, BagOfWords, example, indexed, probability, weight_scores
from torch import Tensor

from pssa.data.example import Example
from pssa.errors import InputError
from pssa.evaluation.faithfulness import COLUMNS, Sentences, measure_drops, measure_faithfulness, random_drops
from pssa.evaluation.ranking import rank_words
from pssa.evaluation.removal import Remove, by_deletion, by_mask

pytestmark = pytest.mark.slow

SENTENCE = "the screen is great and good and so bad"  # 2 + 1 + .25 - 1 = 2.25
sentences = st.lists(st.lists(st.sampled_from([*WEIGHTS, "the", "is"]), max_size=7), min_size=1, max_size=5)


def ways(model: BagOfWords, examples: list[Example]) -> dict[str, Remove]:
    corpus = indexed(examples)
    return {
        "mask": by_mask(model, corpus),
        "deletion": by_deletion(model.probabilities, examples, corpus.table.candidates),
    }


@pytest.mark.parametrize("way", ["mask", "deletion"])
def test_drops_are_those_worked_out_by_hand(way: str) -> None:
    examples = [example(SENTENCE)]
    corpus = indexed(examples)
    scores = torch.tensor([[0, 0, 0, 8.0, 1.0, 4.0, 0.5, 2.0, 3.0]])  # great, good, bad, so, and, and, ...
    found = measure_faithfulness({"s": scores}, corpus.table.candidates, ways(BagOfWords(), examples)[way])["s"]
    whole = probability(2.25)
    # Of eight words, 1, 5 and 10 % are one, 20 % two, 50 % four.
    without = {1: probability(0.25), 2: probability(-0.75), 3: probability(0.25), 4: probability(0)}
    only = {1: probability(2), 2: probability(3), 3: probability(2), 4: probability(2.25)}
    for measure, left in ((found.comprehensiveness, without), (found.sufficiency, only)):
        drops = {size: whole - value for size, value in left.items()}
        expected = [drops[1], drops[2], drops[3], (3 * drops[1] + drops[2] + drops[4]) / 5]
        assert [measure[column].value.mean for column in COLUMNS] == pytest.approx(expected, abs=1e-6)


def test_the_class_stays_the_one_predicted_from_the_whole_sentence() -> None:
    # 0.5 - 1 predicts class 1, whose probability falls when `bad` goes, although class 0 is then predicted.
    corpus = indexed([example("a fine screen but bad")])
    found = measure_faithfulness({"s": weight_scores(corpus)}, corpus.table.candidates, by_mask(BagOfWords(), corpus))
    first = found["s"].comprehensiveness["1"].value.mean
    assert first == pytest.approx(probability(0.5) - probability(-0.5), abs=1e-6)


def test_a_sentence_with_fewer_words_than_asked_for_gives_what_it_has() -> None:
    corpus = indexed([example("great screen")])
    found = measure_faithfulness({"s": weight_scores(corpus)}, corpus.table.candidates, by_mask(BagOfWords(), corpus))
    drop = probability(2) - probability(0)
    assert [each.value.mean for each in found["s"].comprehensiveness.values()] == pytest.approx([drop] * 4, abs=1e-6)
    assert [each.value.mean for each in found["s"].sufficiency.values()] == pytest.approx([0] * 4, abs=1e-7)


@pytest.mark.parametrize(
    ("words", "percent_50", "percent_20"), [(1, 1, 1), (2, 1, 1), (5, 3, 1), (6, 3, 2), (10, 5, 2)]
)
def test_percentages_are_rounded_up(words: int, percent_50: int, percent_20: int) -> None:
    gone: list[list[int]] = []

    def remove(rows: Tensor, taken: Tensor) -> Tensor:
        gone.append(taken.sum(dim=1).tolist())
        return torch.full((len(rows), 2), 0.5)

    candidates = torch.ones(1, words, dtype=torch.bool)
    looked = Sentences.look(candidates, remove)
    measure_drops(looked, rank_words(torch.rand(1, words), candidates))
    sizes = sorted({1, min(2, words), min(3, words), percent_20, percent_50})
    assert gone == [[0], sizes, [words - size for size in sizes]]


def test_sentences_without_candidates_are_left_out() -> None:
    examples = [example("screen"), example("great screen"), example("screen screen", "screen screen")]
    corpus = indexed(examples)
    looked = Sentences.look(corpus.table.candidates, by_mask(BagOfWords(), corpus))
    assert looked.rows.tolist() == [1]
    with pytest.raises(InputError, match="none of the 2 sentences has a word beside its aspect"):
        Sentences.look(corpus.table.candidates[[0, 2]], looked.remove)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["mask", "deletion"])
@settings(max_examples=25, deadline=None)
@given(drawn=sentences, seed=st.integers(0, 9))
def test_the_aspect_is_never_taken_away(way: str, drawn: list[list[str]], seed: int) -> None:
    examples = [example(" ".join([*words, "screen", "so"])) for words in drawn]
    corpus, remove = indexed(examples), ways(BagOfWords(), examples)[way]
    taken: list[tuple[Tensor, Tensor]] = []

    def watched(rows: Tensor, words: Tensor) -> Tensor:
        taken.append((rows, words))
        return remove(rows, words)

    measure_faithfulness({"s": weight_scores(corpus)}, corpus.table.candidates, watched, seed)
    assert all(bool((words <= corpus.table.candidates[rows]).all()) for rows, words in taken)


@settings(max_examples=25, deadline=None)
@given(drawn=sentences, seed=st.integers(0, 9))
def test_both_ways_agree_where_the_mask_token_says_nothing(drawn: list[list[str]], seed: int) -> None:
    # Only there: a mask token with a weight of its own, or a model that knows of order and length, tells them apart.
    examples = [example(" ".join([*words, "screen", "so"])) for words in drawn]
    corpus = indexed(examples)
    ranks = rank_words(weight_scores(corpus), corpus.table.candidates, seed)
    found = [
        measure_drops(Sentences.look(corpus.table.candidates, remove), ranks)
        for remove in ways(BagOfWords(), examples).values()
    ]
    for masked, deleted in zip(*found, strict=True):
        assert masked == pytest.approx(deleted, abs=1e-6)


def test_a_mask_token_with_a_weight_tells_the_ways_apart() -> None:
    examples = [example("great screen")]
    candidates = indexed(examples).table.candidates
    drops = [
        measure_drops(Sentences.look(candidates, remove), torch.tensor([[0, 1]])).comprehensiveness[0, 0]
        for remove in ways(BagOfWords(mask=2.0), examples).values()
    ]
    assert drops == pytest.approx([0, probability(2) - probability(0)], abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.sampled_from(["great", "good", "fine", "so", "the"]), min_size=1, max_size=9))
def test_of_words_that_all_speak_for_the_class_no_order_beats_that_by_weight(words: list[str]) -> None:
    examples = [example(" ".join([*words, "screen"]))]
    corpus = indexed(examples)
    looked = Sentences.look(corpus.table.candidates, by_mask(BagOfWords(), corpus))
    best = measure_drops(looked, rank_words(weight_scores(corpus), looked.candidates))
    other = random_drops(looked, [1, 2, 3])
    assert (best.comprehensiveness >= other.comprehensiveness - 1e-6).all()
    assert (best.sufficiency <= other.sufficiency + 1e-6).all()


def test_the_control_is_the_mean_over_random_orders() -> None:
    # One word of three counts: without a random one, a third of the drop is lost on average.
    examples = [example("great is the screen")] * 600
    corpus = indexed(examples)
    nothing = torch.zeros(corpus.table.candidates.shape)
    found = measure_faithfulness({"s": nothing}, corpus.table.candidates, by_mask(BagOfWords(), corpus))["s"]
    drop = probability(2) - probability(0)
    first = found.comprehensiveness["1"]
    assert first.control.mean == pytest.approx(drop / 3, abs=0.03)
    assert first.control.low < drop / 3 < first.control.high
    # A saliency that says nothing is a random order too.
    assert first.difference.low < 0 < first.difference.high
    assert found.sufficiency["1"].control.mean == pytest.approx(drop * 2 / 3, abs=0.03)


def test_the_control_takes_several_orders() -> None:
    corpus = indexed([example(SENTENCE)])
    looked = Sentences.look(corpus.table.candidates, by_mask(BagOfWords(), corpus))
    scores = {"s": weight_scores(corpus)}
    found = measure_faithfulness(scores, corpus.table.candidates, looked.remove, seed=4)["s"].comprehensiveness
    single = [random_drops(looked, [seed]).comprehensiveness[0] for seed in (5, 6, 7)]
    assert len({tuple(drops) for drops in single}) == 3
    assert [found[column].control.mean for column in COLUMNS] == pytest.approx(sum(single) / 3)


def test_equal_seeds_give_equal_numbers() -> None:
    corpus = indexed([example(SENTENCE), example("so bad is the screen")])
    candidates, remove = corpus.table.candidates, by_mask(BagOfWords(), corpus)
    scores = {"s": weight_scores(corpus)}
    assert measure_faithfulness(scores, candidates, remove, 3) == measure_faithfulness(scores, candidates, remove, 3)
    assert measure_faithfulness(scores, candidates, remove, 3) != measure_faithfulness(scores, candidates, remove, 4)


def test_saliencies_share_a_control_and_no_word_costs_a_pass_of_its_own() -> None:
    corpus, model = indexed([example(SENTENCE)] * 5), BagOfWords()
    scores = {"a": weight_scores(corpus), "b": 1 - weight_scores(corpus)}
    found = measure_faithfulness(scores, corpus.table.candidates, by_mask(model, corpus))
    assert found["a"].comprehensiveness["2"].control == found["b"].comprehensiveness["2"].control
    # Once as a whole; then 1, 2, 3 and 4 words gone and the others gone, for two saliencies and three random orders.
    assert sum(len(batch.positions) for batch in model.seen) == 5 * (1 + 2 * 4 * (2 + 3))


def test_no_more_sentences_are_held_than_the_bound_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = indexed([example(SENTENCE), example("great screen"), example("so awful a screen")])
    looked = Sentences.look(corpus.table.candidates, by_mask(BagOfWords(), corpus))
    ranks = rank_words(weight_scores(corpus), looked.candidates)
    whole = measure_drops(looked, ranks)
    monkeypatch.setattr("pssa.evaluation.faithfulness._AT_ONCE", 2)
    for part, of_whole in zip(measure_drops(looked, ranks), whole, strict=True):
        assert part == pytest.approx(of_whole)
