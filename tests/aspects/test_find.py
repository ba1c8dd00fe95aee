"""Finding aspects in raw text: what holds for every text, and hostile ones."""

from __future__ import annotations

import time
import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.aspects.made_taggers import toy_sentences
from tests.models.encoders import tiny_encoder

from pssa import models
from pssa.aspects import AspectFinder, evaluate_aspects
from pssa.aspects.spans import AspectSentence, cut_words
from pssa.aspects.tagger import TAGS, as_example, cut_parts
from pssa.runs.featurizer import PieceFeaturizer


def encoder_finder(kind: str = "bert") -> AspectFinder:
    """A tagger that was not trained: it finds something nearly everywhere."""
    featurizer = PieceFeaturizer(tiny_encoder(kind), pair=False)
    return AspectFinder(models.build("encoder_tagger", featurizer.table, len(TAGS), {}, 0).eval(), featurizer)


def check(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    """Spans are in order and apart, and begin and end with words."""
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    words = cut_words(text)
    assert {start for start, _ in spans} <= {start for start, _ in words}
    assert {end for _, end in spans} <= {end for _, end in words}


@pytest.mark.slow
def test_the_toy_tagger_knows_its_sentences(finder: AspectFinder) -> None:
    scores = evaluate_aspects(finder, toy_sentences())
    assert scores.f1 > 0.95
    assert scores.gold == 24


@pytest.mark.slow
def test_offsets_are_those_of_the_review(finder: AspectFinder) -> None:
    review = "😀 I bought it in May. The screen is great!\n\nDr. No: I hate the front desk!"
    assert [review[start:end] for start, end in finder.find(review)] == ["screen", "front desk"]


def test_reviews_together_get_what_they_get_alone(finder: AspectFinder) -> None:
    texts = [sentence.text for sentence in toy_sentences()] + ["", "word " * 700, "The screen is great. " * 50]
    assert finder.find_all(texts) == [finder.find(text) for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "bert", "roberta"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        ".",
        "😀" * 300,
        "屏幕很好。电池不行！" * 40,
        "شاشة رائعة جدا",
        "a\u0301b\u200dc " * 30,
        "x" * 3000,
        "The wifi " * 300,
    ],
)
def test_any_text_gets_valid_spans(finder: AspectFinder, kind: str, text: str) -> None:
    chosen = finder if kind == "words" else encoder_finder(kind)
    with warnings.catch_warnings():
        if kind == "roberta" and max(map(len, text.split()), default=0) > 100:
            warnings.simplefilter("ignore")  # one word has more pieces than the encoder can read: its end is not read
        check(text, chosen.find(text))


@pytest.mark.slow
@given(st.text(max_size=80))
def test_any_unicode_gets_valid_spans(finder: AspectFinder, text: str) -> None:
    check(text, finder.find(text))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word " * 20_000, "x" * 100_000, "The screen is great. " * 4_700, "!" * 100_000])
def test_long_texts_are_read_to_their_end(finder: AspectFinder, text: str) -> None:
    began = time.process_time()
    spans = finder.find(text)
    check(text, spans)
    assert time.process_time() - began < 60
    if "screen" in text:
        assert len(spans) == 4_700


def test_a_sentence_that_is_too_long_for_an_encoder_is_read_in_parts_without_loss() -> None:
    featurizer = PieceFeaturizer(tiny_encoder("bert"), pair=False)
    example = as_example(AspectSentence("the unbelievable screen, " * 60, ()))
    parts = cut_parts(
        [example, as_example(AspectSentence("", ())), as_example(AspectSentence("short", ()))], featurizer
    )
    assert [number for number, _ in parts] == [0] * (len(parts) - 1) + [2]
    assert len(parts) > 2
    words = [
        (int(part.id) + start, int(part.id) + end) for number, part in parts if number == 0 for start, end in part.spans
    ]
    assert tuple(words) == example.spans
    for _, part in parts:
        assert featurizer.cutter.count_positions([part])[0] <= featurizer.cutter.max_positions
