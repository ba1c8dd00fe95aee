"""Errors name settings as their reader would write them."""

from __future__ import annotations

import pickle

import pytest

from pssa.errors import InputError, MissingExtra, for_command_line, setting


def test_a_setting_reads_as_python_or_as_an_option() -> None:
    error = InputError(f"too many labels; pass {setting('labels', 'good,bad')}")
    assert str(error) == "too many labels; pass labels='good,bad'"
    assert for_command_line(error) == "too many labels; pass --labels good,bad"


@pytest.mark.parametrize(
    ("marked", "option"),
    [
        (setting("dev_fraction"), "--dev-fraction"),
        (setting("labels", "-1,1"), "--labels=-1,1"),
        (setting("train", "my reviews.csv"), "--train 'my reviews.csv'"),
        (setting("begin", "replace", option="--force"), "--force"),
    ],
)
def test_an_option_can_be_typed_as_it_is_shown(marked: str, option: str) -> None:
    assert for_command_line(InputError(marked)) == option


def test_an_error_inside_another_keeps_its_settings() -> None:
    inner = InputError(f"set {setting('format', 'csv')}")
    outer = InputError.at("a.txt", 3, inner.message)
    assert str(outer) == "a.txt, line 3: set format='csv'"
    assert for_command_line(outer) == "a.txt, line 3: set --format csv"


def test_a_missing_extra_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(MissingExtra("pandas", "report")))  # noqa: S301
    assert isinstance(error, MissingExtra)
    assert "pssa[report]" in str(error)
