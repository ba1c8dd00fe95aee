"""Faithfulness, and the two ways of removing words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.toys import VOCABULARY, WEIGHTS, BagOfWords, example, indexed, probability, weight_scores
from torch import Tensor

from pssa.data.example import Example
from pssa.errors import InputError
from pssa.evaluation.agreement import rank_words
from pssa.evaluation.faithfulness import (
    COLUMNS,
    Faithfulness,
    RemovalTargets,
    Remove,
    by_deletion,
    by_mask,
    cut_words,
    measure_drops,
    measure_faithfulness,
    random_drops,
)

pytestmark = pytest.mark.slow

SENTENCE = "the screen is great and good and so bad"  # 2 + 1 + .25 - 1 = 2.25
sentences = st.lists(st.lists(st.sampled_from([*WEIGHTS, "the", "is"]), max_size=7), min_size=1, max_size=5)


def by_mask_from(*examples: Example) -> RemovalTargets:
    """The sentences as the bag of words sees them, words being removed by the mask token."""
    corpus = indexed(examples)
    return RemovalTargets.predict(corpus.table.candidates, by_mask(BagOfWords(), corpus))


def measured(*examples: Example, scores: Tensor | None = None, seed: int = 0) -> Faithfulness:
    """The faithfulness of the weights of the words, or of other scores."""
    corpus = indexed(examples)
    values = {"s": weight_scores(corpus) if scores is None else scores}
    return measure_faithfulness(values, corpus.table.candidates, by_mask(BagOfWords(), corpus), seed)["s"]


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
    # 1, 5 and 10 % of eight words are one, 20 % two, 50 % four.
    without = {1: probability(0.25), 2: probability(-0.75), 3: probability(0.25), 4: probability(0)}
    only = {1: probability(2), 2: probability(3), 3: probability(2), 4: probability(2.25)}
    for measure, left in ((found.comprehensiveness, without), (found.sufficiency, only)):
        drops = {size: whole - value for size, value in left.items()}
        expected = [drops[1], drops[2], drops[3], (3 * drops[1] + drops[2] + drops[4]) / 5]
        assert [measure[column].value.mean for column in COLUMNS] == pytest.approx(expected, abs=1e-6)


def test_the_class_stays_the_one_predicted_from_the_whole_sentence() -> None:
    # 0.5 - 1 predicts class 1, whose probability falls when `bad` goes, although class 0 is then predicted.
    first = measured(example("a fine screen but bad")).comprehensiveness["1"].value.mean
    assert first == pytest.approx(probability(0.5) - probability(-0.5), abs=1e-6)


def test_a_sentence_with_fewer_words_than_asked_for_gives_what_it_has() -> None:
    found, drop = measured(example("great screen")), probability(2) - probability(0)
    assert [each.value.mean for each in found.comprehensiveness.values()] == pytest.approx([drop] * 4, abs=1e-6)
    assert [each.value.mean for each in found.sufficiency.values()] == pytest.approx([0] * 4, abs=1e-7)


@pytest.mark.parametrize(
    ("words", "percent_50", "percent_20"), [(1, 1, 1), (2, 1, 1), (5, 3, 1), (6, 3, 2), (10, 5, 2)]
)
def test_percentages_are_rounded_up(words: int, percent_50: int, percent_20: int) -> None:
    gone: list[list[int]] = []

    def remove(rows: Tensor, taken: Tensor) -> Tensor:
        gone.append(taken.sum(dim=1).tolist())
        return torch.full((len(rows), 2), 0.5)

    candidates = torch.ones(1, words, dtype=torch.bool)
    looked = RemovalTargets.predict(candidates, remove)
    measure_drops(looked, rank_words(torch.rand(1, words), candidates))
    sizes = sorted({1, min(2, words), min(3, words), percent_20, percent_50})
    assert gone == [[0], sizes, [words - size for size in sizes]]


def test_sentences_without_candidates_are_left_out() -> None:
    alone, twice = example("screen"), example("screen screen", "screen screen")
    assert by_mask_from(alone, example("great screen"), twice).rows.tolist() == [1]
    with pytest.raises(InputError, match="none of the 2 sentences has a word"):
        by_mask_from(alone, twice)


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
        measure_drops(RemovalTargets.predict(corpus.table.candidates, remove), ranks)
        for remove in ways(BagOfWords(), examples).values()
    ]
    for masked, deleted in zip(*found, strict=True):
        assert masked == pytest.approx(deleted, abs=1e-6)


def test_a_mask_token_with_a_weight_tells_the_ways_apart() -> None:
    examples = [example("great screen")]
    candidates = indexed(examples).table.candidates
    drops = [
        measure_drops(RemovalTargets.predict(candidates, remove), torch.tensor([[0, 1]]))[0, 0, 0]
        for remove in ways(BagOfWords(mask=2.0), examples).values()
    ]
    assert drops == pytest.approx([0, probability(2) - probability(0)], abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.sampled_from(["great", "good", "fine", "so", "the"]), min_size=1, max_size=9))
def test_of_words_that_all_speak_for_the_class_no_order_beats_that_by_weight(words: list[str]) -> None:
    sentence = example(" ".join([*words, "screen"]))
    looked = by_mask_from(sentence)
    ranks = rank_words(weight_scores(indexed([sentence])), looked.candidates)
    comprehensiveness, sufficiency = measure_drops(looked, ranks)
    others = random_drops(looked, [1, 2, 3])
    assert (comprehensiveness >= others[0] - 1e-6).all()
    assert (sufficiency <= others[1] + 1e-6).all()


def test_the_control_is_the_mean_over_random_orders() -> None:
    # One word of three counts: without a random one, a third of the drop is lost on average.
    found = measured(*[example("great is the screen")] * 600, scores=torch.zeros(600, 4))
    drop = probability(2) - probability(0)
    first = found.comprehensiveness["1"]
    assert first.control.mean == pytest.approx(drop / 3, abs=0.03)
    assert first.control.low < drop / 3 < first.control.high
    # A saliency that says nothing is a random order too.
    assert first.difference.low < 0 < first.difference.high
    assert found.sufficiency["1"].control.mean == pytest.approx(drop * 2 / 3, abs=0.03)


def test_the_control_takes_several_orders_and_follows_from_the_seed() -> None:
    sentence = example(SENTENCE)
    found = measured(sentence, seed=4)
    single = [random_drops(by_mask_from(sentence), [seed])[0, 0] for seed in (5, 6, 7)]
    assert len({tuple(drops) for drops in single}) == 3
    assert [found.comprehensiveness[column].control.mean for column in COLUMNS] == pytest.approx(sum(single) / 3)
    assert found == measured(sentence, seed=4) != measured(sentence, seed=5)


def test_saliencies_share_a_control_and_no_word_costs_a_pass_of_its_own() -> None:
    corpus, model = indexed([example(SENTENCE)] * 5), BagOfWords()
    scores = {"a": weight_scores(corpus), "b": 1 - weight_scores(corpus)}
    found = measure_faithfulness(scores, corpus.table.candidates, by_mask(model, corpus))
    assert found["a"].comprehensiveness["2"].control == found["b"].comprehensiveness["2"].control
    # Once as a whole; then 1, 2, 3 and 4 words gone and the others gone, for two saliencies and three random orders.
    assert sum(len(batch.positions) for batch in model.seen) == 5 * (1 + 2 * 4 * (2 + 3))


def test_no_more_sentences_are_held_than_the_bound_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = [example(SENTENCE), example("great screen"), example("so awful a screen")]
    looked = by_mask_from(*examples)
    ranks = rank_words(weight_scores(indexed(examples)), looked.candidates)
    whole = measure_drops(looked, ranks)
    monkeypatch.setattr("pssa.evaluation.faithfulness._AT_ONCE", 2)
    for part, of_whole in zip(measure_drops(looked, ranks), whole, strict=True):
        assert part == pytest.approx(of_whole)


WORDS = st.lists(st.sampled_from(["great", "bad", "so", "the", ",", "don't", "well-made"]), max_size=6)


@pytest.mark.parametrize(
    ("gone", "text"),
    [
        ([], "The big screen, it's great."),
        ([0, 1], "screen, it's great."),
        ([3], "The big screen it's great."),
        ([7], "The big screen, it's ."),
        ([8], "The big screen, it's great"),
        ([5], "The big screen, it s great."),
        ([0, 1, 3, 4, 5, 6, 7, 8], "screen"),
    ],
)
def test_words_go_and_one_space_stays(gone: list[int], text: str) -> None:
    short = cut_words(example("The big screen, it's great."), gone)
    assert (short.text, short.aspect_text) == (text, "screen")


@given(WORDS, WORDS, st.data())
def test_the_others_stay_in_order_with_the_aspect(left: list[str], right: list[str], data: st.DataObject) -> None:
    whole = example(" ".join([*left, "hard drive", *right]), "hard drive")
    gone = data.draw(st.sets(st.sampled_from(sorted(whole.candidates)))) if whole.candidates else set()
    short = cut_words(whole, gone)
    assert short.words == tuple(word for place, word in enumerate(whole.words) if place not in gone)
    assert short.aspect_text == "hard drive"
    assert len(short.candidates) == len(whole.candidates) - len(gone)
    assert "  " not in short.text


def test_what_is_cut_out_changes_neither_label_nor_id_nor_what_is_hidden_nor_the_aspect() -> None:
    whole = example("so the screen is great").hide([4])
    assert cut_words(whole, [0, 3]).hidden == {2}
    assert cut_words(whole, [4]).hidden == frozenset()
    whole = replace(example("a great screen", label="yes"), id="n7", tags=("odd",))
    short = cut_words(whole, [1])
    assert (short.id, short.sentence_id, short.label, short.tags) == ("n7", whole.sentence_id, "yes", ("odd",))
    with pytest.raises(InputError, match="the aspect of example 0 cannot be cut"):
        cut_words(example("a great screen"), [1, 2])


def test_a_masked_word_counts_as_the_mask_token_and_a_deleted_one_not_at_all() -> None:
    examples = [example("the screen is bad"), example("a great and good screen")]
    corpus, model = indexed(examples), BagOfWords(mask=0.75)
    rows, words = torch.tensor([1, 1, 0]), torch.zeros(3, 5, dtype=torch.bool)
    words[0, 1] = words[1, 3] = words[2, 3] = True
    masked = by_mask(model, corpus)(rows, words)
    deleted = by_deletion(model.probabilities, examples, corpus.table.candidates)(rows, words)
    assert masked[:, 0].tolist() == pytest.approx([probability(logit) for logit in (1.75, 2.75, 0.75)])
    assert deleted[:, 0].tolist() == pytest.approx([probability(logit) for logit in (1, 2, 0)])


def test_a_masked_word_is_no_candidate_and_the_aspect_is_read_as_ever() -> None:
    corpus, model = indexed([example("the great screen")]), BagOfWords()
    by_mask(model, corpus)(torch.tensor([0]), torch.tensor([[False, True, False]]))
    [batch] = model.seen
    assert batch.candidates.tolist() == [[True, False, False]]
    the, screen = VOCABULARY.encode(["the", "screen"])
    assert batch.positions.tolist() == [[the, VOCABULARY.mask_id, screen]]


def test_words_that_were_not_read_stay_away_when_others_go() -> None:
    # The model had room for two words beside the aspect.
    whole = example("so great the screen is bad")
    candidates = torch.tensor([[False, False, True, False, True, False]])
    texts: list[list[str]] = []

    def probabilities(examples: Sequence[Example]) -> Tensor:
        texts.append([each.text for each in examples])
        return torch.zeros(len(examples), 2)

    words = torch.zeros(2, 6, dtype=torch.bool)
    words[1, 4] = True
    by_deletion(probabilities, [whole], candidates)(torch.tensor([0, 0]), words)
    assert texts == [["the screen is", "the screen"]]
