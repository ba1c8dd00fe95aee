"""The help of every command says what it does and shows commands that can be given."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest
from tests.cli.parsers import parsers_of

from pssa.cli import build_parser
from pssa.cli._parser import page

PARSERS = {parser.prog: parser for parser in list(parsers_of(build_parser()))[1:]}


def examples_of(parser: argparse.ArgumentParser) -> list[str]:
    """The lines at the end of its help that show a command."""
    return re.findall(r"^  (pssa .+)$", parser.format_help().partition("\nexamples:\n")[2], re.MULTILINE)


EXAMPLES = [(prog, example) for prog, parser in PARSERS.items() for example in examples_of(parser)]


@pytest.mark.parametrize("prog", PARSERS)
def test_every_command_says_what_it_does_and_gives_two_or_three_examples(prog: str) -> None:
    said = PARSERS[prog].description or ""
    assert re.fullmatch(r"[A-Z].+[.]", said)
    assert said.count(". ") <= 1  # two sentences at most
    assert len(examples_of(PARSERS[prog])) in (2, 3)


@pytest.mark.parametrize(("prog", "example"), EXAMPLES)
def test_every_example_is_of_its_command_and_can_be_given(prog: str, example: str) -> None:
    assert example.startswith(prog)
    assert build_parser().parse_args(shlex.split(example)[1:]).run


def test_a_narrow_terminal_breaks_the_description_and_no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    example = "pssa predict runs/reviews --input new.csv --output labelled.csv"
    said = argparse.ArgumentParser(**page("Label every row of files of any size, in order.", example)).format_help()
    assert "\nLabel every row of files of any size,\nin order.\n" in said
    assert said.endswith(f"\nexamples:\n  {example}\n")
