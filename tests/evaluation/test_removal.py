"""Taking words away: the aspect stays where it is, or moves with its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.toys import VOCABULARY, BagOfWords, example, indexed, probability
from torch import Tensor

from pssa.data.example import Example
from pssa.errors import InputError
from pssa.evaluation.removal import by_deletion, by_mask, without

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
    short = without(example("The big screen, it's great."), gone)
    assert (short.text, short.aspect_text) == (text, "screen")


@pytest.mark.slow
@given(WORDS, WORDS, st.data())
def test_the_others_stay_in_order_with_the_aspect_among_them(
    left: list[str], right: list[str], data: st.DataObject
) -> None:
    whole = example(" ".join([*left, "hard drive", *right]), "hard drive")
    gone = data.draw(st.sets(st.sampled_from(sorted(whole.candidates)))) if whole.candidates else set()
    short = without(whole, gone)
    assert short.words == tuple(word for place, word in enumerate(whole.words) if place not in gone)
    assert short.aspect_text == "hard drive"
    assert len(short.candidates) == len(whole.candidates) - len(gone)
    assert "  " not in short.text


def test_hidden_words_stay_hidden_where_they_come_to_stand() -> None:
    whole = example("so the screen is great").hide([4])
    assert without(whole, [0, 3]).hidden == {2}
    assert without(whole, [4]).hidden == frozenset()


def test_what_is_cut_out_changes_neither_label_nor_id() -> None:
    whole = replace(example("a great screen", label="yes"), id="n7", tags=("odd",))
    short = without(whole, [1])
    assert (short.id, short.sentence_id, short.label, short.tags) == ("n7", whole.sentence_id, "yes", ("odd",))


def test_the_aspect_cannot_be_cut_out() -> None:
    with pytest.raises(InputError, match="the aspect of example 0 cannot be cut out"):
        without(example("a great screen"), [1, 2])


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
