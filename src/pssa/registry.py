"""The folder is the registry: the modules of a package are what can be asked for by name."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

from pssa.errors import InputError

__all__ = ["Registry"]


class Registry:
    """The modules of a package by name; those that begin with an underscore are shared parts and are not listed.

    A module `case_study` is called `case-study` where `separator` is a dash.
    """

    def __init__(self, package: str, kind: str, separator: str = "_") -> None:
        self._package = package
        self._kind = kind
        self._separator = separator

    def names(self) -> tuple[str, ...]:
        """Return every name there is, sorted."""
        folders = importlib.import_module(self._package).__path__
        found = {name for folder in folders for name in _public_modules(folder)}
        return tuple(sorted(name.replace("_", self._separator) for name in found))

    def module(self, name: str) -> ModuleType:
        """Import the module called `name`.

        :raises InputError: if there is none; the message lists those that exist.
        """
        if name not in self.names():
            raise InputError(f"unknown {self._kind} {name!r}; known: {', '.join(self.names())}")
        return importlib.import_module(f"{self._package}.{name.replace(self._separator, '_')}")

    def find(self, name: str) -> Any:
        """Return what the module called `name` is there for: the first name in its `__all__`.

        :raises TypeError: if it names nothing there, which only its author can mend.
        """
        module = self.module(name)
        provided = getattr(module, "__all__", ())
        if not provided:
            raise TypeError(f"{module.__file__} does not say what it provides; name its {self._kind} first in __all__")
        return getattr(module, provided[0])


@cache
def _public_modules(folder: str) -> tuple[str, ...]:
    """List a folder once: names are asked for thousands of times."""
    return tuple(module.name for module in pkgutil.iter_modules([folder]) if not module.name.startswith("_"))
