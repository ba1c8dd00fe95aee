"""One step of a training, whole, in parts, compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.models.waiting import NoWaiting
from tests.training.toys import new_model, parameters, steady_model, supervise_last
from torch import Tensor, nn

from pssa import models
from pssa.evaluation import predict_logits
from pssa.models import Batch, IndexedCorpus, WordTable
from pssa.training import Settings, Task, Team, fit
from pssa.training.step import Step, cut, new_optimizer, trainable

SETTINGS = Settings(batch_size=4, learning_rate=0.01)


@pytest.fixture
def supervised(task: Task) -> Task:
    return replace(task, supervision=supervise_last(task.train, 2.0))


def everything(task: Task) -> Batch:
    return task.train.batch(torch.arange(len(task.train)))


def still_step(model: nn.Module, task: Task, settings: Settings = SETTINGS) -> Step:
    return Step(model, torch.optim.SGD(model.parameters(), lr=0.0), task, settings)


def test_a_step_returns_sums_over_the_batch(task: Task) -> None:
    model = new_model().eval()
    logits = predict_logits(model, task.train)
    sums = still_step(model, task)(everything(task))
    loss = float(nn.functional.cross_entropy(logits, task.train.labels, reduction="sum"))
    right = float((logits.argmax(1) == task.train.labels).sum())
    assert sums.tolist() == pytest.approx([loss, 0.0, right], rel=1e-5)
    assert not sums.requires_grad


def test_a_step_is_no_longer_than_its_clipped_gradient(task: Task) -> None:
    model = new_model()
    before = parameters(model)
    step = Step(model, torch.optim.SGD(model.parameters(), lr=1.0), task, replace(SETTINGS, clip_norm=0.001))
    step(everything(task))
    assert float((parameters(model) - before).norm()) == pytest.approx(0.001, rel=0.01)


def test_gradients_of_an_earlier_step_are_forgotten(task: Task) -> None:
    model = steady_model()
    step = still_step(model, task)
    step(everything(task))
    first = model.get_parameter("match").grad
    assert first is not None
    step(everything(task))
    second = model.get_parameter("match").grad
    assert second is not None
    assert torch.equal(first, second)


@pytest.mark.parametrize(("parts", "sizes"), [(1, [7]), (2, [3, 4]), (3, [2, 2, 3]), (9, [1] * 7)])
def test_a_batch_is_cut_into_parts_of_like_size(corpus: IndexedCorpus, parts: int, sizes: list[int]) -> None:
    batch = corpus.batch(torch.arange(7))
    pieces = list(cut(batch, parts))
    assert [len(piece.labels) for piece in pieces] == sizes
    assert torch.cat([piece.index for piece in pieces]).tolist() == list(range(7))
    assert {piece.positions.shape[1] for piece in pieces} == {batch.positions.shape[1]}


@pytest.mark.parametrize("accumulation", [2, 5, 50])
def test_a_step_in_parts_is_the_same_step(supervised: Task, accumulation: int) -> None:
    whole, parted = steady_model(), steady_model()
    expected = still_step(whole, supervised)(everything(supervised))
    sums = still_step(parted, supervised, replace(SETTINGS, accumulation=accumulation))(everything(supervised))
    torch.testing.assert_close(sums, expected, rtol=1e-5, atol=1e-5)
    assert float(sums[1]) > 0
    for one, other in zip(whole.parameters(), parted.parameters(), strict=True):
        torch.testing.assert_close(other.grad, one.grad, rtol=1e-5, atol=1e-7)


def gradient_at(model: nn.Module, task: Task, step_number: int) -> Tensor:
    """What a step of this number follows, of four in which gamma rises where it does."""
    step = still_step(model, task)
    step.schedule(step_number, 4)
    step.accumulate(everything(task), len(task.train))
    found = model.get_parameter("match").grad
    assert found is not None
    return found


def with_gamma(task: Task, gamma: float, rising: int = 0) -> Task:
    assert task.supervision is not None
    return replace(task, supervision=replace(task.supervision, gamma=gamma, rising=rising))


@pytest.mark.parametrize(("number", "gamma"), [(1, 2.0), (3, 6.0), (4, 8.0), (5, 8.0)])
def test_a_ramped_gamma_follows_the_step(supervised: Task, number: int, gamma: float) -> None:
    ramped = gradient_at(steady_model(), with_gamma(supervised, 8.0, rising=4), number)
    usual = gradient_at(steady_model(), with_gamma(supervised, gamma), number)
    assert torch.equal(ramped, usual)  # powers of two times small numbers: no rounding comes between
    assert not torch.equal(ramped, gradient_at(steady_model(), with_gamma(supervised, gamma + 1), number))


class Watched(nn.Module):
    """A model that notes in what it computes."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.kinds: set[torch.dtype] = set()

    def encode(self, batch: Batch) -> object:
        return self.inner.encode(batch)  # type: ignore[operator]

    def classify(self, encoding: object, batch: Batch) -> object:
        prediction = self.inner.classify(encoding, batch)  # type: ignore[operator]
        self.kinds.add(prediction.logits.dtype)
        return prediction


