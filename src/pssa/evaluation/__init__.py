"""Scores of classifiers, tests of their differences, and how far explanations can be trusted.

Names load when they are first used, from where `__init__.pyi` has them.
"""

from __future__ import annotations

from pssa.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
