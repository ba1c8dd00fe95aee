"""Stress tests: variants of labelled instances that reverse or distract, and how a classifier answers them.

Names load when they are first used, from where `__init__.pyi` has them.
"""

from __future__ import annotations

from pssa.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
