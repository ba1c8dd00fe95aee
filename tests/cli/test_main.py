"""What all commands share: exit codes, errors in one line, and help with examples."""

from __future__ import annotations

import argparse
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from tests.cli.command import Command, parsers_of

import pssa
from pssa import cli
from pssa.cli import build_parser
from pssa.cli._parser import add_command
from pssa.errors import InputError, MissingExtra, RunError

COMMANDS = ("data", "demo", "evaluate", "evidence", "explain", "export", "predict", "report", "serve", "train")


def end_with(error: BaseException, patch: pytest.MonkeyPatch) -> None:
    """Let `pssa evaluate` come to this end."""

    def load(path: Path, **options: str) -> NoReturn:
        raise error

    patch.setattr("pssa.runs.load", load)


EVALUATE = ("evaluate", "RUN", "--data", "FILE")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("FILE is odd;\n  mend it"), 2, "FILE is odd; mend it"),
        (MissingExtra("pyarrow", "data"), 2, "pyarrow is not installed; get it with: pip install 'pssa[data]'"),
        (RunError("RUN is in use"), 1, "RUN is in use"),
        (PermissionError(13, "Permission denied", "RUN"), 1, "RUN: Permission denied"),
        (ZeroDivisionError("oh"), 1, "unexpected ZeroDivisionError: oh; --debug shows where"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("go on with this"), 130, "interrupted; go on with this"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    end_with(error, monkeypatch)
    result = command(*EVALUATE)
    assert (result.code, result.out, result.err) == (code, "", f"pssa: {said}\n")


def test_sigterm_ends_a_command_as_an_interrupt_does(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Path, **options: str) -> NoReturn:
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL, "the signal would end the tests"
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "a second one is not heeded at once"
            raise KeyboardInterrupt("go on with this") from None
        raise AssertionError

    monkeypatch.setattr("pssa.runs.load", load)
    result = command(*EVALUATE)
    assert (result.code, result.out, result.err) == (143, "", "pssa: terminated; go on with this\n")


def test_sigterm_within_an_import_ends_the_process_at_once(tmp_path: Path) -> None:
    send = "import signal; signal.raise_signal(signal.SIGTERM)"
    (tmp_path / "swallowing.py").write_text(f"try:\n    {send}\nexcept BaseException:\n    print('swallowed')\n")
    program = "from pssa.cli import SigtermHandler\nwith SigtermHandler():\n    import swallowing"
    found = [str(tmp_path), *sys.path]
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {found}; {program}"], capture_output=True, timeout=60
    )
    assert (told.returncode, told.stdout) == (-signal.SIGTERM, b"")


@pytest.mark.parametrize("started_by", ["a caller with a handler", "torchrun"])
def test_sigterm_of_others_is_left_alone(command: Command, monkeypatch: pytest.MonkeyPatch, started_by: str) -> None:
    def load(path: Path, **options: str) -> NoReturn:
        raise InputError(f"{signal.getsignal(signal.SIGTERM)!r}")

    monkeypatch.setattr("pssa.runs.load", load)
    handler = signal.SIG_DFL if started_by == "torchrun" else signal.SIG_IGN
    if started_by == "torchrun":
        monkeypatch.setenv("RANK", "0")
    before = signal.signal(signal.SIGTERM, handler)
    try:
        assert repr(handler) in command(*EVALUATE).refusal
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_debug_shows_where_an_error_came_from(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    end_with(InputError("FILE is odd"), monkeypatch)
    result = command(*EVALUATE, "--debug")
    assert result.code == 2
    assert result.err.startswith("Traceback")
    assert result.err.endswith("pssa: FILE is odd\n")


def test_the_version_is_the_packages(command: Command) -> None:
    assert command("--version").out == f"pssa {pssa.__version__}\n"


def test_without_a_command_the_help_is_shown(command: Command) -> None:
    result = command()
    assert (result.code, result.out) == (2, command("--help").out)


def test_the_commands_are_the_files_of_the_folder() -> None:
    (actions,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert set(COMMANDS) <= set(actions.choices)
    folder = Path(cli.__file__).parent
    # `try` is a keyword of Python, so that its file has an underscore after it.
    assert set(actions.choices) == {path.stem.removesuffix("_") for path in folder.glob("[!_]*.py")}


def test_the_beginning_of_an_option_means_the_one_that_others_continue_or_is_ambiguous(command: Command) -> None:
    words = ["predict", "starter", "--input", "x", "--out", "y.csv", "--aspect", "bar"]
    found = build_parser().parse_args(words)
    assert (found.output, found.output_format, found.aspects) == ("y.csv", None, "bar")
    assert "ambiguous option: --enc could match --encoder, --encoding" in command("train", "--enc", "x").err


PARSERS = {parser.prog: parser for parser in list(parsers_of(build_parser()))[1:]}


def examples_of(parser: argparse.ArgumentParser) -> list[str]:
    """The lines at the end of its help that show a command."""
    return re.findall(r"^  (pssa .+)$", parser.format_help().partition("\nexamples:\n")[2], re.MULTILINE)


EXAMPLES = [(prog, example) for prog, parser in PARSERS.items() for example in examples_of(parser)]


@pytest.mark.parametrize("prog", PARSERS)
def test_every_command_says_what_it_does_and_gives_two_or_three_examples(prog: str) -> None:
    said = PARSERS[prog].description or ""
    assert re.fullmatch(r"[A-Z].+[.]", said)
    assert said.count(". ") <= 2  # three short sentences at most
    assert len(examples_of(PARSERS[prog])) in (2, 3)


@pytest.mark.parametrize("prog", PARSERS)
def test_the_help_of_an_option_is_a_short_phrase_and_its_default(prog: str) -> None:
    for action in PARSERS[prog]._actions:
        text = "" if action.help == argparse.SUPPRESS else str(action.help)
        assert len(text.partition(" (default")[0].split()) <= 12, text
        assert not text.endswith("."), text


@pytest.mark.slow
@pytest.mark.parametrize(("prog", "example"), EXAMPLES)
def test_every_example_is_of_its_command_and_can_be_given(prog: str, example: str) -> None:
    assert example.startswith(prog)
    assert build_parser().parse_args(shlex.split(example)[1:]).run


def test_a_narrow_terminal_breaks_the_description_and_no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    example = "pssa predict runs/reviews --input new.csv --output labelled.csv"

    def run(arguments: argparse.Namespace) -> int:
        return 0

    run.__doc__ = f"Label every row of files of any size,\n    in order.\n\n    {example}\n    "
    said = add_command(argparse.ArgumentParser().add_subparsers(), "predict", "", run).format_help()
    assert "\nLabel every row of files of any size,\nin order.\n" in said
    assert said.endswith(f"\nexamples:\n  {example}\n")
