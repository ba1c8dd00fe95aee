"""The command `pssa`: one file per command.

Exit codes: 0 done; 2 bad input, bad usage or a missing extra; 1 any other failure; 130 interrupted; 143 ended by
SIGTERM. Errors are one line on stderr, with more behind `--debug`. Nothing heavy is imported before a command runs, so
`pssa --help` is quick.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from pssa import __version__
from pssa.cli._sigterm import Sigterm
from pssa.errors import InputError, PssaError, for_command_line

__all__ = ["build_parser", "main"]

DONE, FAILED, BAD_INPUT, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = build_parser().parse_args(argv)
    with Sigterm() as sigterm:
        return _carry_out(arguments, sigterm)


def _carry_out(arguments: argparse.Namespace, sigterm: Sigterm) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            return int(arguments.run(arguments))
    except KeyboardInterrupt as interrupt:
        what, code = ("terminated", TERMINATED) if sigterm.came else ("interrupted", INTERRUPTED)
        return _fail("; ".join([what, *map(str, interrupt.args)]), arguments.debug, code)
    except InputError as error:
        return _fail(for_command_line(error), arguments.debug, BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone, which is its right; Python must not complain on exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except PssaError as error:
        return _fail(for_command_line(error), arguments.debug, FAILED)
    except OSError as error:
        # Python would begin with the error's number and quote the name.
        told = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        return _fail(told, arguments.debug, FAILED)
    except Exception as error:
        return _fail(f"unexpected {type(error).__name__}: {error}; --debug shows where", arguments.debug, FAILED)


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command of this folder."""
    parser = _Parser(prog="pssa", description="Aspect-based sentiment classifiers whose attention teaches itself.")
    parser.add_argument("--version", action="version", version=f"pssa {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}").add_parser(commands)
    return parser


def _warn(message: Warning | str, *details: Any, **more: Any) -> None:
    """Say a warning in one line; where in the code it arose helps nobody here."""
    print(f"pssa: warning: {for_command_line(message)}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the words of a command in one line; argparse would put its whole usage before that."""

    def error(self, message: str) -> NoReturn:
        """End with the exit code of bad usage."""
        if found := re.fullmatch(r"argument (?:.*/)?(--[a-z-]+): expected (?:one|at least one) argument", message):
            message += f", and one that begins with a dash is written {found[1]}=VALUE"
        self.exit(BAD_INPUT, f"pssa: {message}; see {self.prog} --help\n")


def _fail(message: str, debug: bool, code: int) -> int:
    if debug:
        traceback.print_exc()
    print("pssa: " + " ".join(message.split()), file=sys.stderr)
    return code
