"""Questions on their way to a GPU: a thread cuts the texts, and the next questions launch what was asked before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import pssa
from pssa.data.example import Example
from pssa.errors import InputError
from pssa.models import IndexedCorpus
from pssa.runs.answers import Question
from pssa.runs.torch_runtime import TorchRuntime


def question(text: str) -> Question:
    start = text.index("screen")
    return Question(text, ((start, start + len("screen")),))


@pytest.fixture
def runtime(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> TorchRuntime:
    """A run on the CPU that takes the way of a GPU."""
    monkeypatch.setattr(TorchRuntime, "is_on_gpu", True)
    return pssa.load(finished_run).torch


def test_answers_are_the_same_whenever_they_are_waited_for(runtime: TorchRuntime) -> None:
    texts = ["the screen is great", "a poor screen", "the screen is huge. It was poor."]
    alone = [runtime.start([question(text)])()[0][0] for text in texts]
    waits = [runtime.start([question(text)]) for text in texts]
    later = {number: waits[number]()[0][0] for number in (1, 2, 0)}
    for number, expected in enumerate(alone):
        assert later[number].label == expected.label
        assert later[number].probabilities == pytest.approx(expected.probabilities, abs=1e-6)


def test_an_error_is_seen_by_those_who_asked_alone(runtime: TorchRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    index = TorchRuntime.index

    def refusing(runtime: TorchRuntime, examples: Sequence[Example], *more: Any) -> IndexedCorpus:
        if any("bad" in example.text for example in examples):
            raise InputError("a bad text")
        return index(runtime, examples, *more)

    monkeypatch.setattr(TorchRuntime, "index", refusing)
    waits = [runtime.start([question(text)]) for text in ("a fine screen", "a bad screen", "the screen")]
    assert [len(waits[number]()[0]) for number in (2, 0)] == [1, 1]
    with pytest.raises(InputError, match="bad"):
        waits[1]()
