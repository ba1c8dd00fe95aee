"""What a file holds, as part of a message: short, in one line, and nothing that a terminal would obey."""

from __future__ import annotations

import reprlib

__all__ = ["is_fault", "shown", "told"]

_LONGEST = 60
_LONGEST_REASON = 200
_WRITER = reprlib.Repr()
_WRITER.maxstring = _WRITER.maxother = _WRITER.maxlong = _LONGEST
_WRITER.maxlevel = 2


def shown(value: object) -> str:
    """The value as Python writes it, with its middle left out where it is long."""
    return _WRITER.repr(value)


def is_fault(error: BaseException) -> bool:
    """Whether something went wrong, rather than somebody wants to stop; what panics in Rust raises no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def told(reason: object) -> str:
    """What a library's error says, or a name that a file gives; an error without words says its kind."""
    words = " ".join(str(reason).split())[: _LONGEST_REASON + 1] or type(reason).__name__
    plain = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
    return plain if len(plain) <= _LONGEST_REASON else plain[: _LONGEST_REASON - 3] + "..."
