"""The package's exceptions and warnings.

PssaError
├── InputError          what the user gave cannot be used; the command ends with exit code 2
│   ├── EmptyFile       there is nothing in a file
│   └── MissingExtra    an optional dependency is not installed
└── RunError            a run directory is locked, unfinished or damaged

A message names a setting with `setting(...)`. It then reads `begin='replace'` to somebody who called Python and `--force` to
somebody who typed a command: `str(error)` is the former, `for_command_line(error)` the latter.
"""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path
from typing import Any

__all__ = [
    "EmptyFile",
    "InputError",
    "MissingExtra",
    "PssaError",
    "PssaWarning",
    "RunError",
    "for_command_line",
    "setting",
]

# A marked setting is `STX python US command ETX`: control characters, which no message contains otherwise.
_MARKED = re.compile("\x02([^\x1f]*)\x1f([^\x03]*)\x03")


def setting(name: str, value: str = "", option: str = "") -> str:
    """Mark a setting in a message, so that each reader sees it as they would write it.

    :param value: the proposed value, if any.
    :param option: the command-line option and value, where it is not `--name value`.
    """
    option = option or shlex.join(option_arguments(name, value))
    python = f"{name}={value!r}" if value else name
    return f"\x02{python}\x1f{option}\x03"


def option_arguments(name: str, value: str = "") -> list[str]:
    """Return the command-line arguments that set `name`, safe for a value that begins with a dash."""
    option = f"--{name.replace('_', '-')}"
    if value.startswith("-"):
        return [f"{option}={value}"]
    return [option, value] if value else [option]


def for_command_line(message: object) -> str:
    """Return an error, a warning or a message with its settings written as command-line options."""
    raw = message.args[0] if isinstance(message, (PssaError, PssaWarning)) and message.args else message
    return _MARKED.sub(r"\2", str(raw))


class PssaError(Exception):
    """Base of every error that this package raises on purpose."""

    @property
    def message(self) -> str:
        """The message with its settings still marked, to be made part of another error's."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return _MARKED.sub(r"\1", self.message)


class InputError(PssaError, ValueError):
    """Invalid input; the message says what is wrong and what to do."""

    @classmethod
    def at(cls, path: str | Path, line: int | None, what: str) -> InputError:
        """Build an error that names the file and, where there is one, the line (counted from 1)."""
        return cls(f"{path}: {what}" if line is None else f"{path}, line {line}: {what}")


class EmptyFile(InputError):
    """A file has no content, or none once it is unpacked."""


NEEDS_TRAIN = ("torch", "transformers")  # what training needs and answering does not


class MissingExtra(InputError):
    """An optional dependency is needed and not installed."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"{module} is not installed; get it with: pip install 'pssa[{extra}]'")
        self._arguments = module, extra

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        # An exception is unpickled from its message unless it says otherwise.
        return MissingExtra, self._arguments


def import_extra(module: str, extra: str) -> Any:
    """Import a library that comes with an extra of pssa.

    :raises MissingExtra: if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], extra) from error


class RunError(PssaError):
    """A run directory is locked by another process, unfinished or damaged."""


class PssaWarning(UserWarning):
    """A warning whose message may name settings."""

    def __str__(self) -> str:
        return _MARKED.sub(r"\1", str(self.args[0]) if self.args else "")
