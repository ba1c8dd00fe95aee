"""Tags, spans and decoding, with answers derived by hand; and both kinds of taggers."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.aspects.made_taggers import SMALL
from tests.models.encoders import tiny_encoder

from pssa import models
from pssa.aspects.spans import AspectSentence, cut_words
from pssa.aspects.tagger import (
    BEGIN,
    INSIDE,
    OUTSIDE,
    TAGS,
    as_example,
    decode,
    index_sentences,
    predict_tags,
    spans_of,
    tags_of,
)
from pssa.data.vocabulary import Vocabulary
from pssa.models import WordTable
from pssa.runs.featurizer import Featurizer, PieceFeaturizer, WordFeaturizer

O, B, I = OUTSIDE, BEGIN, INSIDE  # noqa: E741


def is_valid(tags: list[int]) -> bool:
    return all(tag != I or before in (B, I) for before, tag in itertools.pairwise([O, *tags]))


def word_featurizer() -> WordFeaturizer:
    vocabulary = Vocabulary.build(["the", "screen", "is", "great"])
    return WordFeaturizer(vocabulary, WordTable(torch.randn(len(vocabulary), 5), vocabulary.n_trained))


def test_tags_of_neighbours_and_of_parts_of_words() -> None:
    text = "battery life screen softwares"
    spans = cut_words(text)
    assert tags_of(spans, [(0, 12), (13, 19), (20, 28)]) == [B, I, B, B]
    assert spans_of([B, I, B, O], spans) == ((0, 12), (13, 19))


def test_decoding_takes_the_best_valid_sequence_and_gives_up_a_likely_o_for_it() -> None:
    # Alone, the second word is best as I (0.5), but the first is surely O; then B (0.3) and O (0.2) remain.
    probabilities = torch.tensor([[0.98, 0.01, 0.01], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
    assert decode(probabilities.log().T[None], torch.tensor([3])) == [[O, B, I]]
    # O then I is forbidden: 0.55 * 0.02 (O O) and 0.55 * 0.03 (O B) lose to 0.45 * 0.95 (B I).
    probabilities = torch.tensor([[0.55, 0.45, 0.0], [0.02, 0.03, 0.95]])
    assert decode(probabilities.log().T[None], torch.tensor([2])) == [[B, I]]


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.floats(-5, 5)] * 3), min_size=1, max_size=5), st.integers(0, 3))
def test_decoding_is_an_exact_search_whatever_follows(scores: list[tuple[float, ...]], padding: int) -> None:
    length = len(scores)
    logits = torch.tensor(scores, dtype=torch.float64)
    padded = torch.cat([logits, torch.randn(padding, 3, dtype=torch.float64)])
    [found] = decode(padded.T[None].float(), torch.tensor([length]))
    logs = logits.float().log_softmax(dim=1)

    def total(tags: tuple[int, ...]) -> float:
        return sum(float(logs[place, tag]) for place, tag in enumerate(tags))

    best = max(total(tags) for tags in itertools.product((O, B, I), repeat=length) if is_valid([*tags]))
    assert is_valid(found)
    assert math.isclose(total(tuple(found)), best, abs_tol=1e-4)


@pytest.mark.parametrize("kind", ["words", "bert", "roberta", "deberta-v2"])
def test_taggers_score_every_word_alone_or_in_a_batch(kind: str) -> None:
    featurizer: Featurizer = word_featurizer() if kind == "words" else PieceFeaturizer(tiny_encoder(kind), pair=False)
    name, options = ("tagger", SMALL) if kind == "words" else ("encoder_tagger", {})
    model = models.build(name, featurizer.table, len(TAGS), options, 0).eval()
    texts = ["the screen is great", "great", "unbelievably oversized 屏幕 screens is the"]
    examples = [as_example(AspectSentence(text, ())) for text in texts]
    together = index_sentences(examples, featurizer, [[O] * len(example.spans) for example in examples])
    with torch.no_grad():
        batch = together.batch(torch.arange(3))
        logits = model.classify(model.encode(batch), batch).logits  # type: ignore[operator]
        assert logits.shape == (3, 3, batch.candidates.shape[1]) == (3, 3, batch.labels.shape[1])
        for row, example in enumerate(examples):
            one = index_sentences([example], featurizer).batch(torch.tensor([0]))
            alone = model.classify(model.encode(one), one).logits  # type: ignore[operator]
            assert torch.allclose(alone[0], logits[row, :, : len(example.spans)], atol=1e-5)
    assert [len(tags) for tags in predict_tags(model, together)] == [len(example.spans) for example in examples]
    assert all(map(is_valid, predict_tags(model, together)))
