"""Running a model over a corpus; several aspects of one sentence share one encoding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.models import variants
from tests.models.encoders import tiny_encoder
from torch import Tensor, nn

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.evaluation import predict as predict_module
from pssa.evaluation import predict_classes, predict_logits
from pssa.models import IndexedCorpus, index_words

# Sentences of several lengths, their aspects apart from each other; "the" and "screen" also as one aspect.
TEXTS = ("the screen is great but the price is not", "the price", "so the screen is usual", "the screen is poor")
SPANS = ((0, (4, 10)), (1, (4, 9)), (2, (7, 13)), (0, (28, 33)), (3, (4, 10)), (0, (0, 10)), (2, (3, 13)), (1, (0, 3)))
EXAMPLES = [Example.from_text(TEXTS[text], span) for text, span in SPANS]


def corpus_for(pair: bool = False) -> IndexedCorpus:
    return IndexedCorpus.of(tiny_encoder().cutter(pair, 0).features(EXAMPLES, DEFAULT_LABELS))


def build(name: str, **options: Any) -> nn.Module:
    return models.build(name, tiny_encoder(), 3, options, seed=1).eval()


@torch.no_grad()
def one_by_one(model: Any, corpus: IndexedCorpus) -> Tensor:
    batches = [corpus.batch(torch.tensor([row])) for row in range(len(corpus))]
    return torch.cat([model.classify(model.encode(batch), batch).logits for batch in batches])


def encoded(model: Any, corpus: IndexedCorpus, batch_size: int) -> list[int]:
    """How many sentences the encoder reads in each step."""
    seen: list[int] = []
    hook = model.encoder.body.register_forward_pre_hook(
        lambda module, given, named: seen.append(len(named["input_ids"])), with_kwargs=True
    )
    predict_logits(model, corpus, batch_size)
    hook.remove()
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 2, 3, 256])
@pytest.mark.parametrize("variant", variants.VARIANTS)
def test_every_row_gets_what_it_gets_alone_whatever_it_shares(variant: str, batch_size: int) -> None:
    model, name = variants.build(variant, variants.start_of(variant)), variants.name_of(variant)
    corpus = corpus_for(models.reads_pairs(name))
    if not models.uses_encoder(name):
        corpus = index_words(EXAMPLES, variants.VOCABULARY, DEFAULT_LABELS)
    torch.testing.assert_close(predict_logits(model, corpus, batch_size), one_by_one(model, corpus), atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_att"])
def test_a_sentence_is_encoded_once_for_all_its_aspects(name: str) -> None:
    model = build(name)
    assert encoded(model, corpus_for(), 256) == [4]
    assert encoded(model, corpus_for(), 3) == [3, 1]


def test_every_row_is_read_where_the_aspect_is_seen_or_self_attention_refined() -> None:
    assert encoded(build("bertabsa_cls"), corpus_for(pair=True), 256) == [8]
    model = build("bertabsa", refine="average")
    assert encoded(model, corpus_for(), 256) == [8]
    torch.testing.assert_close(
        predict_logits(model, corpus_for(), 3), one_by_one(model, corpus_for()), atol=1e-5, rtol=0
    )


def test_a_sentence_with_very_many_aspects_is_encoded_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict_module, "_MAX_ROWS", 2)
    examples = [Example.from_text(TEXTS[1], (4, 9))] * 5
    corpus = IndexedCorpus.of(tiny_encoder().cutter(False, 0).features(examples, DEFAULT_LABELS))
    assert encoded(build("bertabsa_att"), corpus, 1) == [1, 1, 1]


def test_a_part_of_a_corpus_is_predicted_in_its_own_order() -> None:
    model, corpus = build("bertabsa_att"), corpus_for()
    rows = [6, 1, 4]
    part = predict_logits(model, corpus.select(rows), 2)
    torch.testing.assert_close(part, one_by_one(model, corpus)[rows], atol=1e-5, rtol=0)
    assert predict_classes(model, corpus.select(rows)).equal(part.argmax(dim=1))
