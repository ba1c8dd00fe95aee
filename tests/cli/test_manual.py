"""The documentation covers every command, option, setting and exhibit, and every command in it can be given."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from pssa import models, saliency
from pssa.cli import build_parser
from pssa.data.formats import FORMATS
from pssa.runs import Config, methods

ROOT = Path(__file__).parents[2]
FILES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
PAGES = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in FILES}


def actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument and option of a parser and its commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from actions_of(command)
        else:
            yield action


def setting_names() -> set[str]:
    """Every name that `--set` takes, without its section."""
    config = Config()
    parts = [config, *(part for field in fields(config) if is_dataclass(part := getattr(config, field.name)))]
    names = {field.name for part in parts for field in fields(part) if not is_dataclass(getattr(part, field.name))}
    options = {option for model in models.names() for option in models.option_defaults(model)}
    return (names - {"options"}) | options


def shown_commands() -> list[str]:
    """The lines of examples that call `pssa`, with their continuations, up to a pipe."""
    blocks = [block for page in PAGES.values() for block in re.findall(r"```(?:sh|console)\n(.*?)```", page, re.DOTALL)]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = [re.fullmatch(r"(?:\$ )?(?:.*\| )?pssa (.+?)(?: \| .*)?", line) for line in lines]
    return sorted({match[1] for match in found if match} - {"--version", "COMMAND --help"})


def test_every_option_is_documented() -> None:
    known = {name for page in PAGES.values() for name in re.findall(r"--[a-z][a-z-]*", page)}
    options = {name for action in actions_of(build_parser()) for name in action.option_strings if name[:2] == "--"}
    assert len(options) <= 90
    assert sorted(options - known) == []


def test_everything_that_can_be_given_has_help() -> None:
    assert [action.dest for action in actions_of(build_parser()) if not action.help] == []


@pytest.mark.parametrize("page", ["README.md", "docs/reference/commands.md"])
def test_every_command_is_in_a_table(page: str) -> None:
    (commands,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    rows = re.findall(r"^\|.*`pssa .*", PAGES[page].partition("<!-- begin commands -->")[0], re.MULTILINE)
    assert set(re.findall(r"`pssa ([a-z]+)", "".join(rows))) == set(commands.choices)


def test_every_setting_is_in_the_configuration_reference() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGES["docs/reference/configuration.md"], re.MULTILINE)
    assert sorted(setting_names() - set(re.findall(r"`([a-z_]+)`", " ".join(rows)))) == []


@pytest.mark.parametrize(
    ("names", "page", "heading"),
    [
        (models.names, "docs/explanation/method.md", "Models"),
        (methods.names, "docs/explanation/method.md", "Methods"),
        (saliency.names, "docs/explanation/method.md", "Saliency: which word counted"),
        (FORMATS.names, "docs/reference/file-formats.md", "Instances"),
    ],
    ids=("models", "methods", "saliencies", "formats"),
)
def test_everything_with_a_name_is_in_its_table(names: Callable[[], tuple[str, ...]], page: str, heading: str) -> None:
    section = PAGES[page].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    columns = [" ".join(re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)) for table in tables]
    listed = [set(re.findall(r"`([a-z][a-z_-]*)`", column)) for column in columns]
    missing, gone = set(names()) - set().union(*listed), listed[0] - set(names())
    assert (missing, gone) == (set(), set()), f"{page}: the tables of {heading!r} lack a row, or have one too many"


@pytest.mark.slow
@pytest.mark.parametrize("command", shown_commands())
def test_every_command_that_is_shown_can_be_given(command: str) -> None:
    assert build_parser().parse_args(shlex.split(command, comments=True)).run
