"""The package's exceptions.

PssaError
├── InputError          what the user gave cannot be used; the command ends with exit code 2
│   ├── EmptyFile       there is nothing in a file
│   └── MissingExtra    an optional dependency is not installed
└── RunError            a run directory is locked, unfinished or damaged
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["EmptyFile", "InputError", "MissingExtra", "PssaError", "RunError"]


class PssaError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(PssaError, ValueError):
    """What was given cannot be used; the message says what was expected and what to do."""

    @classmethod
    def at(cls, path: str | Path, line: int | None, what: str) -> InputError:
        """Build an error that names the file and, where there is one, the line (counted from 1)."""
        return cls(f"{path}: {what}" if line is None else f"{path}, line {line}: {what}")


class EmptyFile(InputError):
    """A file has no content, or none once it is unpacked."""


class MissingExtra(InputError):
    """An optional dependency is needed and not installed."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"{module} is not installed; get it with: pip install 'pssa[{extra}]'")


class RunError(PssaError):
    """A run directory cannot be used as asked: locked by another process, unfinished or damaged."""
