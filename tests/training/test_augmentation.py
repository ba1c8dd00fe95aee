"""Training with copies: drawn by seed, stage and epoch alone, weighed, and supervised as their instances are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.runs.interrupted import Interrupting
from tests.training.toys import Memory, new_model, parameters

from pssa.models import IndexedCorpus
from pssa.training import Settings, Supervision, Task, fit
from pssa.training.contrast import Contrast, ContrastOptions
from pssa.training.fit import count_steps, reserve_copies, rows_of_epoch

SETTINGS = Settings(batch_size=4, learning_rate=0.01)


@pytest.fixture
def contrast_task(corpus: IndexedCorpus) -> Task:
    """A supervised training with copies; no sentence has a word of an aspect, so that each can be a partner."""
    glue, unheard = torch.tensor([2]), torch.full_like(corpus.table.aspect, 1)
    corpus = replace(corpus, table=replace(corpus.table, aspect=unheard))
    options = ContrastOptions(share=0.5, weight=0.5, words=24)
    glues, glue_words = (glue,) * 3, (torch.zeros_like(glue),) * 3
    contrast = Contrast(options, torch.arange(18), glues, glue_words, 0, 100, topics=torch.zeros(18, 1))
    supervised = torch.zeros(corpus.table.candidates.shape, dtype=torch.bool)
    supervised[:, 1] = True
    supervision = Supervision(torch.arange(18.0)[:, None] * supervised, supervised, gamma=0.5)
    return Task(corpus, 5, "final", supervision=supervision, contrast=contrast)


def test_copies_expect_what_their_instances_do_at_the_words_new_places(contrast_task: Task) -> None:
    task = reserve_copies(contrast_task)
    assert task.supervision
    assert task.supervision.weights is not None
    assert task.weights is not None
    rows = rows_of_epoch(task, 1)
    copies = rows.table.take(torch.arange(18, len(rows)))
    assert len(rows) == 27
    assert copies.index.tolist() == list(range(18, 27))
    shifts = copies.aspect_span[:, 0]  # the aspect is the first word
    assert 0 in shifts
    assert shifts.max() > 0
    for row, (index, shift) in enumerate(zip(copies.index.tolist(), shifts.tolist(), strict=True)):
        expected = task.supervision.expected[index]
        assert task.supervision.supervised[index].nonzero().tolist() == [[shift + 1]]
        origin = int(expected[shift + 1])
        assert rows.labels[origin] == copies.labels[row]
    assert task.weights[:18].tolist() == [1.0] * 18
    assert task.weights[18:].tolist() == task.supervision.weights[18:].tolist() == [0.5] * 9


def test_epochs_differ_and_each_is_drawn_alike_again(contrast_task: Task) -> None:
    task = reserve_copies(contrast_task)
    first, second = (rows_of_epoch(task, epoch) for epoch in (1, 2))
    assert len(first) == len(second) == 27
    assert not torch.equal(first.widths, second.widths)
    assert torch.equal(rows_of_epoch(task, 1).widths, first.widths)
    assert count_steps(task, SETTINGS, 3) == 7 + 7 + 7


def test_a_stopped_training_resumes_alike(contrast_task: Task) -> None:
    whole, resumed, store = new_model(), new_model(), Memory()
    fit(whole, contrast_task, SETTINGS, 3)
    with pytest.raises(KeyboardInterrupt):
        fit(new_model(), contrast_task, SETTINGS, 3, store, Interrupting(1))
    fit(resumed, contrast_task, SETTINGS, 3, store)
    assert torch.equal(parameters(whole), parameters(resumed))
    plain = new_model()
    fit(plain, replace(contrast_task, contrast=None), SETTINGS, 3)
    assert not torch.equal(parameters(whole), parameters(plain))
