"""Stress tests: variants of labelled instances that reverse or distract, and how a classifier answers them.

Names load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pssa.stress.measure import StressResult, compare_all_right, stress
    from pssa.stress.variants import KINDS, Variant, VariantSet, make_variants
    from pssa.stress.variants_file import read_variants, write_variants

__all__ = [
    "KINDS",
    "StressResult",
    "Variant",
    "VariantSet",
    "compare_all_right",
    "make_variants",
    "read_variants",
    "stress",
    "write_variants",
]

_NAMES = {
    "pssa.stress.measure": (
        "StressResult",
        "compare_all_right",
        "stress",
    ),
    "pssa.stress.variants": (
        "KINDS",
        "Variant",
        "VariantSet",
        "make_variants",
    ),
    "pssa.stress.variants_file": (
        "read_variants",
        "write_variants",
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
