"""Recorded steps: when they are used and, where there is a GPU, that they change a model as usual steps do."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.models.encoders import ARCHITECTURES, tiny_encoder

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.training import Settings, Supervision, Task, Team, fit
from pssa.training.graphs import records

SETTINGS = Settings(learning_rate=0.01, batch_size=4, schedule="linear", warmup=0.1, pad_multiple=8, graphs=True)
TEXTS = ("the screen is great", "so very poor a screen", "a screen", "the screen of this one is not so great at all")


def new_task(kind: str) -> Task:
    examples = [
        Example.from_text(text * (1 + number % 2), (start, start + 6), label=DEFAULT_LABELS[number % 3], id=str(number))
        for number in range(24)
        for text in [TEXTS[number % 4] + " "]
        for start in [text.index("screen")]
    ]
    corpus = tiny_encoder(kind).cutter(pair=False).index(examples, DEFAULT_LABELS)
    shape = corpus.table.candidates.shape
    supervised = torch.zeros(shape, dtype=torch.bool)
    supervised[::2, 0] = True
    return Task(corpus, 0, "graphs", supervision=Supervision(torch.zeros(shape), supervised, 2.0))


def test_steps_are_recorded_on_a_gpu_by_one_process_if_asked_for() -> None:
    task, gpu = new_task("bert"), torch.device("cuda")
    assert records(gpu, SETTINGS, task)
    assert not records(torch.device("cpu"), SETTINGS, task)
    assert not records(gpu, replace(SETTINGS, graphs=False), task)
    assert not records(gpu, replace(SETTINGS, compile=True), task)
    assert not records(gpu, SETTINGS, replace(task, team=Team(0, 2)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU to record steps on")
@pytest.mark.filterwarnings("ignore:steps of this model cannot be recorded")
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_recorded_steps_end_with_the_weights_of_usual_ones(kind: str) -> None:
    states, losses = [], []
    for settings in (SETTINGS, replace(SETTINGS, graphs=False)):
        model = models.build("bertabsa_att", tiny_encoder(kind), 3, {"dropout": 0.0}, seed=0).cuda()
        history = fit(model, new_task(kind), settings, 4)
        states.append(model.state_dict())
        losses.append([(record.loss, record.penalty) for record in history])
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-3, atol=1e-4)
    for name, tensor in states[0].items():
        torch.testing.assert_close(tensor, states[1][name], rtol=1e-2, atol=1e-3)
