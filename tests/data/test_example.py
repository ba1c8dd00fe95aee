"""`Example` and `Corpus`: offsets, candidates, hiding, and a digest of what is trained on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pssa.data.example import Corpus, Example, sentence_key
from pssa.errors import InputError

TEXT = "The battery life is poor."  # words 0 to 5: The battery life is poor .


@pytest.fixture
def example() -> Example:
    return Example.from_text(TEXT, (4, 16), label="negative")


def test_an_aspect_is_placed_on_words_by_its_characters(example: Example) -> None:
    assert example.words == ("The", "battery", "life", "is", "poor", ".")
    assert example.aspect == (1, 3)
    assert example.aspect_chars == (4, 16)
    assert example.aspect_text == "battery life"


def test_an_aspect_inside_a_word_becomes_a_word_of_its_own() -> None:
    example = Example.from_text("a touchscreen", (7, 13))
    assert example.words == ("a", "touch", "screen")
    assert example.aspect == (2, 3)


def test_candidates_are_neither_aspect_nor_hidden_and_hiding_adds_up(example: Example) -> None:
    assert example.candidates == {0, 3, 4, 5}
    assert example.hide([4]).candidates == {0, 3, 5}
    hidden = example.hide([4]).hide([0])
    assert hidden.hidden == {0, 4}
    assert example.hidden == frozenset()
    assert hidden.words == example.words


@pytest.mark.parametrize("aspect", [(4, 4), (16, 4), (-1, 3), (20, 26), (3, 4)])  # the last is a space
def test_offsets_outside_the_text_are_refused(aspect: tuple[int, int]) -> None:
    with pytest.raises(InputError, match=f"aspect offsets {aspect[0]}-{aspect[1]}"):
        Example.from_text(TEXT, aspect)


def test_sentences_are_the_same_whatever_their_case_and_space() -> None:
    assert sentence_key("A  good\tone") == sentence_key("a Good one ")
    assert sentence_key("a good one") != sentence_key("a good one!")
    assert Example.from_text("Good screen", (5, 11)).sentence_id == sentence_key("good screen")


def corpus_of(example: Example) -> Corpus:
    other = replace(example, id="1", label="positive")
    return Corpus((example, other, example), dropped={"conflict": 2})


def test_a_corpus_is_a_sequence_and_its_slice_a_corpus_with_its_labels(example: Example) -> None:
    corpus = corpus_of(example)
    assert len(corpus) == 3
    assert corpus[1].label == "positive"
    assert [found.label for found in corpus] == ["negative", "positive", "negative"]
    assert corpus.select([1, 0]).examples == (corpus[1], corpus[0])
    examples = tuple(Example.from_text("a menu", (2, 6), label="good", id=str(number)) for number in range(5))
    corpus = Corpus(examples, ("good", "bad"), {"conflict": 1})
    assert corpus[1:4:2] == Corpus((examples[1], examples[3]), ("good", "bad"))
    assert corpus[-1] == examples[4]


def test_the_digest_knows_texts_words_aspects_labels_and_order_but_not_ids(example: Example) -> None:
    digest = Corpus((example,)).hash()
    assert Corpus((replace(example, id="x", sentence_id="y", tags=("hard",)),)).hash() == digest
    others = (
        replace(example, label="positive"),
        replace(example, aspect=(1, 2)),
        replace(example, spans=example.spans[:-1]),
        replace(example, text=TEXT.upper()),
    )
    assert digest not in {Corpus((other,)).hash() for other in others}
    assert Corpus((example, others[0])).hash() != Corpus((others[0], example)).hash()
