"""Bodies: bounded in size, speed, memory and number of values, and none of them keeps others out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fastapi import Request
from tests.serve.conftest import Start

from pssa.serve import bodies
from pssa.serve.bodies import BodyMemory, require_few_values
from pssa.serve.errors import ApiError
from pssa.serve.limits import Limits

JSON = {"Content-Type": "application/json"}


class Sender:
    """A client that sends a body in pieces."""

    def __init__(self, *headers: tuple[bytes, bytes]) -> None:
        self.pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": list(headers)}
        self.request = Request(scope, self.pieces.get)

    def send(self, content: bytes, more: bool = True) -> None:
        self.pieces.put_nowait({"type": "http.request", "body": content, "more_body": more})


async def reading(memory: BodyMemory, sender: Sender, seconds: float = 30) -> bytes:
    async with memory.read(sender.request, 100, seconds) as content:
        return content


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_body_that_is_only_announced_takes_no_memory() -> None:
    async def attack() -> bytes:
        memory = BodyMemory(200)
        idle = [asyncio.create_task(reading(memory, Sender((b"content-length", b"100")))) for _ in range(50)]
        await settle()
        sender = Sender()
        sender.send(b"x" * 100, more=False)
        content = await reading(memory, sender)
        assert not any(task.done() for task in idle)
        for task in idle:
            task.cancel()
        return content

    assert asyncio.run(attack()) == b"x" * 100


def test_a_body_that_does_not_end_gives_way_to_others() -> None:
    async def attack() -> list[Any]:
        memory = BodyMemory(200)
        stuck = [Sender() for _ in range(2)]
        tasks = [asyncio.create_task(reading(memory, sender)) for sender in stuck]
        for sender in stuck:
            sender.send(b"x" * 90)
        await settle()
        late = Sender()
        late.send(b"y" * 100, more=False)
        assert await reading(memory, late) == b"y" * 100
        stuck[0].send(b"x", more=False)  # too late
        stuck[1].send(b"x", more=False)
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second = asyncio.run(attack())
    assert isinstance(first, ApiError)
    assert (first.status, first.code) == (408, "too_slow")
    assert second == b"x" * 91


def test_bodies_that_are_being_answered_keep_their_place() -> None:
    async def attack() -> None:
        memory = BodyMemory(150)
        answered, late = Sender(), Sender()
        answered.send(b"x" * 100, more=False)
        late.send(b"y" * 100, more=False)
        async with memory.read(answered.request, 100, 30):
            with pytest.raises(ApiError) as caught:
                await reading(memory, late)
        assert (caught.value.status, caught.value.code) == (503, "overloaded")
        again = Sender()
        again.send(b"z", more=False)
        assert await reading(memory, again) == b"z"

    asyncio.run(attack())


def test_a_body_must_come_at_a_least_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_FIRST_SECONDS", 0.01)

    async def attack() -> None:
        sender = Sender()
        sender.send(b"x")
        with pytest.raises(ApiError) as caught:
            await asyncio.wait_for(reading(BodyMemory(200), sender), 20)
        assert caught.value.status == 408

    asyncio.run(attack())


@pytest.mark.parametrize("piece", ["{},", "[],", '"",', "0,", '{"text":"","aspects":[]},', '"\\"",', "[[],["])
def test_a_megabyte_of_small_values_is_refused_before_it_is_parsed(
    start: Start, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(*_: Any, **__: Any) -> Any:
        raise AssertionError("was parsed")

    client = start()
    monkeypatch.setattr(json, "loads", parse)
    answer = client.post("/v1/predict", content=f'{{"items":[{piece * (1_000_000 // len(piece))}', headers=JSON)
    monkeypatch.undo()
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unusable")


def test_the_largest_request_has_few_enough_values() -> None:
    limits = Limits(items=3, aspects=2)
    text = 'a "quoted" text, with {braces}, [brackets] and \\ in it' * 70
    item = {"text": text, "aspects": [{"from": 0, "to": 1}] * 2}
    require_few_values(json.dumps({"items": [item] * 3, "run": "first", "saliency": "attention"}).encode(), limits)


def test_a_list_that_is_too_long_is_one_fault(start: Start) -> None:
    answer = start(items=2).post("/v1/predict", content=json.dumps({"items": [{}] * 40}), headers=JSON)
    assert answer.status_code == 422
    assert "items: " in answer.json()["error"]["message"]
    assert "more" not in answer.json()["error"]["message"]
