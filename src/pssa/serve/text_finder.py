"""`TextFinder`: finds aspects for requests that name none, a text at a time, so that large requests hold up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pssa.aspects.find import Finder, FoundAspect, examples_of, find_in_texts, load_finder
from pssa.aspects.run import has_tagger
from pssa.aspects.sentences import split_sentences
from pssa.bulk.rows import RejectedRow, ScorableRow
from pssa.data.example import Example
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.limits import Limits


class TextFinder:
    """A finder of aspects, the thread that it works in, and the texts that wait for it."""

    def __init__(self, finder: Finder, limits: Limits) -> None:
        self.finder, self.limits = finder, limits
        self.n_waiting = 0
        self._thread = ThreadPoolExecutor(1, "pssa-finder")

    async def find(self, texts: Sequence[str]) -> list[tuple[FoundAspect, ...]]:
        """Return the aspects of each text.

        :raises ApiError: 503 if too many texts wait, or these take too long.
        """
        if self.n_waiting + len(texts) > self.limits.queue:
            raise ApiError(503, "overloaded", "too many texts wait for their aspects to be found; try later", RETRY)
        loop, seconds = asyncio.get_running_loop(), self.limits.request_seconds
        self.n_waiting += len(texts)
        work = [loop.run_in_executor(self._thread, find_in_texts, self.finder, [text]) for text in texts]
        try:
            found = await asyncio.wait_for(asyncio.gather(*work), seconds)
        except TimeoutError:
            message = f"aspects were not found within {seconds} seconds; send fewer or shorter texts"
            raise ApiError(503, "too_long", message, RETRY) from None
        finally:
            self.n_waiting -= len(texts)
            for each in work:
                each.cancel()
        return [of_one[0] for of_one in found]

    def close(self) -> None:
        """End the thread; what waits is dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def open_text_finder(folders: Sequence[Path], limits: Limits, device: str) -> TextFinder | None:
    """Load the tagger of the first of these runs that has one; None if none has."""
    folder = next(filter(has_tagger, folders), None)
    return None if folder is None else TextFinder(load_finder(folder, device), limits)


def found_rows(found: Sequence[FoundAspect]) -> list[ScorableRow | RejectedRow]:
    """Return the aspects of a text as rows to be scored, each in its sentence."""
    return [
        ScorableRow(0, {}, example, offset=each.sentence_start)
        for each, example in zip(found, examples_of(found), strict=True)
    ]


def in_sentence(row: ScorableRow | RejectedRow) -> ScorableRow | RejectedRow:
    """Return the row with the sentence of its aspect in place of the whole text; one whose aspect is in two stays as it is."""
    if isinstance(row, RejectedRow):
        return row
    text, (start, end) = row.example.text, row.example.aspect_chars
    for first, last in split_sentences(text):
        if first <= start and end <= last:
            example = Example.from_text(text[first:last], (start - first, end - first))
            return replace(row, example=example, offset=first)
    return row
