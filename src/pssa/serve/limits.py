"""Limits of the service: sizes of one request, and how much may wait at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from pssa.data.validation import parse_fields, parsers_of, read_toml
from pssa.errors import InputError

_MAX_POSITIONS = 16384  # of a batch, padding included
_MAX_QUADRATIC_WORDS = 128  # of a text that is read once for each of its words


@dataclass(frozen=True)
class Limits:
    """Every number is at least 1.

    :raises InputError: if one is not, or if the queue cannot hold the largest request.
    """

    body_bytes: int = 1 << 20  # of a request
    table_bytes: int = 16 << 20  # of a CSV
    body_seconds: int = 30  # until a body must have arrived
    answer_seconds: int = 60  # that an answer waits for its client to take it
    columns: int = 1000  # of a CSV
    connections: int = 1000  # open at once, those that only wait included
    items: int = 64  # of a request
    aspects: int = 16  # of an item
    characters: int = 20_000  # of a text, and of an aspect
    explained_words: int = 512  # of a text to explain
    queue: int = 2048  # aspects that wait
    batch: int = 64  # aspects that are scored together
    request_seconds: int = 60  # until a request must be scored; also of work that may wait

    def __post_init__(self) -> None:
        for field in fields(self):
            if (value := getattr(self, field.name)) < 1:
                raise InputError(f"{field.name} is {value}; it must be at least 1")
        if self.queue < self.items * self.aspects:
            raise InputError(
                f"the queue holds {self.queue} aspects, a request up to {self.items} items of {self.aspects};"
                " raise the first or lower one of the others"
            )

    @classmethod
    def read(cls, path: Path) -> Limits:
        """Read the limits that a TOML file sets; the others keep their defaults.

        :raises InputError: if the file cannot be read, names no limit, or gives one another value than a whole number.
        """
        given = read_toml(path)
        try:
            return cls(**parse_fields(asdict(cls()) | given, "limits", parsers_of(cls)))
        except InputError as error:
            raise InputError.at(path, None, error.message) from None

    def max_words(self, saliency: str) -> int:
        """Return how many words a text may have to be explained by this saliency."""
        most = _MAX_QUADRATIC_WORDS if _is_quadratic(saliency) else self.explained_words
        return min(most, self.explained_words)

    def fits(self, n_examples: int, n_words: int, saliency: str | None) -> bool:
        """Return whether a batch may have so many examples, the longest of so many words; this bounds memory and time."""
        return n_examples <= self.batch and n_examples * cost(n_words, saliency) <= _MAX_POSITIONS


def _is_quadratic(saliency: str) -> bool:
    if saliency == "attention":  # which a model gives that runs without torch
        return False
    from pssa import saliency as saliencies

    return saliencies.is_quadratic(saliency)


def cost(n_words: int, saliency: str | None) -> int:
    """Return how many positions a model reads for an example of so many words."""
    # Some saliencies send several samples or steps through the model's head at once.
    return n_words * (1 if saliency is None else 4 * n_words if _is_quadratic(saliency) else 8)
