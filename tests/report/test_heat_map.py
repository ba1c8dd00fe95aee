"""The one door to heat maps."""

from __future__ import annotations

import re

from tests.report.documents import explanation, parse

from pssa import report
from pssa.report import heat_map

GIVEN = explanation("The screen is huge and dark.", "screen", {"huge": 0.4, "is": 0.2, "dark": 0.1, "and": 0.05})


def test_the_door_leads_to_every_way_of_drawing() -> None:
    for name in report.__all__:
        assert getattr(report, name) is getattr(heat_map, name)
    for drawn in (heat_map.to_html([GIVEN]), heat_map.to_svg([GIVEN]), heat_map.html_fragment(GIVEN)):
        assert "huge: 40.0%" in drawn


def test_a_fragment_needs_no_other_style() -> None:
    used = {
        name
        for element in parse(heat_map.html_fragment(GIVEN)).all()
        for name in element.attributes.get("class", "").split()
    }
    assert used == {"heat-map", "by", "heat", "aspect", "h10", "h5", "h2", "h1"}
    assert used <= set(re.findall(r"\.([a-z][\w-]*)", heat_map.STYLE))
