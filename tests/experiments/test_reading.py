"""Fields that show several numbers."""

from __future__ import annotations

import pytest

from pssa.experiments.reading import Reading, count_of, missing, pair, percent


@pytest.mark.parametrize(
    ("reading", "text", "parts"),
    [
        (pair((70.125, 60.0)), "70.12 / 60.00", {"accuracy": 70.125, "macro-F1": 60.0}),
        (pair([0.5, -1.0], "+"), "+0.50 / -1.00", {"accuracy": 0.5, "macro-F1": -1.0}),
        (pair(None), "", {"accuracy": None, "macro-F1": None}),
        (percent(0.125), "12.5%", {"share": 0.125}),
        (percent(0.25, 0), "25%", {"share": 0.25}),
        (count_of(2, 3), "2 of 3", {"count": 2, "of": 3}),
        (missing("mean"), "", {"mean": None}),
    ],
)
def test_a_reading_shows_a_text_and_keeps_the_numbers(reading: Reading, text: str, parts: dict[str, float]) -> None:
    assert (str(reading), reading.parts) == (text, parts)
