"""Numbers as people read them, the same everywhere: shares as `68.8 %`, probabilities of error as `p = 0.012` or `p < 0.001`.

Files for programs keep fractions, and tables of results have two decimals.
"""

from __future__ import annotations

_LEAST_P = 0.001


def percent(share: float, digits: int = 1) -> str:
    """Format a share of one, such as 0.688, as `68.8 %`."""
    return f"{100 * share:.{digits}f} %"


def points(difference: float) -> str:
    """Format a difference of two shares, such as -0.012, as `-1.2 points`."""
    return f"{100 * difference:+.1f} points"


def p_value(p: float) -> str:
    """Format the p of a test as `p = 0.012`; never as zero, which no test can find."""
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.3f}"
