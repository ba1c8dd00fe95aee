"""Argument parsers with short errors, the help page of a command, and the options that every command has."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

BAD_USAGE = 2
_EXAMPLES = "examples:\n"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage that argparse prints before them."""

    def error(self, message: str) -> NoReturn:
        """Exit with the code of bad usage."""
        if found := re.fullmatch(r"argument (?:.*/)?(--[a-z-]+): expected (?:one|at least one) argument", message):
            message += f"; write a value that begins with a dash as {found[1]}=VALUE"
        self.exit(BAD_USAGE, f"pssa: {message}; see {self.prog} --help\n")


def page(description: str, *examples: str) -> dict[str, Any]:
    """Return the arguments of `add_parser` for a help page: a description of one or two sentences, and examples."""
    return {
        "description": description,
        "epilog": _EXAMPLES + "\n".join(f"  {example}" for example in examples),
        "formatter_class": HelpFormatter,
    }


def finish(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int]) -> None:
    """Add the options that every command has, last in its help, and set the function that runs it."""
    group = parser.add_argument_group("common options")
    group.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    group.add_argument("--debug", action="store_true", help="print the traceback of an error")
    parser.set_defaults(run=run)


class HelpFormatter(argparse.HelpFormatter):
    """Keeps examples on one line, so that they can be copied, and long names of commands beside their help."""

    def add_argument(self, action: argparse.Action) -> None:
        """Count the indentation of commands, which argparse leaves out when it computes the width of names."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)
