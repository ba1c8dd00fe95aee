"""HTML of objects in notebooks: rooms above `report` cannot import it, so they ask here."""

from __future__ import annotations

import importlib

__all__ = ["to_html"]


def to_html(value: object) -> str:
    """Return a corpus, evidence, an evaluation or an explanation as HTML, for `_repr_html_`."""
    return str(importlib.import_module("pssa.report.notebook").draw(value))
