"""A thread that works for many requests, a turn at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from pssa.serve.batcher import Turns


def test_a_small_request_does_not_wait_for_the_end_of_a_large_one() -> None:
    done: list[int] = []

    def large() -> Iterator[int]:
        for number in range(50):
            done.append(number)
            yield number

    async def both() -> int:
        thread = Turns(seconds=-1.0)  # one value each
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
        thread = Turns(seconds=-1.0)  # one value each
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
        thread = Turns(seconds=-1.0)  # one value each
        first = asyncio.ensure_future(thread.collect(large()))
        await thread.collect(iter("a"))
        first.cancel()
        await asyncio.sleep(0)
        await thread.collect(iter("b"))

    asyncio.run(leave())
    assert len(done) < 100