@pytest.mark.parametrize(("precision", "kind"), [("float32", torch.float32), ("bfloat16", torch.bfloat16)])
def test_the_precision_is_that_of_the_model_and_parameters_stay_in_full(
    supervised: Task, precision: str, kind: torch.dtype
) -> None:
    model = Watched(steady_model())
    settings = replace(SETTINGS, precision=precision)
    optimizer = new_optimizer(model, settings)
    sums = Step(model, optimizer, supervised, settings)(everything(supervised))
    assert model.kinds == {kind}
    assert sums.dtype == torch.float32
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert {state["exp_avg"].dtype for state in optimizer.state.values()} == {torch.float32}


def test_fewer_bits_give_nearly_the_same_training(supervised: Task) -> None:
    full, half = steady_model(), steady_model()
    expected = fit(full, supervised, SETTINGS, 3)
    history = fit(half, supervised, replace(SETTINGS, precision="bfloat16"), 3)
    assert [record.loss for record in history] == pytest.approx([record.loss for record in expected], rel=0.02)
    assert not torch.equal(parameters(half), parameters(full))


class OnTop(nn.Module):
    """A layer on top of an encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.output, self.encoder = nn.Linear(2, 3), nn.Linear(2, 2)


def test_layers_on_top_of_an_encoder_can_have_a_rate_of_their_own() -> None:
    model = OnTop()
    body, head = new_optimizer(model, replace(SETTINGS, learning_rate=0.5, head_learning_rate=2.0)).param_groups
    assert (body["lr"], head["lr"], head["factor"]) == (0.5, 2.0, 4.0)
    assert {id(one) for one in body["params"]} == {id(one) for one in model.encoder.parameters()}
    assert {id(one) for one in head["params"]} == {id(one) for one in model.output.parameters()}
    (every,) = new_optimizer(model, SETTINGS).param_groups
    assert len(every["params"]) == 4


@pytest.mark.parametrize("settings", [SETTINGS, replace(SETTINGS, accumulation=2, precision="bfloat16")])
def test_no_part_of_a_step_waits(monkeypatch: pytest.MonkeyPatch, supervised: Task, settings: Settings) -> None:
    # All rows are trained: a look-up on the CPU otherwise looks whether a word is beyond them.
    matrix = torch.randn(20, 4, generator=torch.Generator().manual_seed(1))
    model = models.build("memnet", WordTable(matrix, 20), 3, {}, seed=0)
    task = replace(with_gamma(supervised, 2.0, rising=2), weights=torch.ones(18))
    step, batch = Step(model, new_optimizer(model, settings), task, settings), everything(task)
    before = parameters(model).clone()
    # These read the memory of the CPU directly, past every mode.
    for name in ("tolist", "numpy", "cpu"):
        monkeypatch.setattr(Tensor, name, None, raising=False)
    with NoWaiting():  # type: ignore[no-untyped-call]
        step.schedule(1, 2)
        sums = step(batch)
        step.schedule(2, 2)
        sums += step(batch)
        with pytest.raises(AssertionError, match="waits in _local_scalar_dense"):
            bool(sums[0] > 0)
    assert not torch.equal(parameters(model), before)


def test_parameters_that_are_frozen_or_empty_are_not_trained(task: Task) -> None:
    model = steady_model()
    model.register_parameter("nothing", nn.Parameter(torch.zeros(0, 4)))
    model.get_parameter("match").requires_grad_(False)
    before = model.get_parameter("match").clone()
    everyone = {name for name, _ in model.named_parameters()}
    trained = trainable(model)
    assert len(trained) == len(everyone) - 2
    fit(model, task, SETTINGS, 1)
    assert torch.equal(model.get_parameter("match"), before)


def test_a_process_has_its_share_of_the_gradient_and_the_sums(supervised: Task) -> None:
    batch = everything(supervised)
    whole = steady_model()
    expected = still_step(whole, supervised).accumulate(batch, 18)
    shares, gradients = [], []
    for rank in range(3):
        model = steady_model()
        shares.append(still_step(model, supervised).accumulate(Team(rank, 3).take(batch), 18))
        gradients.append(model.get_parameter("match").grad)
    torch.testing.assert_close(torch.stack(shares).sum(0), expected)
    added = gradients[0]
    for gradient in gradients[1:]:
        assert added is not None
        assert gradient is not None
        added = added + gradient
    torch.testing.assert_close(added, whole.get_parameter("match").grad, rtol=1e-5, atol=1e-7)


def test_a_process_without_rows_has_sums_of_zero_and_no_gradients(task: Task) -> None:
    model = steady_model()
    batch = task.train.batch(torch.arange(1))
    sums = still_step(model, task).accumulate(Team(1, 2).take(batch), 1)
    assert sums.tolist() == [0, 0, 0]
    assert all(parameter.grad is None for parameter in model.parameters())
