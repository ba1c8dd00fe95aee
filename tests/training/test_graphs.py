"""Recorded steps and encoders: when they are used and, where there is a GPU, that a replay is what it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.encoders import ARCHITECTURES, tiny_encoder
from tests.training.toys import parameters
from torch import Tensor

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.errors import PssaWarning
from pssa.evaluation.predict import predict_logits, start_logits
from pssa.models import IndexedCorpus
from pssa.models._encoder import _TAKE_MASKS
from pssa.training import EpochRecord, Settings, Supervision, Task, Team, fit
from pssa.training.contrast import Contrast, ContrastOptions
from pssa.training.fit import reserve_copies, run_epoch
from pssa.training.graphs import RecordedEncoder, RecordedStep, records
from pssa.training.step import Step, new_optimizer

SETTINGS = Settings(learning_rate=0.01, batch_size=4, schedule="linear", warmup=0.1, pad_multiple=8, graphs=True)
TEXTS = ("the screen is great", "so very poor a screen", "a screen", "the screen of this one is not so great at all")


def new_task(kind: str) -> Task:
    examples = [
        Example.from_text(text * (1 + number % 2), (start, start + 6), label=DEFAULT_LABELS[number % 3], id=str(number))
        for number in range(24)
        for text in [TEXTS[number % 4] + " "]
        for start in [text.index("screen")]
    ]
    corpus = IndexedCorpus.of(tiny_encoder(kind).cutter(pair=False).features(examples, DEFAULT_LABELS))
    shape = corpus.table.candidates.shape
    supervised = torch.zeros(shape, dtype=torch.bool)
    supervised[::2, 0] = True
    return Task(corpus, 0, "graphs", supervision=Supervision(torch.zeros(shape), supervised, 2.0))


def with_copies(task: Task) -> Task:
    glue = torch.tensor([9])
    options, glues, glue_words = ContrastOptions(weight=0.5), (glue,) * 3, (torch.zeros_like(glue),) * 3
    contrast = Contrast(options, torch.arange(24), glues, glue_words, 0, 200, topics=torch.zeros(24, 1))
    # No sentence has a piece of an aspect, so that each can be a partner.
    unheard = torch.full_like(task.train.table.aspect, 10)
    train = replace(task.train, table=replace(task.train.table, aspect=unheard))
    return replace(task, train=train, contrast=contrast)


def with_ramp(task: Task) -> Task:
    assert task.supervision is not None
    return replace(task, supervision=replace(task.supervision, rising=20))


class StepOnTheHost(RecordedStep):
    """Takes again the step that would be recorded, as a replay does."""

    _on_stream = nullcontext  # type: ignore[assignment]

    def _capture(self, run: Callable[[], Any]) -> Callable[[], None]:
        return run


@pytest.mark.parametrize("change", [replace, with_copies, with_ramp])  # `replace` changes nothing
def test_a_replay_takes_the_step_of_its_own_batch(change: Callable[[Task], Task]) -> None:
    task = reserve_copies(change(new_task("bert")))

    def train(recorded: bool) -> tuple[Tensor, list[EpochRecord]]:
        model = models.build("bertabsa_att", tiny_encoder("bert"), 3, {"dropout": 0.0}, seed=0)
        plain = Step(model, new_optimizer(model, SETTINGS), task, SETTINGS)
        step = StepOnTheHost(plain) if recorded else plain
        history = [run_epoch(model, step, lambda n: plain.schedule(n, 24), task, SETTINGS, n) for n in (1, 2, 3)]
        assert not isinstance(step, RecordedStep) or step._recordings
        return parameters(model), history

    (weights, history), (expected, usual) = train(recorded=True), train(recorded=False)
    torch.testing.assert_close(weights, expected)
    assert [one.loss for one in history] == pytest.approx([one.loss for one in usual])
    assert [one.penalty for one in history] == pytest.approx([one.penalty for one in usual])


def test_steps_are_recorded_on_a_gpu_by_one_process_where_the_model_allows_it() -> None:
    task, gpu = new_task("bert"), torch.device("cuda")
    model = models.build("bertabsa_att", tiny_encoder("bert"), 3, {}, seed=0)
    assert records(model, gpu, SETTINGS, task)
    assert not records(model, torch.device("cpu"), SETTINGS, task)
    assert not records(model, gpu, replace(SETTINGS, graphs=False), task)
    assert not records(model, gpu, SETTINGS, replace(task, team=Team(0, 2)))
    # DeBERTa copies numbers for its relative positions from the host, and word models count words there.
    assert not records(models.build("bertabsa", tiny_encoder("deberta-v2"), 3, {}, seed=0), gpu, SETTINGS, task)
    assert not records(torch.nn.Linear(1, 1), gpu, SETTINGS, task)


def test_the_manual_names_every_kind_of_encoder_that_is_recorded() -> None:
    manual = Path(__file__).parents[2] / "docs" / "how-to" / "encoders-and-gpus.md"
    (named,) = re.findall(
        r"CUDA graph and replayed. This works with (.+?)\. ", " ".join(manual.read_text("utf-8").split())
    )
    assert sorted(named.lower().replace(" and ", ", ").split(", ")) == sorted(_TAKE_MASKS)


on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU to record steps on")
recordable = pytest.mark.parametrize("kind", [kind for kind in ARCHITECTURES if kind != "deberta-v2"])


def train(kind: str, settings: Settings, dropout: float, rising: int = 0) -> tuple[dict[str, Tensor], list[float]]:
    model = models.build("bertabsa_att", tiny_encoder(kind), 3, {"dropout": dropout}, seed=0).cuda()
    assert records(model, torch.device("cuda"), settings, new_task(kind)) == settings.graphs
    task = new_task(kind)
    assert task.supervision is not None
    history = fit(model, replace(task, supervision=replace(task.supervision, rising=rising)), settings, 4)
    return model.state_dict(), [value for record in history for value in (record.loss, record.penalty)]


@on_a_gpu
@recordable
def test_recorded_steps_end_with_the_weights_of_usual_ones(kind: str) -> None:
    (recorded, losses), (usual, expected) = (
        train(kind, settings, 0.0) for settings in (SETTINGS, replace(SETTINGS, graphs=False))
    )
    torch.testing.assert_close(losses, expected, rtol=1e-3, atol=1e-4)
    for name, tensor in recorded.items():
        torch.testing.assert_close(tensor, usual[name], rtol=1e-2, atol=1e-3)


@on_a_gpu
def test_copies_are_weighed_and_supervised_at_every_replay() -> None:
    def trained(settings: Settings) -> list[float]:
        model = models.build("bertabsa_att", tiny_encoder("bert"), 3, {"dropout": 0.0}, seed=0).cuda()
        history = fit(model, with_copies(new_task("bert")), settings, 4)
        return [value for record in history for value in (record.loss, record.penalty)]

    torch.testing.assert_close(trained(SETTINGS), trained(replace(SETTINGS, graphs=False)), rtol=1e-3, atol=1e-4)


@on_a_gpu
def test_every_replay_drops_others_and_the_seed_decides_which() -> None:
    (first, losses), (again, same) = train("bert", SETTINGS, 0.3), train("bert", SETTINGS, 0.3)
    torch.testing.assert_close(losses, same, rtol=1e-3, atol=1e-4)
    assert losses != train("bert", SETTINGS, 0.0)[1]
    assert first.keys() == again.keys()


@on_a_gpu
def test_a_gamma_that_rises_is_read_again_at_every_replay() -> None:
    rising = 20  # of 24 steps, most of them replays
    (recorded, losses), (usual, expected) = (
        train("bert", settings, 0.0, rising) for settings in (SETTINGS, replace(SETTINGS, graphs=False))
    )
    torch.testing.assert_close(losses, expected, rtol=1e-3, atol=1e-4)
    for name, tensor in recorded.items():
        torch.testing.assert_close(tensor, usual[name], rtol=1e-2, atol=1e-3)
    assert losses[-1] != train("bert", SETTINGS, 0.0)[1][-1]


SENTENCES = (
    "the screen is great but the price is not",
    "the screen",
    "so the screen is usual",
    "the screen of this one",
)


class ReplayedOnTheHost(RecordedEncoder):
    """Runs again what would be recorded, as a replay does."""

    def _capture(self, run: Callable[[], Any], device: torch.device) -> Callable[[], None]:
        return run


class Unrecordable(RecordedEncoder):
    """An encoder that waits for a number from the GPU."""

    def _capture(self, run: Callable[[], Any], device: torch.device) -> Callable[[], None]:
        raise RuntimeError("operation not permitted when stream is capturing")


def sentences(texts: tuple[str, ...], pair: bool = False) -> IndexedCorpus:
    examples = [Example.from_text(text, (text.index("screen"), text.index("screen") + 6)) for text in texts]
    return IndexedCorpus.of(tiny_encoder().cutter(pair, 0).features(examples, DEFAULT_LABELS))


@pytest.mark.parametrize("name", ["bertabsa_att", "bertabsa_cls"])
def test_a_replay_gives_each_batch_its_own_states(name: str) -> None:
    model: Any = models.build(name, tiny_encoder(), 3, {}, seed=1)
    encoder = ReplayedOnTheHost(model.encoder, tiny_encoder().pad_id)
    # Each in the room of the one before: fewer rows, other texts, more rows.
    for texts in (SENTENCES, SENTENCES[1:3], (*SENTENCES[::-1], "a screen"), SENTENCES[:1] * 3):
        corpus = sentences(texts, models.reads_pairs(name))
        found = start_logits(model, corpus, 4, encoder)()
        torch.testing.assert_close(found, predict_logits(model, corpus, 4), atol=1e-5, rtol=0)
    assert encoder._recordings


def test_an_encoder_that_cannot_be_recorded_runs_as_usual_with_one_warning() -> None:
    model: Any = models.build("bertabsa_att", tiny_encoder(), 3, {}, seed=1)
    encoder, corpus = Unrecordable(model.encoder, tiny_encoder().pad_id), sentences(SENTENCES)
    expected = predict_logits(model, corpus)
    with pytest.warns(PssaWarning, match="cannot be recorded") as warned:
        found = [start_logits(model, corpus, encoder=encoder)() for _ in range(3)]
    assert len(warned) == 1
    assert all(each.equal(expected) for each in found)


@on_a_gpu
def test_graphs_replay_what_the_encoder_computes() -> None:
    model: Any = models.build("bertabsa_att", tiny_encoder(), 3, {}, seed=1).to("cuda")
    encoder = RecordedEncoder(model.encoder, tiny_encoder().pad_id)
    for texts in (SENTENCES, SENTENCES[1:3], SENTENCES[::-1]):
        corpus = sentences(texts)
        found = start_logits(model, corpus, 4, encoder)()
        torch.testing.assert_close(found, predict_logits(model, corpus, 4), atol=1e-4, rtol=0)
    assert encoder._recordings
