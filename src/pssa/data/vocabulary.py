"""`Vocabulary`: the words with a row in an embedding matrix.

Row 0 is padding, 1 any unknown word, 2 a hidden word; then the training words, the most frequent first; then words that only the
vector file has. Training never sees the last part, so that its rows stay as in the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pssa.data.files import read_bounded, write_atomically
from pssa.data.validation import brief_repr, format_error, integer, shorten
from pssa.errors import InputError

_SPECIAL = ("<pad>", "<unk>", "<mask>")
_SCHEMA = 1
_MAX_BYTES = 1 << 28


@dataclass(frozen=True)
class Vocabulary:
    """Words by id; `Vocabulary.build` makes one from the words of a corpus."""

    words: tuple[str, ...]
    n_trained: int  # rows that training sees: the special ones and the training words
    counts: tuple[int, ...] = ()  # occurrences of each training word, by id; empty if unknown

    pad_id: ClassVar[int] = 0
    unk_id: ClassVar[int] = 1
    mask_id: ClassVar[int] = 2
    n_special: ClassVar[int] = len(_SPECIAL)

    def __repr__(self) -> str:
        return brief_repr(self, words=len(self.words), n_trained=self.n_trained)

    def __post_init__(self) -> None:
        if self.words[: len(_SPECIAL)] != _SPECIAL:
            raise InputError(f"a vocabulary starts with {', '.join(_SPECIAL)}, not {shorten(self.words[:3])}")
        if len(set(self.words)) < len(self.words):
            raise InputError(f"the vocabulary has a word twice: {shorten(Counter(self.words).most_common(1)[0][0])}")
        if not len(_SPECIAL) <= self.n_trained <= len(self.words):
            raise InputError(f"n_trained is {self.n_trained}, expected {len(_SPECIAL)} to {len(self.words)}")
        if self.counts and len(self.counts) != self.n_trained - len(_SPECIAL):
            raise InputError(f"{len(self.counts)} counts for {self.n_trained - len(_SPECIAL)} training words")

    @classmethod
    def build(cls, words: Iterable[str], extra: Iterable[str] = ()) -> Vocabulary:
        """Collect the words of a training corpus, repeats included, and those that only the vector file has."""
        counts = Counter(words)
        for word in _SPECIAL:  # in a text, a special word is an unknown word
            counts.pop(word, None)
        trained = sorted(counts, key=lambda word: (-counts[word], word))
        seen = {*_SPECIAL, *trained}
        more = (word for word in dict.fromkeys(extra) if word not in seen)
        return cls(
            words=(*_SPECIAL, *trained, *more),
            n_trained=len(_SPECIAL) + len(trained),
            counts=tuple(counts[word] for word in trained),
        )

    def extended(self, words: Iterable[str], extra: Iterable[str] = ()) -> Vocabulary:
        """Return the vocabulary with the words of a further training corpus; `extra` as in `build`."""
        known = dict(zip(self.training_words, self.counts, strict=True)) if self.counts else self.training_words
        counts = Counter(known) + Counter(words)
        return Vocabulary.build(counts.elements(), (*self.words[len(_SPECIAL) :], *extra))

    def __len__(self) -> int:
        return len(self.words)

    @property
    def training_words(self) -> tuple[str, ...]:
        """The words of the training corpus, the most frequent first."""
        return self.words[len(_SPECIAL) : self.n_trained]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words) if number >= len(_SPECIAL)}

    def index(self, word: str) -> int:
        """Return the id of the word, else of its lower-case form, else of the unknown word."""
        found = self._ids.get(word)
        return self._ids.get(word.lower(), self.unk_id) if found is None else found

    def encode(self, words: Iterable[str]) -> list[int]:
        """Return the ids of the words, in order."""
        return [self.index(word) for word in words]

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON."""
        record = {"schema": _SCHEMA, "n_trained": self.n_trained, "counts": self.counts, "words": self.words}
        # Escaped: a word may contain half a surrogate pair, which UTF-8 cannot encode.
        write_atomically(path, json.dumps(record).encode("ascii") + b"\n")

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read what `save` wrote."""
        try:
            record = json.loads(read_bounded(Path(path), _MAX_BYTES))
            if not isinstance(record, dict) or record.get("schema") != _SCHEMA:
                raise InputError(f"expected a JSON object with schema {_SCHEMA}")
            for name, kind in (("words", str), ("counts", int)):
                if not isinstance(record.get(name), list) or any(type(value) is not kind for value in record[name]):
                    raise InputError(f"{name} is not a list of {kind.__name__}")
            n_trained = integer(record.get("n_trained"), "n_trained")
            return cls(tuple(record["words"]), n_trained, tuple(record["counts"]))
        except OSError as error:
            raise InputError.at(path, None, f"the vocabulary cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            what = f"is not a vocabulary: {format_error(error)}; copy it again or train again"
            raise InputError.at(path, None, what) from error
