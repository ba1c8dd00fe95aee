"""Argument parsers with short errors, and short forms to declare a command and an option."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from pssa.data.validation import nearest_name
from pssa.errors import InputError, for_command_line
from pssa.runs.run_names import resolve_run
from pssa.runs.settings import Config

DONE, FAILED, BAD_USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143  # exit codes
EXAMPLES = "examples:\n"
_OF_FILES = ("--input", "--data", "--train")  # options of the file that a command is about

Command: TypeAlias = Callable[[argparse.Namespace], int | None]  # an exit code, or None if all went well
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def run_path(given: str) -> Path:
    """Return the folder of a run, for argparse; `starter` is the run that comes with the package."""
    try:
        return resolve_run(given)
    except InputError as error:
        raise argparse.ArgumentTypeError(for_command_line(error)) from error


_TYPES: dict[str, Callable[[str], Any]] = {
    "N": int,
    "X": float,
    **dict.fromkeys(("FILE", "DIR", "TSV"), Path),
    **dict.fromkeys(("RUN", "RUN2"), run_path),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage that argparse prints before them."""

    _words: list[str]  # that it parses

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown arguments where the command is known, not in the parser above it."""
        self._words = list(args or ())
        self._refuse_unknown_options(self._words)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse_unknown(unknown)
        return found, unknown

    def _refuse_unknown_options(self, args: list[str]) -> None:
        """Refuse a misspelled option before argparse misses the one that was meant."""
        if any(isinstance(action, argparse._SubParsersAction) for action in self._actions):
            return  # the options are those of a command
        options = args[: args.index("--")] if "--" in args else args
        known = tuple(self._option_string_actions)
        for place, option in enumerate(options):
            name = option.partition("=")[0]
            # argparse takes a beginning of a name for the name.
            if option.startswith("--") and not any(one.startswith(name) for one in known):
                self._refuse_unknown([option, *options[place + 1 : place + 2]])

    def _refuse_unknown(self, unknown: list[str]) -> NoReturn:
        names = {option.removeprefix("--").replace("-", "_"): option for option in self._option_string_actions}
        given, _, value = unknown[0].partition("=")
        near = nearest_name(given[2:].replace("-", "_"), names) if given.startswith("--") else ""
        meant = names[near] if near else self._propose_option(unknown)
        if "set" in names and (key := given[2:].replace("-", "_")) in _setting_names():
            meant = f"--set {key}={value or (unknown[1] if len(unknown) > 1 else 'VALUE')}"
        hint = f" (did you mean {meant}?)" if meant else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def _propose_option(self, words: list[str]) -> str:
        """Return the option that a file among these words lacks; empty if there is none."""
        name = next((option for option in _OF_FILES if option in self._option_string_actions), None)
        file = next((word for word in words if not word.startswith("-") and Path(word).is_file()), None)
        return f"{name} {file}" if name and file else ""

    def error(self, message: str) -> NoReturn:
        """Exit with the code of bad usage."""
        if found := re.match(r"argument (.+): invalid choice: '([^']*)'", message):
            self._refuse_choice(message, found[1].split("/")[-1], found[2])
        if found := re.fullmatch(r"argument (?:.*/)?(--[a-z-]+): expected (?:one|at least one) argument", message):
            name, action = found[1], self._option_string_actions.get(found[1])
            after = next((word for before, word in pairwise(self._words) if before == name), "")
            message = f"{name} needs a value" + (
                f": {action.help.replace('%%', '%')}" if action and action.help else ""
            )
            if after.startswith("-") and after.partition("=")[0] not in self._option_string_actions:
                message = f"{name} needs a value; write one that begins with a dash as {name}={after}"
        if message.startswith("the following arguments are required: --"):
            bare = [word for before, word in pairwise(["", *self._words]) if not before.startswith("--")]
            meant = self._propose_option(bare)
            message += f" (did you mean {meant}?)" if meant else ""
        self.exit(BAD_USAGE, f"pssa: {message}; see {self.prog} --help\n")

    def _get_option_tuples(self, option_string: str) -> Any:
        """Return the options that a beginning of a name can mean: one alone if the others only continue its name."""
        found = super()._get_option_tuples(option_string)
        shortest = min((each[1] for each in found), key=len, default="")
        if all(each[1].startswith(shortest) for each in found):
            return [each for each in found if each[1] == shortest]
        return found

    def _refuse_choice(self, message: str, name: str, given: str) -> None:
        """Propose the command or the value that is nearest to the one given, if there is one."""
        for action in self._actions:
            if name in (action.metavar, action.dest, *action.option_strings) and action.choices:
                close = get_close_matches(given, map(str, action.choices), n=1)
                if close and isinstance(action, argparse._SubParsersAction):
                    command = f"{self.prog} {close[0]}"
                    self.exit(
                        BAD_USAGE, f"pssa: no {name.lower()} {given!r}; did you mean {command}? see {command} --help\n"
                    )
                if close:
                    message = message.partition(" (choose")[0]
                    self.exit(BAD_USAGE, f"pssa: {message} (did you mean {close[0]}?); see {self.prog} --help\n")


def _setting_names() -> set[str]:
    """Return the names that `--set` takes, without their sections; options of models only where torch is installed."""
    names = set(Config().flat())
    with suppress(ModuleNotFoundError):
        from pssa import models

        names.update(option for model in models.names() for option in models.option_defaults(model))
    return {name.rpartition(".")[2] for name in names}


def add_command(commands: Commands, name: str, help: str, run: Command) -> argparse.ArgumentParser:
    """Add a command; the docstring of `run` is its help page."""
    parser = _add_page(commands, name, help, run.__doc__)
    parser.set_defaults(run=run)
    return parser


def add_group(commands: Commands, name: str, help: str, doc: str | None) -> Commands:
    """Add a command that has actions, for which the result serves as `commands`."""
    return _add_page(commands, name, help, doc).add_subparsers(title="actions", metavar="ACTION", required=True)


def _add_page(commands: Commands, name: str, help: str, doc: str | None) -> argparse.ArgumentParser:
    """Add a parser whose help page is a docstring: one or two sentences and, in a second paragraph, examples."""
    description, _, examples = (doc or "").strip().partition("\n\n")
    return commands.add_parser(
        name,
        help=help,
        description=" ".join(description.split()),
        epilog=EXAMPLES + "\n".join(f"  {example.strip()}" for example in examples.splitlines()),
        formatter_class=HelpFormatter,
    )


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command has, last in its help, to a parser or to all commands below it."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for command in action.choices.values():
            add_common_options(command)
    if not below:
        group = parser.add_argument_group("common options")
        option(group, "--json", "print one JSON object on standard output")
        option(group, "--debug", "print the traceback of an error")


def option(container: argparse._ActionsContainer, usage: str, help: str, default: Any = None, **settings: Any) -> None:
    """Add an option written as in its usage, such as `--seed N`, or a flag.

    The metavar implies the type, the help gets the default unless it mentions one, and other settings are those of
    `add_argument`.
    """
    name, _, metavar = usage.partition(" ")
    usual = {"metavar": metavar, "type": _TYPES.get(metavar)} if metavar else {"action": "store_true"}
    if default is not None:
        usual["default"] = default
    if default not in (None, "", []) and "(default" not in help:
        help += f" (default {default})"
    container.add_argument(name, help=help, **usual | settings)


class HelpFormatter(argparse.HelpFormatter):
    """Short usage; examples on one line, so that they can be copied; long names of commands beside their help."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """Name arguments and required options; all others are listed below anyway."""
        given = list(actions)
        needed = sorted(
            (action for action in given if action.required or not action.option_strings),
            key=lambda action: bool(action.option_strings),
        )
        shown = [" ".join([*action.option_strings[-1:], self._format_args(action, action.dest)]) for action in needed]
        has_commands = any(isinstance(action, argparse._SubParsersAction) for action in given)
        more = [] if has_commands or len(needed) == len(given) else ["[options]"]
        super().add_usage(usage or " ".join([self._prog, *shown, *more]), given, groups, prefix)

    def add_argument(self, action: argparse.Action) -> None:
        """Count the indentation of commands, which argparse leaves out when it computes the width of names."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)
