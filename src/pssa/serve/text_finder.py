"""`TextFinder`: finds aspects for requests that name none, a few sentences at a time, so that large requests hold up nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pssa.aspects.find import Finder, FoundAspect, Place, examples_of, find_at
from pssa.aspects.sentences import split_sentences
from pssa.bulk.rows import RejectedRow, ScorableRow
from pssa.data.example import Example
from pssa.data.tokenize import Span
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.limits import Limits
from pssa.serve.turns import TurnThread

_MAX_CHARACTERS = 1500  # of sentences that are read together: about a twentieth of a second
_SMALL = 2000  # characters of a request that is not refused for its time
_MEMORY = 0.8  # of the measured pace: the share of what was known before

FoundRows = tuple[list[ScorableRow | RejectedRow], int]  # aspects of a text, and how many are left out


class TextFinder:
    """A finder of aspects, the thread that it works in, and the texts that wait for it."""

    def __init__(self, finder: Finder, limits: Limits) -> None:
        self.finder, self.limits = finder, limits
        self.n_waiting = 0
        self._n_characters = 0  # of what waits
        self._pace = 0.0  # seconds per character, as measured
        self._thread = TurnThread("pssa-finder")

    async def find(self, texts: Sequence[str]) -> list[FoundRows]:
        """Return the aspects of each text as rows to be scored, as many as a text may have.

        :raises ApiError: 503 if too many texts wait, or these would take too long.
        """
        n_characters = sum(map(len, texts))
        self._admit(len(texts), n_characters)
        self.n_waiting += len(texts)
        self._n_characters += n_characters
        try:
            return [rows for rows in await self._thread.collect(self._search(texts)) if rows is not None]
        finally:
            self.n_waiting -= len(texts)
            self._n_characters -= n_characters

    def close(self) -> None:
        """End the thread; what waits is dropped."""
        self._thread.close()

    def _admit(self, n_texts: int, n_characters: int) -> None:
        """Refuse what would not be found in time."""
        seconds = (self._n_characters + n_characters) * self._pace
        is_late = n_characters > _SMALL and self._n_characters and seconds > self.limits.request_seconds
        if is_late or self.n_waiting + n_texts > self.limits.queue:
            raise ApiError(503, "overloaded", "too many texts wait for their aspects to be found; try later", RETRY)

    def _search(self, texts: Sequence[str]) -> Iterator[FoundRows | None]:
        """Yield None where others may have their turn, and in the end the rows of each text."""
        found: list[list[FoundAspect]] = [[] for _ in texts]
        for number, places in enumerate(_portions(texts)):
            if number:
                yield None
            began = time.perf_counter()
            for row, aspect in find_at(self.finder, texts, places):
                found[row].append(aspect)
            pace = (time.perf_counter() - began) / max(1, sum(end - start for _, start, end in places))
            self._pace = pace + _MEMORY * ((self._pace or pace) - pace)
        yield from map(self._rows, found)

    def _rows(self, found: Sequence[FoundAspect]) -> FoundRows:
        """Return the aspects of a text, each in its sentence."""
        first = found[: self.limits.aspects]
        rows = [
            ScorableRow(0, {}, example, offset=each.sentence_start)
            for each, example in zip(first, examples_of(first), strict=True)
        ]
        return [*rows], len(found) - len(first)


def _portions(texts: Sequence[str]) -> Iterator[list[Place]]:
    """Yield the sentences of all texts, a few together."""
    portion: list[Place] = []
    n_characters = 0
    for row, text in enumerate(texts):
        for start, end in split_sentences(text):
            if portion and n_characters + end - start > _MAX_CHARACTERS:
                yield portion
                portion, n_characters = [], 0
            portion.append((row, start, end))
            n_characters += end - start
    if portion:
        yield portion


def in_sentence(row: ScorableRow | RejectedRow, sentences: Sequence[Span]) -> ScorableRow | RejectedRow:
    """Return the row with the sentence of its aspect in place of the whole text; one whose aspect is in two stays as it is.

    :param sentences: of its text.
    """
    if isinstance(row, RejectedRow):
        return row
    text, (start, end) = row.example.text, row.example.aspect_chars
    for first, last in sentences:
        if first <= start and end <= last:
            example = Example.from_text(text[first:last], (start - first, end - first))
            return replace(row, example=example, offset=first)
    return row
