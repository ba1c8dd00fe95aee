"""The queue and its worker: who is answered together, who is refused, and that everybody is answered in the end."""

from __future__ import annotations

import asyncio
import queue
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest
from tests.serve.recorder import PATIENCE, Recorder, batcher_of, order, until

from pssa.data.example import Example
from pssa.errors import InputError
from pssa.runs.answers import Answer, Question, examples_of
from pssa.runs.classifier import Classifier
from pssa.serve.batcher import AskedAspect, Batcher, PendingRequest, Turns, score
from pssa.serve.limits import Limits

LIMITS = Limits(items=4, aspects=1, queue=12, batch=4)


@pytest.fixture
def batcher(recorder: Recorder) -> Iterator[Batcher]:
    batcher = batcher_of(LIMITS)
    yield batcher
    recorder.gate.set()
    batcher.close()


def busy(batcher: Batcher, recorder: Recorder) -> PendingRequest:
    """An order that the worker has begun, so that what comes now has to wait."""
    request = batcher.submit(order("busy"))
    assert recorder.asked.acquire(timeout=PATIENCE)
    return request


def labels(request: PendingRequest) -> list[str]:
    """What stands for the answers, in their order."""
    return [result["label"] for result in request.future.result(PATIENCE)]


def test_what_waits_together_is_answered_in_one_go(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    one, two = batcher.submit(order("a x", "b x")), batcher.submit(order("c x"))
    recorder.gate.set()
    assert (labels(one), labels(two)) == (["a x", "b x"], ["c x"])
    assert recorder.batches == [["busy"], ["a x", "b x", "c x"]]


def test_a_batch_is_no_larger_than_allowed(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    requests = [batcher.submit(order(f"t{number} x")) for number in range(6)]
    recorder.gate.set()
    assert [labels(request) for request in requests] == [[f"t{number} x"] for number in range(6)]
    assert [len(batch) for batch in recorder.batches] == [1, 4, 2]


def test_a_large_order_goes_back_to_the_end_with_what_is_left_of_it(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    large, small = batcher.submit(order(*(f"l{number} x" for number in range(7)))), batcher.submit(order("small x"))
    recorder.gate.set()
    assert labels(large) == [f"l{number} x" for number in range(7)]
    assert labels(small) == ["small x"]
    assert recorder.batches[1:] == [[f"l{n} x" for n in range(4)], ["small x", "l4 x", "l5 x", "l6 x"]]


def test_what_is_asked_differently_is_answered_apart(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    asked: list[str | None] = ["gradient", None, "attention", "gradient", None]
    requests = [batcher.submit(order(f"{number} x", saliency=saliency)) for number, saliency in enumerate(asked)]
    recorder.gate.set()
    assert [labels(request) for request in requests] == [[f"{number} x"] for number in range(5)]
    assert recorder.batches[1:] == [["0 x", "3 x"], ["1 x", "4 x"], ["2 x"]]
    assert recorder.saliencies[1:] == ["gradient", None, "attention"]


@pytest.mark.parametrize(
    ("saliency", "words", "sizes"),
    [
        (None, 6000, [2, 1]),  # three times 6,000 words are more than 16,384
        ("gradient", 800, [2, 1]),  # which are read eight times
        ("leave_one_out", 40, [2, 1]),  # or four times for each of 40 words
        ("leave_one_out", 30, [3]),
        (None, 20_000, [1, 1, 1]),
    ],
)
def test_long_texts_fill_a_batch_before_it_has_many(
    recorder: Recorder, saliency: str | None, words: int, sizes: list[int]
) -> None:
    batcher = batcher_of(Limits(batch=64))
    busy(batcher, recorder)
    requests = [batcher.submit(order("x " * words, saliency=saliency)) for _ in range(3)]
    recorder.gate.set()
    assert [len(request.future.result(PATIENCE)) for request in requests] == [1, 1, 1]
    assert [len(batch) for batch in recorder.batches] == [1, *sizes]
    batcher.close()


def test_a_full_queue_refuses_at_once_and_has_room_again_later(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    accepted = [batcher.submit(order(*(f"{place}{number} x" for number in range(4)))) for place in "abc"]
    assert batcher.n_waiting == 12
    assert batcher.is_full
    with pytest.raises(queue.Full):
        batcher.submit(order("one more"))
    recorder.gate.set()
    assert [len(labels(request)) for request in accepted] == [4, 4, 4]
    assert not batcher.is_full
    assert labels(batcher.submit(order("one more"))) == ["one more"]


def test_an_order_that_has_no_room_as_a_whole_is_refused_as_a_whole(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    for place in "ab":
        batcher.submit(order(*(f"{place}{number} x" for number in range(5))))
    with pytest.raises(queue.Full):
        batcher.submit(order("c x", "d x", "e x"))
    assert batcher.n_waiting == 10
    batcher.submit(order("c x", "d x"))


def test_what_nobody_waits_for_is_dropped(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    left, stays = batcher.submit(order("left x")), batcher.submit(order("stays x"))
    batcher.withdraw(left)
    assert batcher.n_waiting == 1
    recorder.gate.set()
    assert labels(stays) == ["stays x"]
    assert recorder.batches == [["busy"], ["stays x"]]
    batcher.withdraw(stays)
    assert batcher.n_waiting == 0


def test_closing_answers_what_was_accepted(batcher: Batcher, recorder: Recorder) -> None:
    requests = [busy(batcher, recorder), *(batcher.submit(order(f"{number} x")) for number in range(6))]
    recorder.gate.set()
    batcher.close()
    assert batcher.closing
    assert not batcher.is_alive
    assert [request.future.done() for request in requests] == [True] * 7
    with pytest.raises(queue.Full):
        batcher.submit(order("too late"))


def test_batches_and_the_queue_are_counted(batcher: Batcher, recorder: Recorder) -> None:
    busy(batcher, recorder)
    requests = [batcher.submit(order("a x")), batcher.submit(order("b x", saliency="gradient"))]
    assert b"pssa_queue_depth 2.0" in batcher.metrics.text()
    recorder.gate.set()
    assert [len(labels(request)) for request in requests] == [1, 1]
    until(lambda: b"pssa_batch_size_count 3.0" in batcher.metrics.text())
    text = batcher.metrics.text()
    assert b"pssa_queue_depth 0.0" in text
    assert b'pssa_items_total{kind="predict"} 2.0' in text
    assert b'pssa_items_total{kind="explain"} 1.0' in text


class Moody:
    """In place of a classifier and its runtime: dislikes some texts, and reads long ones with a warning, as encoders do."""

    saliency, is_on_gpu, featurizer = "attention", False, None

    @property
    def torch(self) -> Moody:
        return self

    runtime = in_torch = torch

    def index(self, examples: Sequence[Example]) -> None:
        long = sum("long" in example.text for example in examples)
        if long:
            warnings.warn(f"{long} of {len(examples)} are long", stacklevel=2)

    def start(self, questions: Sequence[Question], **_: Any) -> Callable[[], list[list[Answer]]]:
        self.index([example for question in questions for example, _ in examples_of(question)])
        for question in questions:
            if "bad" in question.text:
                raise InputError("a bad text")
            if "broken" in question.text:
                raise RuntimeError("a secret")
        shares = [float("nan") if "nan" in question.text else 1.0 for question in questions]
        answers = zip(questions, shares, strict=True)
        return lambda: [[Answer(question.text, {"positive": share}, "x", 0, 1)] for question, share in answers]


def outcomes(*texts: str) -> list[dict[str, Any]]:
    return score(cast(Classifier, Moody()), [AskedAspect.of(Question(text, ((0, 1),))) for text in texts], None)


def test_a_warning_goes_to_the_example_it_is_about() -> None:
    assert [found.get("warning") for found in outcomes("x", "x long", "x")] == [None, "1 of 1 are long", None]


def test_what_cannot_be_scored_spoils_no_other() -> None:
    found = outcomes("x one", "x bad", "x long")
    assert [one.get("label") for one in found] == ["x one", None, "x long"]
    assert found[1] == {"error": "a bad text"}
    assert found[2]["warning"] == "1 of 1 are long"


def test_an_unforeseen_error_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    [found] = outcomes("x broken")
    assert found == {"error": "could not be scored (RuntimeError); see the log of the service"}
    assert "a secret" in caplog.text


def test_what_is_no_finite_number_is_an_error() -> None:
    found = outcomes("x nan", "x one")
    assert found[0] == {"error": "the model gives no finite number for this text"}
    assert found[1]["label"] == "x one"


@pytest.mark.slow
@pytest.mark.parametrize("saliency", [None, "attention", "gradient"])
def test_many_at_once_are_scored_as_each_alone(classifier: Classifier, saliency: str | None) -> None:
    # More than are read together, of different lengths.
    texts = [f"{'so ' * (7 * n % 11)}the screen {n} is huge" for n in range(40)]
    aspects = [AskedAspect.of(Question(text, ((0, 2),))) for text in texts]
    for aspect, found in zip(aspects, score(classifier, aspects, saliency), strict=True):
        [expected] = score(classifier, [aspect], saliency)
        assert found["label"] == expected["label"]
        assert found["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-5)
        if saliency is not None:
            shares, others = ([word["share"] for word in one["words"]] for one in (found, expected))
            assert shares == pytest.approx(others, abs=1e-4)
            assert "text" not in found


def test_a_request_that_would_not_be_scored_in_time_is_refused_while_others_wait(
    batcher: Batcher, recorder: Recorder
) -> None:
    busy(batcher, recorder)
    batcher.paces = {("first", None): 0.4, ("first", "gradient"): 10.0}  # seconds per position
    batcher.submit(order("long " * 100))  # 40 seconds
    assert (round(batcher.seconds_waiting), batcher.is_full) == (40, False)
    with pytest.raises(queue.Full):
        batcher.submit(order("a x", saliency="gradient"))  # 160 seconds
    small = batcher.submit(order("a x"))
    more = batcher.submit(order("long " * 45))
    assert batcher.is_full is False
    with pytest.raises(queue.Full):
        batcher.submit(order("b x x x x"))
    batcher.withdraw(more)
    assert round(batcher.seconds_waiting) == 41
    recorder.gate.set()
    assert labels(small) == ["a x"]


def test_a_large_request_is_taken_if_nothing_else_waits(batcher: Batcher, recorder: Recorder) -> None:
    recorder.gate.set()
    batcher.paces = {("first", None): 100.0}
    assert labels(batcher.submit(order("a x"))) == ["a x"]
    assert batcher.paces[("first", None)] < 100  # as measured


def test_small_requests_come_before_large_ones_that_were_begun_in_two_of_three_turns(
    batcher: Batcher, recorder: Recorder
) -> None:
    busy(batcher, recorder)
    large = [
        batcher.submit(order(*(f"{name}{number} x" for number in range(5)), saliency=name))
        for name in ("attention", "gradient")
    ]
    small = batcher.submit(order("small x"))
    recorder.gate.set()
    assert (labels(small), *map(len, map(labels, large))) == (["small x"], 5, 5)
    # The first large request is begun, then those that were not begun come, and then its rest.
    assert [batch[0] for batch in recorder.batches[1:4]] == ["attention0 x", "gradient0 x", "small x"]


def test_a_large_request_gets_a_short_turn_at_the_measured_pace(
    batcher: Batcher, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pssa.serve.batcher._MEMORY", 1.0)  # of the pace that is set below
    busy(batcher, recorder)
    batcher.paces = {("first", None): 0.01}  # seconds per position, of which these examples have two
    large, small = batcher.submit(order("a x", "b x", "c x", "d x")), batcher.submit(order("e x"))
    recorder.gate.set()
    labels(large)
    labels(small)
    assert recorder.batches[1] == ["a x", "b x"]


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


def test_a_new_request_comes_before_those_that_have_had_a_turn() -> None:
    order: list[str] = []
    gate = threading.Event()

    def large(name: str) -> Iterator[int]:
        order.append(f"first turn of {name}")
        yield 1
        assert gate.wait(60)
        order.append(f"second turn of {name}")
        yield 2

    def new() -> Iterator[int]:
        order.append("new")
        yield 3

    async def all_of_them() -> None:
        thread = Turns(seconds=-1.0)  # one value each
        waiting = [asyncio.ensure_future(thread.collect(large(name))) for name in "ab"]
        while len(order) < 2:
            await asyncio.sleep(0)
        for _ in range(100):  # the second turn of one is begun, and that of the other waits
            await asyncio.sleep(0)
        waiting.append(asyncio.ensure_future(thread.collect(new())))
        await asyncio.sleep(0)
        gate.set()
        assert await asyncio.gather(*waiting) == [[1, 2], [1, 2], [3]]
        thread.close()

    asyncio.run(all_of_them())
    assert order[3] == "new"


def test_what_waits_for_a_turn_at_the_end_is_dropped() -> None:
    gate = threading.Event()

    async def end() -> object:
        thread = Turns()
        first = thread.collect(gate.wait(60) for _ in "x")
        ends = asyncio.gather(first, thread.collect(iter("ab")), return_exceptions=True)
        await asyncio.sleep(0)
        thread.close()
        gate.set()
        return (await ends)[1]

    assert isinstance(asyncio.run(end()), asyncio.CancelledError)


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
