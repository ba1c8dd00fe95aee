"""What people see: numbers in one format everywhere, and HTML of objects in notebooks.

Shares are written as `68.8 %`, probabilities of error as `p = 0.012` or `p < 0.001`; files for programs keep fractions.
"""

from __future__ import annotations

import importlib

__all__ = ["to_html"]
_LEAST_P = 0.001


def to_html(value: object) -> str:
    """Return a corpus, evidence, an evaluation or an explanation as HTML, for `_repr_html_`."""
    return str(importlib.import_module("pssa.report.notebook").draw(value))


def percent(share: float, digits: int = 1) -> str:
    """Format a share of one, such as 0.688, as `68.8 %`."""
    return f"{100 * share:.{digits}f} %"


def points(difference: float) -> str:
    """Format a difference of two shares, such as -0.012, as `-1.2 points`."""
    return f"{100 * difference:+.1f} points"


def p_value(p: float) -> str:
    """Format the p of a test as `p = 0.012`; never as zero, which no test can find."""
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.3f}"
