"""The parsers of a command and of all that is below it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser of every command and of every action, itself first."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers_of(command)
