"""Batching: one worker scores aspects that arrive together in one batch.

The queue is bounded by its number of aspects, and for large requests by the time that all will take at the pace of the last
batches. The worker takes the run and saliency of the request that has waited longest, together with all others of the same kind.
A large request gets a twentieth of a second at a time and returns to the end of the queue with its rest. Requests that were not
begun come before it in two of three turns, so that it does not hold up small ones. A long text that a joint model answers as a
whole lets small requests in between its sentences.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from pssa.aspects.find import Finder
from pssa.errors import InputError
from pssa.joint.runtime import JointRuntime
from pssa.runs import Answer, Classifier, load
from pssa.runs.answers import Question, examples_of
from pssa.runs.asked_rows import Value, score_each
from pssa.runs.input_profile import NEW_ASPECT
from pssa.runs.loading import RuntimeFinder, finds_aspects, is_joint, open_finder
from pssa.serve.limits import Limits, cost
from pssa.serve.monitoring import Metrics

_GPU_BATCH, _WORD_BATCH, _PIECE_BATCH = 256, 32, 8  # sentences
_TURN_SECONDS = 0.05  # of a large request in a batch
_TURNS = 3  # of which one begins with requests that were begun before, the others with those that were not
_MEMORY = 0.8  # of the measured pace: the share of what was known before
_log = logging.getLogger(__name__)

T = TypeVar("T")
Kind = tuple[str, str | None]  # run and saliency of a request
Result = dict[str, Any]  # fields of the response for one aspect: its label and so on, or `error`


@dataclass(frozen=True)
class ServedRun:
    """A loaded run."""

    name: str  # of its folder
    classifier: Classifier
    finds_itself: bool = False  # whether it finds and labels aspects in one pass, and no tagger was named


@dataclass(frozen=True, slots=True)
class AskedAspect:
    """One aspect of a text that is to be scored."""

    question: Question  # without an aspect: find them, and score each
    n_words: int  # of the sentence in which it is judged, or of the text
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: Question, warnings: tuple[str, ...] = ()) -> AskedAspect:
        """Return the aspect of a question that names one."""
        ((example, _),) = examples_of(question)
        return cls(question, len(example.spans), warnings)


@dataclass(eq=False)
class PendingRequest:
    """Aspects to score; `future` will hold their results, in the same order."""

    aspects: Sequence[AskedAspect]
    run: str = "first"
    saliency: str | None = None  # None: labels only
    is_table: bool = False  # whether it leaves half of the queue to others
    future: Future[list[Result]] = field(default_factory=Future)
    seconds: float = 0.0  # about how long all of it takes, at the pace that was measured when it came
    n_taken: int = 0  # aspects that went into a batch
    results: list[Result] = field(default_factory=list)

    @property
    def n_left(self) -> int:
        """Number of aspects that still wait."""
        return len(self.aspects) - self.n_taken

    @property
    def is_large(self) -> bool:
        """Whether it takes longer than a turn."""
        return self.seconds > _TURN_SECONDS

    @property
    def kind(self) -> Kind:
        """Run and saliency; requests of the same kind can share a batch."""
        return self.run, self.saliency


_Part = tuple[PendingRequest, Sequence[AskedAspect]]  # a request, and those of its aspects that go into a batch


class Batcher:
    """Loaded runs, a queue and the thread that works on it.

    :param finder: of aspects, for requests that name none to runs that do not find them themselves.
    """

    def __init__(self, runs: Mapping[str, ServedRun], limits: Limits, finder: Finder | None = None) -> None:
        self.runs = {name: replace(run, classifier=self._sharing(run.classifier)) for name, run in runs.items()}
        self.limits = limits
        self.finder = finder
        self.turns = Turns()  # for parsing and finding
        self.paces: dict[Kind, float] = {}  # seconds per position, as measured
        self.closing = False  # a signal handler may set it: refuse new requests, answer the accepted ones
        self.metrics = Metrics(waiting=lambda: self.n_waiting)
        self.n_waiting = 0  # aspects in the queue
        self._queue: deque[PendingRequest] = deque()
        self._n_turns = 0  # since a request was begun, counted up to `_TURNS`
        self._pause_at = 0.0  # when the batch that is scored lets others in
        self._is_letting_in = False
        self._let_in_seconds = 0.0  # that others have had while batches were scored
        self._ended = self._abandoned = False
        self._changed = threading.Condition()
        self._worker = threading.Thread(target=self._work, name="pssa-batcher", daemon=True)
        self._worker.start()

    @property
    def is_alive(self) -> bool:
        """Whether the worker can still score."""
        return self._worker.is_alive()

    @property
    def is_full(self) -> bool:
        """Whether the queue has no room for another aspect."""
        return self.n_waiting >= self.limits.queue

    @property
    def seconds_waiting(self) -> float:
        """About how long the worker needs for what waits."""
        return sum(request.seconds * request.n_left / len(request.aspects) for request in tuple(self._queue))

    def submit(self, request: PendingRequest) -> PendingRequest:
        """Put a request into the queue and return it.

        :raises queue.Full: if there is no room for all of it, or it would not be scored in time.
        """
        if not request.aspects:
            request.future.set_result([])
            return request
        request.seconds = _cost(request.aspects, request.saliency) * self.paces.get(request.kind, 0.0)
        with self._changed:
            has_others = bool(self._queue)
            is_late = request.is_large and self.seconds_waiting + request.seconds > self.limits.request_seconds
            most = self.limits.queue // 2 if request.is_table and has_others else self.limits.queue
            if self._ended or (has_others and is_late) or self.n_waiting + request.n_left > most:
                raise queue.Full
            self._queue.append(request)
            self.n_waiting += request.n_left
            self._changed.notify()
        return request

    def withdraw(self, request: PendingRequest) -> None:
        """Drop what is left of a request that nobody waits for any more; do nothing if it is done."""
        with self._changed, suppress(ValueError):
            self._queue.remove(request)
            self.n_waiting -= request.n_left

    def close(self) -> None:
        """Score what was accepted, then end the worker."""
        self.closing = True
        with self._changed:
            self._ended = True
            self._changed.notify()
        if not self._abandoned:
            self._worker.join()
        self.turns.close()

    def abandon(self) -> None:
        """Drop what was accepted; `close` then does not wait for the batch that is being scored."""
        with self._changed:
            self._abandoned = self._ended = True
            self._queue.clear()
            self._changed.notify()

    def _sharing(self, classifier: Classifier) -> Classifier:
        """Return a classifier that lets others in, if it is a joint model: its texts may have thousands of sentences."""
        runtime = classifier.runtime
        if not isinstance(runtime, JointRuntime):
            return classifier

        def encode(ids: Any, present: Any) -> Any:
            self._let_others_in()
            return runtime.encode(ids, present)

        return replace(classifier, runtime=replace(runtime, encode=encode))

    def _let_others_in(self) -> None:
        """Score requests that are soon done while a batch takes long."""
        began = time.perf_counter()
        if self._is_letting_in or began < self._pause_at:
            return
        self._is_letting_in = True
        while True:
            with self._changed:
                short = [request for request in self._queue if not request.is_large and not request.n_taken]
                parts = self._take(short)
            if not parts:
                break
            self._score(parts)
        self._is_letting_in = False
        self._pause_at = time.perf_counter() + _TURN_SECONDS
        self._let_in_seconds += time.perf_counter() - began

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._ended)
                parts = self._take(self._in_turn())
            if not parts:
                return
            self._pause_at = time.perf_counter() + _TURN_SECONDS
            self._score(parts)

    def _score(self, parts: list[_Part]) -> None:
        run, saliency = kind = parts[0][0].kind
        batch = [aspect for _, aspects in parts for aspect in aspects]
        began, let_in = time.perf_counter(), self._let_in_seconds
        results = iter(score(self.runs[run].classifier, batch, saliency))
        seconds = time.perf_counter() - began - (self._let_in_seconds - let_in)
        pace = seconds / max(1, _cost(batch, saliency))
        self.paces[kind] = pace + _MEMORY * (self.paces.get(kind, pace) - pace)  # a moving average
        self.metrics.batch("predict" if saliency is None else "explain", len(batch))
        for request, aspects in parts:
            request.results += [next(results) for _ in aspects]
            is_done = len(request.results) == len(request.aspects)
            # The client may have left and cancelled.
            if is_done and request.future.set_running_or_notify_cancel():
                request.future.set_result(request.results)

    def _take(self, ordered: Sequence[PendingRequest]) -> list[_Part]:
        """Take a batch from these requests in the queue: as many of the first one's kind as go together."""
        parts: list[_Part] = []
        n_examples = longest = 0
        for request in [request for request in ordered if request.kind == ordered[0].kind]:
            start = end = request.n_taken
            while end < len(request.aspects):
                n_words = max(longest, request.aspects[end].n_words)
                seconds = (n_examples + 1) * cost(n_words, request.saliency) * self.paces.get(request.kind, 0.0)
                is_long = request.is_large and seconds > _TURN_SECONDS
                if n_examples and (is_long or not self.limits.fits(n_examples + 1, n_words, request.saliency)):
                    break
                end, n_examples, longest = end + 1, n_examples + 1, n_words
            if end == start:
                break
            parts.append((request, request.aspects[start:end]))
            request.n_taken = end
            self.n_waiting -= end - start
            self._queue.remove(request)
            if request.n_left:
                self._queue.append(request)
                break
        return parts

    def _in_turn(self) -> list[PendingRequest]:
        """Return the queue in the order of this turn: requests that were begun come first in every third, else last."""
        are_begun = any(request.n_taken for request in self._queue)
        self._n_turns = (self._n_turns + 1) % _TURNS if are_begun else 0
        begun_first = are_begun and self._n_turns == 0
        return sorted(self._queue, key=lambda request: (request.n_taken > 0) != begun_first)


