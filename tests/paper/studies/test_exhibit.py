"""Fields that show several numbers."""

from __future__ import annotations

import pytest

from paper.studies.exhibit import FormattedValue, format_count, format_percent, format_scores, not_measured


@pytest.mark.parametrize(
    ("reading", "text", "parts"),
    [
        (format_scores((70.125, 60.0)), "70.12 / 60.00", {"accuracy": 70.125, "macro-F1": 60.0}),
        (format_scores([0.5, -1.0], "+"), "+0.50 / -1.00", {"accuracy": 0.5, "macro-F1": -1.0}),
        (format_scores(None), "", {"accuracy": None, "macro-F1": None}),
        (format_percent(0.125), "12.5%", {"share": 0.125}),
        (format_percent(0.25, 0), "25%", {"share": 0.25}),
        (format_count(2, 3), "2 of 3", {"count": 2, "of": 3}),
        (not_measured("mean"), "", {"mean": None}),
    ],
)
def test_a_reading_shows_a_text_and_keeps_the_numbers(
    reading: FormattedValue, text: str, parts: dict[str, float]
) -> None:
    assert (str(reading), reading.parts) == (text, parts)
