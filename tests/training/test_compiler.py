"""Compiled calls, or a clear word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pssa.data.batch import Batch, IndexedCorpus
from pssa.errors import InputError
from pssa.models import Encoding, Prediction
from pssa.training import Settings, Task, compiler, fit

SETTINGS = Settings(batch_size=9, learning_rate=0.05, compile=True)


@pytest.fixture(autouse=True)
def _untried() -> Iterator[None]:
    """Whether there is a compiler is found out once in a process."""
    compiler._try_out.cache_clear()
    yield
    compiler._try_out.cache_clear()


def test_without_a_compiler_the_settings_are_refused(
    monkeypatch: pytest.MonkeyPatch, corpus: IndexedCorpus, new_model: Callable[[], nn.Module]
) -> None:
    def failing(call: Callable[..., Any]) -> Callable[..., Any]:
        def fail(*values: Any) -> None:
            raise RuntimeError("No working C++ compiler found\nand much more")

        return fail

    monkeypatch.setattr(torch, "compile", failing)
    message = r"a C\+\+ compiler cannot be used \(No working C\+\+ compiler found\); install it or leave compile off"
    with pytest.raises(InputError, match=message):
        fit(new_model(), Task(corpus, 0, "initial"), SETTINGS, 1)


def test_both_calls_of_a_model_are_compiled(
    monkeypatch: pytest.MonkeyPatch, corpus: IndexedCorpus, new_model: Callable[[], nn.Module]
) -> None:
    names: list[str] = []

    def noting(call: Callable[..., Any]) -> Callable[..., Any]:
        names.append(call.__name__)
        return call

    monkeypatch.setattr(torch, "compile", noting)
    fit(new_model(), Task(corpus, 0, "initial"), SETTINGS, 1)
    assert names == ["<lambda>", "encode", "classify"]


class Bag(nn.Module):
    """The mean of word vectors: small, since compiling takes time."""

    def __init__(self) -> None:
        super().__init__()
        values = torch.randn(2, 20, 3, generator=torch.Generator().manual_seed(0))
        self.words, self.output = nn.Parameter(values[0]), nn.Parameter(values[1, :3])

    def encode(self, batch: Batch) -> Encoding:
        words = nn.functional.embedding(batch.positions, self.words)
        return Encoding(words, words[:, 0])

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        return Prediction(torch.tanh(encoding.words.mean(dim=1)) @ self.output, None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of torch's own
def test_a_compiled_training_is_the_same_but_for_rounding(
    corpus: IndexedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What torch keeps for all processes of a machine is wrong for one that computes by other instructions.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    plain, quick = Bag(), Bag()
    # All rows of one length: one shape is compiled.
    task = Task(corpus.select(torch.arange(3, 18, 4)), 0, "initial")
    settings = Settings(batch_size=4, learning_rate=0.05)
    expected = fit(plain, task, settings, 3)
    found = fit(quick, task, Settings(batch_size=4, learning_rate=0.05, compile=True), 3)
    assert [record.loss for record in found] == pytest.approx([record.loss for record in expected], abs=1e-5)
    torch.testing.assert_close(quick.words, plain.words, atol=1e-5, rtol=0)
