"""In place of a model: remembers what it was asked, and answers when it is let."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from pssa.runs.answers import Question
from pssa.serve.batcher import AskedAspect, Batcher, PendingRequest, Result, ServedRun
from pssa.serve.limits import Limits

PATIENCE = 120.0  # seconds; a machine that is slow and busy may need many


class Recorder:
    """Stands for `score`: the outcome of an example is its text, and `batches` are the texts that were asked together."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.asked = threading.Semaphore(0)
        self.batches: list[list[str]] = []
        self.saliencies: list[str | None] = []

    def __call__(self, classifier: Any, aspects: Sequence[AskedAspect], saliency: str | None) -> list[Result]:
        self.batches.append([aspect.question.text for aspect in aspects])
        self.saliencies.append(saliency)
        self.asked.release()
        assert self.gate.wait(PATIENCE)
        return [{"label": aspect.question.text, "probabilities": {"positive": 1.0}} for aspect in aspects]


def batcher_of(limits: Limits) -> Batcher:
    """A batcher with a run that nobody looks at."""
    unused: Any = SimpleNamespace(runtime=None, saliencies=("attention", "gradient"))
    return Batcher({"first": ServedRun("toy", unused)}, limits)


def order(*texts: str, saliency: str | None = None, run: str = "first") -> PendingRequest:
    """One aspect a text, its first word; each is judged in all of its text."""
    aspects = [AskedAspect(Question(text, ((0, len(text.split()[0])),)), len(text.split())) for text in texts]
    return PendingRequest(aspects, run, saliency)


def until(happened: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something that another thread does."""
    pause = threading.Event()
    for _ in range(int(seconds * 200)):
        if happened():
            return
        pause.wait(0.005)
    raise AssertionError("did not happen")
