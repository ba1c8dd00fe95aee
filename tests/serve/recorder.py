"""In place of a model: remembers what it was asked, and answers when it is let."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from pssa.data.example import Example
from pssa.serve.batcher import Batcher, PendingRequest, Result, ServedRun
from pssa.serve.limits import Limits

PATIENCE = 120.0  # seconds; a machine that is slow and busy may need many


class Recorder:
    """Stands for `score`: the outcome of an example is its text, and `batches` are the texts that were asked together."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.asked = threading.Semaphore(0)
        self.batches: list[list[str]] = []
        self.saliencies: list[str | None] = []

    def __call__(self, classifier: Any, examples: Sequence[Example], saliency: str | None) -> list[Result]:
        self.batches.append([example.text for example in examples])
        self.saliencies.append(saliency)
        self.asked.release()
        assert self.gate.wait(PATIENCE)
        return [{"label": example.text, "probabilities": {"positive": 1.0}} for example in examples]


def batcher_of(limits: Limits) -> Batcher:
    """A batcher with a run that nobody looks at."""
    unused: Any = None
    return Batcher({"first": ServedRun("toy", unused, ("attention", "gradient"))}, limits)


def order(*texts: str, saliency: str | None = None, run: str = "first") -> PendingRequest:
    """One example a text, the aspect its first word."""
    examples = [Example.from_text(text, (0, len(text.split()[0]))) for text in texts]
    return PendingRequest(examples, run, saliency)


def until(happened: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something that another thread does."""
    pause = threading.Event()
    for _ in range(int(seconds * 200)):
        if happened():
            return
        pause.wait(0.005)
    raise AssertionError("did not happen")
