"""How a table is laid out on paper: as wide as its fields are where a line holds them, else in columns whose fields break.

Widths are counted in characters; the lines are those of LaTeX's `article` with the margins it comes with.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pssa.studies.render.fields import Shown

__all__ = ["Layout", "lay_out"]

_PLAIN = 72  # characters of a line in small type
_BROKEN, _SIDEWAYS = 86, 135  # in the smallest, on a page that stands and on one that lies
_GAP = 2  # characters between columns
_SEVERAL = 18  # characters beyond which a field of numbers may break: longer than two scores with their stars
_WORD = 24  # characters beyond which a word may stand out
_LONG = 60  # characters beyond which a column asks for no more room
_ROWS = 30  # that a page holds besides notes


@dataclass(frozen=True)
class Layout:
    """Of a table that is set to fit."""

    shares: tuple[float, ...]  # of a line, by column; none: as wide as the fields are
    is_long: bool  # goes on over several pages
    is_sideways: bool = False


def lay_out(shown: Shown) -> Layout:
    """The layout in which nothing is cut off, as far as there is one."""
    columns = [tuple(texts) for texts in zip(shown.columns, *shown.rows, strict=True)]
    longest = [max(map(_length, texts)) for texts in columns]
    gaps = _GAP * len(columns)
    if sum(longest) + gaps <= _PLAIN:
        return Layout((), len(shown.rows) > _ROWS)
    least = [_least(texts, is_number) for texts, is_number in zip(columns, shown.is_number, strict=True)]
    is_sideways = sum(least) + gaps > _BROKEN
    shares = _shares(least, longest, (_SIDEWAYS if is_sideways else _BROKEN) - gaps)
    # How many lines broken fields take is for LaTeX to find out.
    return Layout(shares, True, is_sideways)


def _least(texts: Sequence[str], is_number: bool) -> int:
    """What a column needs so that no word of it stands out, nor a number is torn apart from its spread."""
    head, *fields = texts
    whole = [_length(text) for text in fields if is_number and _length(text) <= _SEVERAL]
    words = (_length(word) for text in (head, *fields) for word in text.split())
    return min(_WORD, max(itertools.chain(whole, words), default=1))


def _shares(least: Sequence[int], longest: Sequence[int], room: int) -> tuple[float, ...]:
    """What each column needs, and of what is left as much as its longest field asks for."""
    wanted = [max(0, min(long, _LONG) - own) for own, long in zip(least, longest, strict=True)]
    left = max(0, room - sum(least)) / max(1, sum(wanted))
    widths = [own + left * more + _GAP for own, more in zip(least, wanted, strict=True)]
    return tuple(_rounded(width / sum(widths) for width in widths))


def _rounded(shares: Iterator[float]) -> Iterator[float]:
    # Down, so that all of them are never more than the line.
    return (int(1000 * share) / 1000 for share in shares)


def _length(text: str) -> int:
    return len(text.replace("`", ""))
