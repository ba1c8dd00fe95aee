"""Single sentences as models see them: a scripted one, and BERTABSA, whose attention lies in its encoder."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.experiments.analyses.subjects import classifier, corpus, subject
from tests.models.encoders import tiny_encoder

from pssa import models
from pssa.data.example import DEFAULT_LABELS
from pssa.experiments.analyses.heat import look
from pssa.runs.classifier import Classifier
from pssa.runs.featurizer import PieceFeaturizer

TEST = corpus("a dim screen", "bright screen", labels=("negative", "positive"))
TRAIN = corpus("screen so sharp")


def test_sentences_are_described_by_their_lines() -> None:
    model = classifier([[0.25, 0.75, 0.0]], (0,), TEST, TRAIN)
    (first,) = look(subject(TRAIN, TEST, model), test=(1,))
    assert first["probabilities"] == pytest.approx({"positive": 0.9, "negative": 0.05, "neutral": 0.05})
    del first["probabilities"]
    assert first == {
        "part": "test",
        "line": 1,
        "text": "a dim screen",
        "spans": [[0, 1], [2, 5], [6, 12]],
        "aspect": [2, 3],
        "shares": [0.25, 0.75, 0.0],
        "gold": "negative",
        "saliency": "attention",
    }


def test_lines_that_are_not_there_are_left_out() -> None:
    model = classifier([[0.5, 0.5, 0.0]], (0,), TEST, TRAIN)
    found = look(subject(TRAIN, TEST, model), test=(1, 3), train=(1, 9))
    assert [(each["part"], each["line"]) for each in found] == [("test", 1), ("train", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("head", ["linear", "dense"])
def test_bertabsa_shows_the_mean_head_of_its_top_layer_from_the_aspect(head: str) -> None:
    encoder = tiny_encoder("bert")
    featurizer = PieceFeaturizer(encoder, pair=False)
    model = models.build("bertabsa", encoder, 3, {"head": head}, seed=3).eval()
    plain = Classifier("bertabsa", DEFAULT_LABELS, featurizer, (model,), (1.0,))
    given = corpus("the battery is poor but the screen is great")
    (seen,) = look(subject(given, given, plain), test=(1,))

    body: Any = encoder.body("eager", 0.1).eval()
    body.load_state_dict(model.encoder.body.state_dict())  # type: ignore[union-attr]
    batch = plain.index(given).batch(torch.tensor([0]))
    with torch.no_grad():
        weights = body(batch.positions, batch.present.long(), output_attentions=True).attentions[-1]
    mean_head = weights.mean(dim=1)[0, batch.aspect_positions[0]].mean(dim=0)  # (P,)
    shares = torch.zeros(len(given[0].words))
    for position, word in enumerate(batch.word_of[0].tolist()):
        if word in given[0].candidates:
            shares[word] += mean_head[position]
    assert seen["shares"] == pytest.approx((shares / shares.sum()).tolist(), abs=1e-4)
    assert seen["probabilities"] == pytest.approx(plain.answer(given)[0].probabilities, abs=1e-4)
    assert model.encoder.refinement is None  # type: ignore[union-attr]
