"""Fields that people read as one text and programs as several numbers: `66.42 ± 0.92`, `+0.41* / -0.06`, `9 of 9`, `60.0%`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["PAIR", "Plain", "Reading", "count_of", "missing", "pair", "percent"]

Plain = str | int | float | None
PAIR = ("accuracy", "macro-F1")


@dataclass(frozen=True)
class Reading:
    """What a field shows, and what that is made of."""

    text: str  # empty: not measured
    parts: Mapping[str, Plain]  # by name, in full; the same names where it was not measured

    def __str__(self) -> str:
        return self.text


def missing(*names: str) -> Reading:
    """What was not measured, and would be made of these."""
    return Reading("", dict.fromkeys(names))


def pair(scores: Sequence[float] | None, sign: str = "") -> Reading:
    """Accuracy / macro-F1, in points."""
    if scores is None:
        return missing(*PAIR)
    return Reading(" / ".join(f"{score:{sign}.2f}" for score in scores), dict(zip(PAIR, scores, strict=True)))


def percent(share: float, decimals: int = 1) -> Reading:
    """A share as a percentage; for programs it stays a share."""
    return Reading(f"{share:.{decimals}%}", {"share": share})


def count_of(count: int, number: int) -> Reading:
    """So many of so many."""
    return Reading(f"{count} of {number}", {"count": count, "of": number})
