"""Heat maps in a terminal, with colour and without."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from tests.report.documents import explanation, explanations, plain

from pssa.report.terminal import HeatMaps, to_terminal
from pssa.runs.answers import Explanation

TEXT = "The screen is huge, but the battery dies."
SCREEN = explanation(TEXT, "screen", {"huge": 0.5, "is": 0.125, "dies": 0.03}, "positive")


def coloured(given: HeatMaps) -> str:
    return plain(given, force_terminal=True, color_system="truecolor")


def test_without_colour_hot_words_have_numbers() -> None:
    assert plain(to_terminal([SCREEN])) == (
        "screen is positive 25.0 %, negative 62.5 %, neutral 12.5 % (by attention)\n"
        "  The [screen] is(.12) huge(.50), but the battery dies.\n"
    )


def test_with_colour_hot_words_have_a_background_and_the_numbers_follow() -> None:
    found = coloured(to_terminal([SCREEN]))
    # Level 10 lets 85 % of the heat (245, 158, 11) through to white.
    assert "\x1b[1;30;48;2;246;173;48mhuge\x1b[0m" in found
    assert "huge(" not in found
    assert "huge .50, is .12" in found
    assert "The \x1b[1m[screen]\x1b[0m" in found


def test_who_wants_no_colour_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    found = coloured(to_terminal([SCREEN]))
    assert "huge(.50)" in found
    assert "48;2" not in found


def test_two_runs_stand_below_each_other_with_what_changed() -> None:
    before = explanation(TEXT, "screen", {"huge": 0.25})
    lines = plain(to_terminal([SCREEN], versus=[before], names=("new", "old"))).splitlines()
    assert [line.split(":")[0] for line in lines[::2]] == ["old", "new", "changed most"]
    assert lines[-1] == "changed most: huge .25 to .50, is .00 to .12, dies .00 to .03"
    assert "changed most: nothing" in plain(to_terminal([SCREEN], versus=[SCREEN]))


def test_a_terminal_is_not_told_what_to_do() -> None:
    found = plain(to_terminal([explanation("a\x1b[31m\x07\u202e\x9b1m\nscreen [bold]b[/bold]", "screen", {"b": 0.5})]))
    assert "\x1b" not in found
    assert "\u202e" not in found
    assert "a\ufffd[31m\ufffd\ufffd\ufffd1m [screen] [bold]b(.50)[/bold]" in found


@pytest.mark.slow
@given(explanations())
def test_no_text_brings_controls_with_it(given: Explanation) -> None:
    found = plain(to_terminal([given], versus=[given]))
    assert not {character for character in found if unicodedata.category(character) in ("Cc", "Cs")} - {"\n"}
    assert found.count("\n") == 5
