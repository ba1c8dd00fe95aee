"""A command run in this process with its result, and the parsers of all commands."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """Exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output, where it was asked for and everything went well."""
        progress = re.fullmatch(r"(?:pssa: \d+ cells? to do\n)?", self.err)
        assert self.code == 0, self.err
        assert progress, self.err
        assert self.out.count("\n") == 1
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def refusal(self) -> str:
        """The one line on standard error that bad input or usage gives."""
        assert (self.code, self.out) == (2, "")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        assert "Traceback" not in self.err
        assert self.err.startswith("pssa: ")
        return self.err.strip()


Command = Callable[..., Result]


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser of every command and of every action, itself first."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers_of(command)
