"""A thread that works for many requests: the one that has had least time comes next."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from pssa.data.tokenize import Span
from pssa.serve import turns
from pssa.serve.errors import ApiError
from pssa.serve.limits import Limits
from pssa.serve.text_finder import TextFinder
from pssa.serve.turns import TurnThread


@pytest.fixture(autouse=True)
def _short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_TURN_SECONDS", -1.0)  # one value each


class Recorder:
    """A finder that remembers what it has read, and finds nothing."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        self.read.extend(sentences)
        return [() for _ in sentences]


def test_a_small_request_does_not_wait_for_the_end_of_a_large_one() -> None:
    done: list[int] = []

    def large() -> Iterator[int]:
        for number in range(50):
            done.append(number)
            yield number

    async def both() -> int:
        thread = TurnThread("test")
        first = asyncio.ensure_future(thread.collect(large()))
        await asyncio.sleep(0)
        assert await thread.collect(iter("ab")) == ["a", "b"]
        n_done = len(done)
        assert await first == list(range(50))
        thread.close()
        return n_done

    assert asyncio.run(both()) < 10


def test_an_error_reaches_its_request_and_no_other() -> None:
    async def both() -> tuple[object, object]:
        thread = TurnThread("test")
        return await asyncio.gather(
            thread.collect(1 // number for number in (1, 0)), thread.collect(iter("ab")), return_exceptions=True
        )

    failed, other = asyncio.run(both())
    assert isinstance(failed, ZeroDivisionError)
    assert other == ["a", "b"]


def test_work_that_nobody_waits_for_is_not_continued() -> None:
    done: list[int] = []

    def large() -> Iterator[int]:
        for number in range(10_000):
            done.append(number)
            yield number

    async def leave() -> None:
        thread = TurnThread("test")
        first = asyncio.ensure_future(thread.collect(large()))
        await thread.collect(iter("a"))
        first.cancel()
        await asyncio.sleep(0)
        await thread.collect(iter("b"))

    asyncio.run(leave())
    assert len(done) < 100


def test_a_short_text_is_read_before_the_rest_of_a_long_one() -> None:
    finder = Recorder()

    async def both() -> None:
        texts = TextFinder(finder, Limits())
        long = asyncio.ensure_future(texts.find(["The food was good there. " * 800] * 2))
        await asyncio.sleep(0)
        assert await texts.find(["A screen."]) == [([], 0)]
        assert finder.read.index("A screen.") < 200
        await long

    asyncio.run(both())
    assert len(finder.read) == 1601


def test_texts_that_would_take_too_long_are_refused_unless_they_are_short() -> None:
    async def ask() -> None:
        texts = TextFinder(Recorder(), Limits(request_seconds=10))
        await texts.find(["One sentence."])
        texts._pace = 0.001  # seconds per character
        waiting = asyncio.ensure_future(texts.find(["The food. " * 500]))
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="too many texts wait"):
            await texts.find(["The food. " * 900])
        assert await texts.find(["A screen."]) == [([], 0)]
        waiting.cancel()

    asyncio.run(ask())
