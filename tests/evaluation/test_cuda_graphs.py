"""Recorded encoders: what is recorded and what a replay reads; where there is a GPU, with its graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.models.encoders import tiny_encoder

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.errors import PssaWarning
from pssa.evaluation.cuda_graphs import RecordedEncoder
from pssa.evaluation.predict import predict_logits, start_logits
from pssa.models import IndexedCorpus

TEXTS = ("the screen is great but the price is not", "the screen", "so the screen is usual", "the screen of this one")


class ReplayedOnTheHost(RecordedEncoder):
    """Runs again what would be recorded, as a replay does."""

    def _capture(self, run: Callable[[], Any], device: torch.device) -> Callable[[], None]:
        return run


class Unrecordable(RecordedEncoder):
    """An encoder that waits for a number from the GPU."""

    def _capture(self, run: Callable[[], Any], device: torch.device) -> Callable[[], None]:
        raise RuntimeError("operation not permitted when stream is capturing")


def corpus_of(texts: tuple[str, ...], pair: bool = False) -> IndexedCorpus:
    examples = [Example.from_text(text, (text.index("screen"), text.index("screen") + 6)) for text in texts]
    return IndexedCorpus.of(tiny_encoder().cutter(pair, 0).features(examples, DEFAULT_LABELS))


@pytest.mark.parametrize("name", ["bertabsa_att", "bertabsa_cls"])
def test_a_replay_gives_each_batch_its_own_states(name: str) -> None:
    model: Any = models.build(name, tiny_encoder(), 3, {}, seed=1)
    encoder = ReplayedOnTheHost(model.encoder, tiny_encoder().pad_id)
    # Each in the room of the one before: fewer rows, other texts, more rows.
    for texts in (TEXTS, TEXTS[1:3], (*TEXTS[::-1], "a screen"), TEXTS[:1] * 3):
        corpus = corpus_of(texts, models.reads_pairs(name))
        found = start_logits(model, corpus, 4, encoder)()
        torch.testing.assert_close(found, predict_logits(model, corpus, 4), atol=1e-5, rtol=0)
    assert encoder._recordings


def test_an_encoder_that_cannot_be_recorded_runs_as_usual_with_one_warning() -> None:
    model: Any = models.build("bertabsa_att", tiny_encoder(), 3, {}, seed=1)
    encoder, corpus = Unrecordable(model.encoder, tiny_encoder().pad_id), corpus_of(TEXTS)
    expected = predict_logits(model, corpus)
    with pytest.warns(PssaWarning, match="cannot be recorded") as warned:
        found = [start_logits(model, corpus, encoder=encoder)() for _ in range(3)]
    assert len(warned) == 1
    assert all(each.equal(expected) for each in found)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU to record on")
def test_graphs_replay_what_the_encoder_computes() -> None:
    model: Any = models.build("bertabsa_att", tiny_encoder(), 3, {}, seed=1).to("cuda")
    encoder = RecordedEncoder(model.encoder, tiny_encoder().pad_id)
    for texts in (TEXTS, TEXTS[1:3], TEXTS[::-1]):
        corpus = corpus_of(texts)
        found = start_logits(model, corpus, 4, encoder)()
        torch.testing.assert_close(found, predict_logits(model, corpus, 4), atol=1e-4, rtol=0)
    assert encoder._recordings
