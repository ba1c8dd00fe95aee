"""Lazy packages: the stub `__init__.pyi` is the one list of a package's names, and each name loads when it is first used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, whose stub imports every name from its module."""

    @cache
    def module_of() -> dict[str, str]:
        import ast

        with open(os.path.splitext(file)[0] + ".pyi", encoding="utf-8") as stub:
            imports = [node for node in ast.parse(stub.read()).body if isinstance(node, ast.ImportFrom)]
        return {alias.name: node.module or "" for node in imports for alias in node.names}

    def find(name: str) -> Any:
        if name == "__all__":
            return sorted(module_of())
        if name.startswith("__") or name not in module_of():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(importlib.import_module(module_of()[name]), name)
        except ModuleNotFoundError as error:
            from pssa.errors import NEEDS_TRAIN, MissingExtra

            if error.name not in NEEDS_TRAIN:
                raise
            raise MissingExtra(error.name, "train") from error

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of()})

    return find, names
