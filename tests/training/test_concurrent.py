"""Works in threads: their order, who hears of them, and how one that fails ends the others."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch

from pssa.errors import PssaError
from pssa.training import Observer
from pssa.training.checkpoint import EpochRecord
from pssa.training.concurrent import TrainingStopped, one_thread, run_concurrently


class Noting(Observer):
    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def on_stage(self, stage: str, steps: int) -> None:
        self.heard.append((stage, threading.current_thread().name))

    def on_epoch(self, record: EpochRecord) -> None:
        self.heard.append((f"{record.stage} {record.epoch}", threading.current_thread().name))


def work(name: str, wait_for: threading.Event | None, then: threading.Event | None) -> Callable[[Observer], str]:
    def run(observer: Observer) -> str:
        observer.on_stage(name, 1)
        if wait_for is not None:
            assert wait_for.wait(60)
        observer.on_epoch(EpochRecord(name, 1, 0.0, 0.0, 0.0))
        if then is not None:
            then.set()
        return name

    return run


def test_results_and_calls_come_in_the_order_of_the_works_whichever_ends_first() -> None:
    observer, second_is_done = Noting(), threading.Event()
    works = [work("first", second_is_done, None), work("second", None, second_is_done)]
    assert list(run_concurrently(works, observer, 2)) == ["first", "second"]
    me = threading.current_thread().name
    assert observer.heard == [("first", me), ("first 1", me), ("second", me), ("second 1", me)]


def test_an_error_ends_the_trainings_beside_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(observer: Observer) -> None:
        begun.set()
        try:
            while True:
                observer.on_step(1, 2)
        except TrainingStopped:
            ended.set()
            raise

    def failing(observer: Observer) -> None:
        assert begun.wait(60)
        raise PssaError("the loss became inf")

    with pytest.raises(PssaError, match="the loss became inf"):
        list(run_concurrently([failing, endless], Observer(), 2))
    assert ended.is_set()


def test_one_thread_computes_within_the_block() -> None:
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
