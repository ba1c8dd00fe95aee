"""An encoder whose table is trained only where pieces occur: the same training, and whole checkpoints."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.models.encoders import ARCHITECTURES, tiny_encoder
from tests.training.toys import Memory
from torch import nn

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.models import IndexedCorpus
from pssa.training import Settings, Task, fit

TEXTS = ("the screen is great", "the screen is poor", "so the screen is usual")
SETTINGS = Settings(batch_size=2, learning_rate=0.01)
SHARED = replace(SETTINGS, share_sentences=True)


def new_model(architecture: str = "bert") -> nn.Module:
    return models.build("bertabsa_att", tiny_encoder(architecture), 3, {"dropout": 0.0}, seed=1)


def task_for(architecture: str = "bert") -> Task:
    places = [text.index("screen") for text in TEXTS]
    examples = [
        Example.from_text(text, (start, start + 6), label=label)
        for text, start, label in zip(TEXTS, places, DEFAULT_LABELS, strict=True)
    ]
    features = tiny_encoder(architecture).cutter(False, 0).features(examples, DEFAULT_LABELS)
    return Task(IndexedCorpus.of(features), seed=5, stage="initial")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_rows_that_do_not_occur_need_no_training(architecture: str) -> None:
    whole, rows = new_model(architecture), new_model(architecture)
    fit(whole, task_for(architecture), SETTINGS, 3)
    fit(rows, task_for(architecture), SHARED, 3)
    assert list(whole.state_dict()) == list(rows.state_dict())
    for one, other in zip(whole.parameters(), rows.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_only_the_pieces_of_the_corpus_are_parameters_meanwhile() -> None:
    model, corpus = new_model(), task_for().train
    before = models.count_parameters(model)
    table = model.get_parameter("encoder.body.embeddings.word_embeddings.weight")
    old, ids = table.detach().clone(), torch.unique(corpus.table.positions)
    with models.train_rows(model, corpus):
        rows = model.get_parameter("encoder.body.embeddings.word_embeddings.weight")
        assert before - models.count_parameters(model) == (len(old) - len(ids)) * old.shape[1]
        every = torch.arange(len(old))
        assert torch.equal(model.get_submodule("encoder.body.embeddings.word_embeddings")(every), old)
        nn.init.ones_(rows)
    changed = (table != old).any(dim=1).nonzero().squeeze(1)
    assert changed.tolist() == ids.tolist()
    assert table is model.get_parameter("encoder.body.embeddings.word_embeddings.weight")


def test_a_training_goes_on_from_a_checkpoint_of_all_rows() -> None:
    straight, model, store = new_model(), new_model(), Memory()
    fit(straight, task_for(), SHARED, 4)
    fit(model, task_for(), SHARED, 2, store)
    table = model.get_parameter("encoder.body.embeddings.word_embeddings.weight")
    assert torch.equal(store.saved[-1].tensors["model.encoder.body.embeddings.word_embeddings.weight"], table)
    store.saved.pop()  # the one after the last epoch has no state of the optimiser
    resumed = new_model()
    fit(resumed, task_for(), SHARED, 4, store)
    for one, other in zip(straight.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)
