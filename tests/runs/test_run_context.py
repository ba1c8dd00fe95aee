"""Where methods train: devices, class weights, the division for a search, and stages that are done once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.runs.interrupted import Interrupting

from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus
from pssa.errors import InputError
from pssa.runs.devices import choose_device
from pssa.runs.directory import RunDirectory
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.training import EpochRecord, Observer

NewContext = Callable[..., RunContext]


@pytest.fixture
def new_context(corpus: Corpus, tmp_path: Path) -> NewContext:
    """A context in the same directory each time, as a resumed run has one."""

    def open_shop(data: Corpus = corpus, dev: Corpus | None = None, **settings: Any) -> RunContext:
        tiny = {"model": "memnet", "dimension": 4, "device": "cpu", "batch_size": 8}
        config, prepared_data = prepare(data, dev, Config().updated(tiny | settings))
        return RunContext(config, RunDirectory(tmp_path), prepared_data, Observer())

    return open_shop


def test_auto_finds_a_device_and_one_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda")
    with pytest.raises(InputError, match="device is 'tpu'; it can be auto, cpu or"):
        choose_device("tpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(InputError, match=r"device is cuda.*; use auto or cpu"):
        choose_device("cuda")


def test_balanced_weights_give_every_class_the_same_sum(new_context: NewContext, corpus: Corpus) -> None:
    # Eight positive, two negative, two neutral: with a mean of one, the classes share 12 as 4 and 4 and 4.
    rows = [*range(0, 24, 3), 1, 4, 2, 5]
    weights = new_context(corpus.select(rows), class_weights="balanced").class_weights
    assert weights is not None
    torch.testing.assert_close(weights, torch.tensor([0.5] * 8 + [2.0] * 4))
    assert new_context().class_weights is None


def test_a_search_holds_out_a_part_of_train_without_development_data(new_context: NewContext, corpus: Corpus) -> None:
    train, dev = new_context(dev_fraction=0.25).division
    assert (len(train), len(dev)) == (18, 6)
    assert sorted([*train.table.index.tolist(), *dev.table.index.tolist()]) == list(range(24))
    train, dev = new_context(dev=corpus.select([0, 1, 2])).division
    assert (len(train), len(dev)) == (24, 3)


def test_epochs_are_searched_and_reported_unless_their_number_is_given(new_context: NewContext) -> None:
    context = new_context(epochs=7)
    assert context.find_epochs() == 7
    assert context.history == []
    context = new_context(max_epochs=3)
    assert 1 <= context.find_epochs() <= len(context.history) <= 3
    assert {record.stage for record in context.history} == {"search"}
    assert all(record.dev_macro_f1 is not None for record in context.history)


def test_models_start_from_the_runs_seed_unless_told_otherwise(new_context: NewContext) -> None:
    context = new_context(seed=3)
    first, again, other = context.new_model(), context.new_model(3), context.new_model(4)
    assert torch.equal(first.get_parameter("match"), again.get_parameter("match"))
    assert not torch.equal(first.get_parameter("match"), other.get_parameter("match"))


class Counting(Observer):
    def __init__(self) -> None:
        self.stages: list[str] = []
        self.ended: list[str] = []

    def on_stage(self, stage: str, steps: int) -> None:
        self.stages.append(stage)

    def on_stage_end(self, stage: str) -> None:
        self.ended.append(stage)


def test_a_stage_that_is_done_is_passed_at_once_with_the_same_weights(new_context: NewContext) -> None:
    first, second = new_context(), new_context()
    second.observer = observer = Counting()
    model = first.train("initial", first.new_model(), 2)
    again = second.train("initial", second.new_model(), 2)
    assert torch.equal(model.get_parameter("match"), again.get_parameter("match"))
    assert first.history == second.history
    assert [type(record) for record in second.history] == [EpochRecord] * 2
    assert observer.stages == ["initial"]
    assert observer.ended == ["initial"]


def test_training_on_other_data_still_finds_weights_by_place(new_context: NewContext) -> None:
    context = new_context()
    model = context.new_model()
    before = model.get_parameter("match").detach().clone()
    weights = torch.ones(24)
    weights[5:7] = 0
    context.train("part", model, 1, data=context.train_data.select([5, 6]), weights=weights)
    assert torch.equal(model.get_parameter("match"), before)


def evidence_for(corpus: Corpus, method: str) -> Evidence:
    """The last words of the first sentence, found in two rounds."""
    last = len(corpus[0].words) - 1
    findings = [
        Finding(last, ACTIVE, 1, 1.0, 0.6, "positive", "positive"),
        Finding(last - 1, ACTIVE, 2, 1.0, 0.2, "positive", "positive"),
    ]
    header = Header("memnet", "attention", None, 2, corpus.hash(), 0, method)
    return Evidence.from_findings(header, corpus, [findings, *[[]] * (len(corpus) - 1)])


@pytest.mark.parametrize(
    ("settings", "shares"),
    [
        ({}, {0.5}),
        ({"weighting": "round"}, {2 / 3, 1 / 3}),
        ({"weighting": "confidence"}, {0.6, 0.2}),
        ({"words": "misleading"}, set()),
    ],
)
def test_settings_use_evidence(
    new_context: NewContext, corpus: Corpus, settings: dict[str, Any], shares: set[float]
) -> None:
    supervision = new_context(**settings).supervise(evidence_for(corpus, "aw-as"))
    found = supervision.expected[supervision.supervised].tolist()
    assert sorted(set(found)) == pytest.approx(sorted(shares))


@pytest.mark.parametrize(("ramp", "rising"), [(0.0, 0), (0.5, 3), (0.4, 3), (1.0, 6)])
def test_gamma_rises_over_a_share_of_the_steps_that_are_trained(
    monkeypatch: pytest.MonkeyPatch, new_context: NewContext, corpus: Corpus, ramp: float, rising: int
) -> None:
    # 24 instances in batches of 8 are three steps an epoch; a search of up to 40 epochs has nothing to say here.
    told: list[int] = []

    def noting(model: Any, task: Any, *rest: Any) -> list[EpochRecord]:
        told.append(task.supervision.rising)
        return []

    monkeypatch.setattr("pssa.runs.run_context.fit", noting)
    context = new_context(ramp=ramp)
    context.train("final", context.new_model(), 2, supervision=context.supervise(evidence_for(corpus, "aw-as")))
    assert told == [rising]


def test_trainings_beside_each_other_are_the_same(new_context: NewContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(context: RunContext, stage: str) -> torch.Tensor:
        return context.train_miner(stage, context.new_model(), 2).get_parameter("match")

    works = [partial(train, stage=stage) for stage in ("a", "b", "c")]
    found = {}
    for n_threads in (1, 2):
        monkeypatch.setattr(torch, "get_num_threads", lambda n_threads=n_threads: n_threads)
        context = replace(new_context(), directory=None, observer=(observer := Counting()))
        found[n_threads] = (context.run_all(works), context.history, observer.stages, observer.ended)
    (alone, *seen_alone), (together, *seen_together) = found[1], found[2]
    assert all(map(torch.equal, alone, together))
    assert seen_alone == seen_together
    assert not torch.equal(alone[0], alone[1])


def train_initial(context: RunContext, epochs: int) -> torch.nn.Module:
    return context.train("initial", context.new_model(), epochs)


def test_a_training_that_begins_during_the_search_ends_like_one_that_waits(
    new_context: NewContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for n_threads in (1, 2):
        monkeypatch.setattr(torch, "get_num_threads", lambda n_threads=n_threads: n_threads)
        context = new_context(max_epochs=6)
        context.observer = observer = Counting()
        epochs = context.find_epochs([train_initial])
        assert (tmp_path / "stages" / "initial").exists() == (n_threads == 2)
        model = train_initial(context, epochs)
        found[n_threads] = (epochs, context.history, observer.stages, observer.ended), model.get_parameter("match")
        shutil.rmtree(tmp_path / "stages")
    assert found[1][0] == found[2][0]
    assert torch.equal(found[1][1], found[2][1])


def test_a_search_that_is_interrupted_ends_the_training_beside_it_and_both_resume(
    new_context: NewContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = new_context(max_epochs=4)
    epochs = undisturbed.find_epochs()
    model = train_initial(undisturbed, epochs)
    shutil.rmtree(tmp_path / "stages")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    stopped, resumed = new_context(max_epochs=4), new_context(max_epochs=4)
    stopped.observer = Interrupting(2)
    with pytest.raises(KeyboardInterrupt):
        stopped.find_epochs([train_initial])
    assert resumed.find_epochs([train_initial]) == epochs
    again = train_initial(resumed, epochs)
    assert torch.equal(again.get_parameter("match"), model.get_parameter("match"))
