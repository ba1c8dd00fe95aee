"""Runs: from data and settings to a directory that holds a classifier. Names load when they are first used."""

from __future__ import annotations

from pssa.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
