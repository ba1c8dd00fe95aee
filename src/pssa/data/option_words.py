"""An option as it is typed, for messages and commands that people copy."""

from __future__ import annotations

__all__ = ["option_words"]


def option_words(name: str, value: str) -> list[str]:
    """The words of a command; a value that begins with a dash would be taken for another option."""
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