class Turns:
    """A thread that works for many requests, a little for each at a time, so that large ones hold up nobody.

    The request that has had fewest turns comes first.

    :param seconds: of a turn, after which the next request comes.
    """

    def __init__(self, seconds: float = 0.02) -> None:
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, "pssa-turns")
        self._numbers = count()
        self._waiting: queue.PriorityQueue[tuple[int, int, Callable[[], bool], Future[bool]]] = queue.PriorityQueue()

    async def collect(self, work: Iterator[T]) -> list[T]:
        """Return what an iterator yields; whoever waits for it may be cancelled at any time."""
        found: list[T] = []
        n_turns, is_done = 0, False
        while not is_done:
            turn: Future[bool] = Future()
            self._waiting.put((n_turns, next(self._numbers), partial(self._work, work, found), turn))
            self._thread.submit(self._give_turn)
            n_turns, is_done = n_turns + 1, await asyncio.wrap_future(turn)
        return found

    def close(self) -> None:
        """End the thread after the turn that it is at; what waits is dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()[-1].cancel()

    def _give_turn(self) -> None:
        """Work for the request that is next, unless nobody waits for it any more."""
        with suppress(queue.Empty):  # the end has come meanwhile
            _, _, work, turn = self._waiting.get_nowait()
            if turn.set_running_or_notify_cancel():
                try:
                    turn.set_result(work())
                except Exception as error:
                    turn.set_exception(error)

    def _work(self, work: Iterator[T], found: list[T]) -> bool:
        """Work for one turn; return whether the work is done."""
        until = time.perf_counter() + self._seconds
        for value in work:
            found.append(value)
            if time.perf_counter() > until:
                return False
        return True


def _cost(aspects: Sequence[AskedAspect], saliency: str | None) -> int:
    return sum(cost(aspect.n_words, saliency) for aspect in aspects)


def score(classifier: Classifier, aspects: Sequence[AskedAspect], saliency: str | None) -> list[Result]:
    """Return the results in the order of the aspects; one that cannot be scored spoils no other.

    What Python warns of while an example is read becomes the warning of its result.
    """
    if saliency is not None and saliency != classifier.runtime.saliency:
        classifier = classifier.explaining(saliency)
    size = None  # sentences of similar length that are read at once: on a CPU, padding soon costs more than it saves
    if (torch := classifier.runtime.in_torch) is not None:
        size = _GPU_BATCH if torch.is_on_gpu else _PIECE_BATCH if hasattr(torch.featurizer, "cutter") else _WORD_BATCH

    def answer(questions: Sequence[Question]) -> Sequence[Value]:
        return classifier.start(questions, batch_size=size, reasons=saliency is not None)()

    def describe(error: Exception) -> str:
        if isinstance(error, InputError):
            return str(error)
        _log.error("an example could not be scored", exc_info=error)
        return f"could not be scored ({type(error).__name__}); see the log of the service"

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = score_each(answer, [aspect.question for aspect in aspects], Exception, describe)
    results: list[Result] = []
    for aspect, value in zip(aspects, values, strict=True):
        if isinstance(value, str):
            results.append({"error": value})
        elif aspect.question.aspects is None:
            results.append({"found": [_result(aspect, answer, saliency) for answer in value]})
        else:
            # A warning of a batch does not tell which aspect it is about: read this one alone.
            more = _warnings_about(classifier, aspect.question) if caught and torch is not None else ()
            results.append(_result(aspect, value[0], saliency, more))
    return results


def _result(aspect: AskedAspect, answer: Answer, saliency: str | None, more: Iterable[str] = ()) -> Result:
    fields = {key: value for key, value in answer.as_dict().items() if key != "notes"}
    if saliency is not None:
        text = aspect.question.text
        fields["saliency"] = saliency
        fields["words"] = [
            {"word": text[word.start : word.end], "from": word.start, "to": word.end, "share": word.share}
            for word in answer.words
        ]
    notes = [note for note in answer.notes if note != NEW_ASPECT]  # which anybody sees who names one
    if notes := [*aspect.warnings, *notes, *more]:
        fields["warning"] = "; ".join(notes)
    return fields


def _warnings_about(classifier: Classifier, question: Question) -> Iterable[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.torch.index([example for example, _ in examples_of(question)])
    return dict.fromkeys(str(warning.message) for warning in caught)


def open_batcher(
    folders: Sequence[Path],
    limits: Limits,
    device: str = "cpu",
    tagger: Path | None = None,
    abstain: float | None = None,
    abstain_risk: float | None = None,
) -> Batcher:
    """Load one or two runs and a tagger, and start the worker.

    :param folders: of the runs.
    :param tagger: folder of the tagger that finds aspects; by default that of the first run that has one, if any.
    :param abstain: lowest confidence to answer; below it the label is `uncertain`.
    :param abstain_risk: share of texts that may get a wrong answer, from which a threshold follows.
    :raises InputError: if a folder is not a run.
    """
    runs: dict[str, ServedRun] = {}
    finder: Finder | None = None
    found_in = tagger or next((folder for folder in folders if finds_aspects(folder)), None)
    for name, folder in zip(("first", "versus"), folders, strict=False):
        classifier = load(folder, device)
        if is_joint(folder) and found_in is not None and folder.resolve() == found_in.resolve():
            finder = RuntimeFinder(classifier.runtime)  # loaded once, for both
        if abstain is not None or abstain_risk is not None:
            classifier = classifier.abstaining(threshold=abstain, risk=abstain_risk)
        finds_itself = is_joint(folder) and tagger is None
        runs[name] = ServedRun(folder.resolve().name, classifier, finds_itself)
    if finder is None and found_in is not None:
        finder = open_finder(found_in, device)
    return Batcher(runs, limits, finder)
