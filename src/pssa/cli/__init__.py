"""The command `pssa`: one file per command; files that begin with an underscore are shared parts.

Exit codes: 0 done; 2 bad input, bad usage or a missing extra; 1 any other failure; 130 interrupted; 143 ended by SIGTERM.
Errors are one line on standard error; `--debug` adds the traceback. Commands import their dependencies when they run, so
`pssa --help` is quick.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any

from pssa import __version__
from pssa.cli._output import for_terminal
from pssa.cli._parser import (
    BAD_USAGE,
    DONE,
    EXAMPLES,
    FAILED,
    INTERRUPTED,
    TERMINATED,
    HelpFormatter,
    Parser,
    add_common_options,
)
from pssa.errors import NEEDS_TRAIN, InputError, MissingExtra, PssaError, for_command_line
from pssa.registry import Registry

__all__ = ["build_parser", "main"]

_COMMANDS = Registry("pssa.cli", "command")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    if not words:
        build_parser().print_help()
        return BAD_USAGE
    arguments = build_parser(*words[:1]).parse_args(words)
    with SigtermHandler() as sigterm:
        return _run(arguments, sigterm)


def build_parser(word: str | None = None) -> argparse.ArgumentParser:
    """Return the parser with every command of this folder, or with the one that `word` names, which is faster."""
    parser = Parser(
        prog="pssa",
        formatter_class=HelpFormatter,
        description="Train, explain and serve aspect-based sentiment classifiers whose attention supervises itself.",
        epilog=EXAMPLES
        + """\
  pssa try "Great view, but the waiter was rude."
  pssa insights --input reviews.csv --columns text=review --out insights.html
  pssa train --train reviews.csv --out runs/reviews
  pssa train --help""",
    )
    parser.add_argument("--version", action="version", version=f"pssa {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    names = _COMMANDS.names()
    for name in [name for name in names if name.rstrip("_") == word] or names:
        _COMMANDS.module(name).add_parser(commands)
    add_common_options(parser)
    return parser


def _run(arguments: argparse.Namespace, sigterm: SigtermHandler) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            return arguments.run(arguments) or DONE
    except KeyboardInterrupt as interrupt:
        what, code = ("terminated", TERMINATED) if sigterm.received else ("interrupted", INTERRUPTED)
        return _fail("; ".join([what, *map(for_command_line, interrupt.args)]), arguments.debug, code)
    except InputError as error:
        return _fail(for_command_line(error), arguments.debug, BAD_USAGE)
    except BrokenPipeError:
        # The reader of our output has closed it, as `head` does; Python must not complain on exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except PssaError as error:
        return _fail(for_command_line(error), arguments.debug, FAILED)
    except ModuleNotFoundError as error:
        if error.name not in NEEDS_TRAIN:
            return _fail(f"{error.name} is not installed; install pssa again", arguments.debug, FAILED)
        return _fail(for_command_line(MissingExtra(error.name, "train")), arguments.debug, BAD_USAGE)
    except OSError as error:
        # Python would begin with the error's number and quote the name.
        message = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        return _fail(message, arguments.debug, FAILED)
    except Exception as error:
        return _fail(f"unexpected {type(error).__name__}: {error}; --debug shows where", arguments.debug, FAILED)


def _fail(message: str, debug: bool, code: int) -> int:
    if debug:
        traceback.print_exc()
    print("pssa: " + for_terminal(" ".join(message.split())), file=sys.stderr)
    return code


def _print_warning(message: Warning | str, *details: Any, **more: Any) -> None:
    """Print a warning in one line, without its place in the code."""
    print(f"pssa: warning: {for_terminal(for_command_line(message))}", file=sys.stderr)


class _Terminated(KeyboardInterrupt):
    """Not a plain KeyboardInterrupt: if one passes through code run from a string, Python ends by SIGINT in any case."""


class SigtermHandler:
    """Ends a command on SIGTERM as Ctrl-C does; a second SIGTERM ends the process at once.

    The handler of a caller stays in place. So does the default in a process that `torchrun` started: it may wait for the
    others, where Python runs no handler.
    """

    received = False
    _is_installed = False

    def __enter__(self) -> SigtermHandler:
        possible = threading.current_thread() is threading.main_thread() and "RANK" not in os.environ
        self._is_installed = possible and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if self._is_installed:
            signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.received = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is not None:  # a module is being imported: torch would swallow the exception, and nothing is held yet
            signal.raise_signal(signal.SIGTERM)
        raise _Terminated
