from __future__ import annotations

import pytest

from pssa.data.numbers import p_value, percent, points


def test_shares_are_percentages_with_one_decimal() -> None:
    assert percent(0.68757) == "68.8 %"
    assert percent(0.2, 0) == "20 %"


def test_differences_have_a_sign() -> None:
    assert points(0.0123) == "+1.2 points"
    assert points(-0.5) == "-50.0 points"


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "p < 0.001"), (0.0009, "p < 0.001"), (0.0124, "p = 0.012"), (1.0, "p = 1.000")]
)
def test_no_p_is_zero(p: float, text: str) -> None:
    assert p_value(p) == text
