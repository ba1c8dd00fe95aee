"""Options as they are typed."""

from __future__ import annotations

import argparse

import pytest

from pssa.data.option_words import option_words


@pytest.mark.parametrize("value", ["good,bad", "-1,0,1", "two words"])
def test_a_parser_takes_them(value: str) -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--labels")
    assert parser.parse_args(option_words("labels", value)).labels == value
