"""`Example`, one aspect of one sentence, and `Corpus`, a sequence of examples with counts of what the reader dropped.

Offsets are half-open. Words are slices of the text, so that anything about a word can be shown in the text.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

from pssa.data.tokenize import Span, tokenize
from pssa.data.validation import brief_repr, shorten
from pssa.display import to_html
from pssa.errors import InputError

DEFAULT_LABELS = ("positive", "negative", "neutral")


@dataclass(frozen=True, slots=True)
class Example:
    """One instance: a sentence, one aspect in it and, if known, the label."""

    id: str
    sentence_id: str  # instances with the same sentence share it; splits keep them together
    text: str
    spans: tuple[Span, ...]  # character offsets of each word
    aspect: Span  # word offsets
    label: str | None = None
    hidden: frozenset[int] = frozenset()  # words replaced by the mask token
    tags: tuple[str, ...] = ()  # slices of a corpus that are evaluated on their own

    def __repr__(self) -> str:
        return brief_repr(self, id=self.id, text=self.text, aspect=self.aspect_text, label=self.label)

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they appear in the text, including hidden ones."""
        return tuple(self.text[start:end] for start, end in self.spans)

    @property
    def aspect_chars(self) -> Span:
        """Character offsets of the aspect."""
        return self.spans[self.aspect[0]][0], self.spans[self.aspect[1] - 1][1]

    @property
    def aspect_text(self) -> str:
        """The aspect as it appears in the text."""
        start, end = self.aspect_chars
        return self.text[start:end]

    @property
    def candidates(self) -> frozenset[int]:
        """Words that may be attended or mined: neither aspect nor hidden."""
        return frozenset(range(len(self.spans))) - frozenset(range(*self.aspect)) - self.hidden

    def hide(self, words: Iterable[int]) -> Example:
        """Return the example with these words hidden as well."""
        return replace(self, hidden=self.hidden | frozenset(words))

    @classmethod
    def from_text(
        cls, text: str, aspect: Span, *, label: str | None = None, id: str = "0", sentence_id: str | None = None
    ) -> Example:
        """Tokenise `text` and build the example of the aspect at these character offsets, which must contain a word."""
        start, end = aspect
        if not 0 <= start < end <= len(text):
            raise InputError(f"aspect offsets {start}-{end} are not inside the text of {len(text)} characters")
        spans, sentence_id = tokenize(text, aspect), sentence_id or sentence_key(text)
        return cls.from_spans(text, spans, aspect, label=label, id=id, sentence_id=sentence_id)

    @classmethod
    def from_spans(
        cls, text: str, spans: tuple[Span, ...], aspect: Span, *, label: str | None, id: str, sentence_id: str
    ) -> Example:
        """Build an example from given words and the character offsets of the aspect, which must contain a word."""
        first = end = bisect_left(spans, (aspect[0],))
        while end < len(spans) and spans[end][1] <= aspect[1]:
            end += 1
        if first == end:
            raise InputError(f"aspect offsets {aspect[0]}-{aspect[1]} contain no word: {shorten(text[slice(*aspect)])}")
        return cls(id, sentence_id, text, spans, (first, end), label)


@dataclass(frozen=True)
class Corpus(Sequence[Example]):
    """Examples in file order, the labels they may have, and counts of dropped instances by reason."""

    examples: tuple[Example, ...]
    labels: tuple[str, ...] = DEFAULT_LABELS
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        dropped = {"dropped": dict(self.dropped)} if self.dropped else {}
        return brief_repr(self, instances=len(self), labels=self.label_counts(), **dropped)

    def _repr_html_(self) -> str:
        return to_html(self)

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> Corpus: ...

    def __getitem__(self, index: int | slice) -> Example | Corpus:
        """Return an example, or for a slice the corpus of its examples."""
        return self.select(range(len(self))[index]) if isinstance(index, slice) else self.examples[index]

    def select(self, indices: Iterable[int]) -> Corpus:
        """Return the corpus of the examples at these positions, with the same labels."""
        return Corpus(tuple(self.examples[index] for index in indices), self.labels)

    def label_counts(self) -> dict[str, int]:
        """Count the examples of each declared label."""
        counts = Counter(example.label for example in self.examples)
        return {label: counts[label] for label in self.labels}

    def write(self, path: str | Path, *, format: str | None = None) -> None:
        """Write the examples in the format that the name implies; see `pssa.data.write`."""
        from pssa.data.io import write

        write(self, path, format=format)

    def hash(self) -> str:
        """Return a digest of the texts, words, aspects and labels, in order; ids and paths do not matter."""
        digest = hashlib.sha256()
        for example in self.examples:
            digest.update(repr((example.text, example.spans, example.aspect, example.label)).encode())
        return digest.hexdigest()


def sentence_key(text: str) -> str:
    """Return a short id for a sentence without one, equal for texts that differ in case or white space only."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:16]
