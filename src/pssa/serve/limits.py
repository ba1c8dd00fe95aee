"""How much the service takes on: of one request, and at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from pssa.errors import InputError

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Every number is at least 1, but for `wait_ms`.

    :raises InputError: if one is not, or if the queue has no room for the largest request.
    """

    body_bytes: int = 1 << 20  # of a request
    table_bytes: int = 16 << 20  # of a CSV
    body_seconds: int = 30  # until a body must have arrived
    items: int = 64  # of a request
    aspects: int = 16  # of an item
    characters: int = 4000  # of a text, and of an aspect
    explained_words: int = 512  # of a text that is to be explained
    queue: int = 2048  # aspects that wait
    batch: int = 64  # aspects that are answered in one go
    wait_ms: int = 4  # for others to come, before a batch that is smaller than the last one begins

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name == "wait_ms" else 1
            if value < least:
                raise InputError(f"{field.name} is {value}; it must be at least {least}")
        if self.queue < self.items * self.aspects:
            raise InputError(
                f"the queue holds {self.queue} aspects, a request up to {self.items} items of {self.aspects};"
                " raise the first or lower one of the others"
            )

    def as_dict(self) -> dict[str, int]:
        """Plain values, for JSON."""
        return asdict(self)
