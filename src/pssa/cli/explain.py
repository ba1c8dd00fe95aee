"""`pssa explain`: why a label was given, as a heat map in the terminal, as HTML or as SVG."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import add_columns, common_options
from pssa.cli._parser import page
from pssa.cli.report import refuse_output
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.data.example import Example
    from pssa.data.read import Row
    from pssa.runs import Classifier
    from pssa.runs.explain import Explanation

__all__ = ["add_parser"]

_OFFSETS = re.compile(r"(\d+):(\d+)")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        parents=[common_options()],
        help="show why a label was given",
        **page(
            "Label aspects and show how much each word counted for it, as a heat map in the terminal, as HTML or as SVG.",
            'pssa explain runs/reviews --text "Great view, but a rude waiter." --aspect view --aspect waiter',
            "pssa explain runs/reviews --input test.csv --limit 5 --html heat.html",
            "pssa explain runs/reviews --input test.csv --versus runs/base --saliency leave_one_out",
        ),
    )
    parser.add_argument("run_path", metavar="RUN", type=Path, help="a run, as `pssa train --out RUN` makes it")
    parser.add_argument("--text", help="a sentence")
    parser.add_argument(
        "--aspect", action="append", metavar="A", help="an aspect in it, as its words or FROM:TO; may be repeated"
    )
    parser.add_argument("--input", type=Path, help="a file of sentences with their aspects, instead of --text")
    parser.add_argument("--format", help="the format of the input, if it is not recognised")
    add_columns(parser)
    parser.add_argument("--limit", type=int, default=20, help="rows of the input to explain (default 20)")
    parser.add_argument("--saliency", default="", help="how words are scored (default: the model's usual one)")
    parser.add_argument("--versus", type=Path, metavar="RUN2", help="show what RUN2 looks at, beside it")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a drawing")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default auto)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain, draw, and say where."""
    from pssa.cli._output import counted, print_json, say
    from pssa.runs import load
    from pssa.runs.explain import explain

    _check(arguments)
    asked = _ask(arguments)
    first = load(arguments.run_path, device=arguments.device)
    now = explain(first, asked.examples, arguments.saliency)
    before = None
    if arguments.versus is not None:
        second = load(arguments.versus, device=arguments.device)
        before = explain(second, asked.examples, _common_saliency(second, now, arguments.saliency))
    written = _write(arguments, now, before)
    if arguments.json:
        print_json(_as_dict(arguments, now, before) | {"warnings": asked.doubts, **written})
        return 0
    _show(arguments, now, before)
    for doubt in asked.doubts:
        say(doubt)
    if asked.more:
        say(f"... and more; --limit shows them (now {arguments.limit})")
    for path in written.values():
        say(f"{path}: {counted(len(now), 'heat map')}")
    return 0


@dataclass(frozen=True)
class _Question:
    """What is to be explained."""

    examples: list[Example]
    doubts: list[str] = field(default_factory=list)
    more: bool = False  # whether the input had more rows


def _check(arguments: argparse.Namespace) -> None:
    if (arguments.text is None) == (arguments.input is None):
        raise InputError("pssa explain needs --text T with --aspect A, or --input FILE; give one of the two")
    if (arguments.text is None) != (arguments.aspect is None):
        raise InputError("--text and --aspect go together; an input has its aspects in the file")
    for name in ("columns", "format"):
        if arguments.input is None and getattr(arguments, name) is not None:
            raise InputError(f"--{name} goes with --input FILE; leave it out")
    if arguments.limit < 1:
        raise InputError(f"limit is {arguments.limit}; it must be at least 1")
    for path in (arguments.html, arguments.svg):
        if path is not None:
            refuse_output(path, force=arguments.force)


def _ask(arguments: argparse.Namespace) -> _Question:
    from pssa.data.read import stream

    if arguments.input is not None:
        rows = stream(arguments.input, format=arguments.format, columns=arguments.columns)
        return _read(arguments.input, rows, arguments.limit)
    try:
        arguments.text.encode()
    except UnicodeEncodeError as error:
        raise InputError("--text is not UTF-8; give it as UTF-8, or in a file by --input") from error
    doubts: list[str] = []
    return _Question([_place(arguments.text, aspect, doubts.append) for aspect in arguments.aspect], doubts)


def _place(text: str, aspect: str, warn: Callable[[str], None]) -> Example:
    """The aspect in the text; numbers with a colon are words where they stand there, else offsets."""
    from pssa.data.example import Example
    from pssa.data.read import example_from_fields

    offsets = _OFFSETS.fullmatch(aspect)
    if offsets and aspect not in text:
        return Example.from_text(text, (int(offsets[1]), int(offsets[2])))
    return example_from_fields({"text": text, "aspect": aspect}, ordinal_required=False, warn=warn)


def _read(path: Path, rows: Iterator[Row], limit: int) -> _Question:
    from pssa.data.read import example_from_fields

    examples: list[Example] = []
    doubts: list[str] = []
    for row in islice(rows, limit):
        fields = {key: value for key, value in row.fields.items() if key != "label"}
        found: list[str] = []
        try:
            examples.append(example_from_fields(fields, ordinal_required=False, warn=found.append, row=row))
        except InputError as error:
            raise InputError.at(path, row.line, str(error)) from error
        doubts += [f"{path}, line {row.line}: {doubt}" for doubt in found]
    if not examples:
        raise InputError.at(path, None, "holds no row; expected at least one")
    return _Question(examples, doubts, more=next(rows, None) is not None)


def _common_saliency(classifier: Classifier, now: Sequence[Explanation], asked: str) -> str:
    """The saliency that was used already; where nobody asked for it and it says nothing here, the model's usual one."""
    from pssa.runs.explain import usable_saliencies

    used = now[0].saliency
    return used if asked or used in usable_saliencies(classifier) else ""


def _write(
    arguments: argparse.Namespace, now: Sequence[Explanation], before: Sequence[Explanation] | None
) -> dict[str, str]:
    """The files that were asked for, by kind."""
    from pssa.data.files import write_atomically
    from pssa.report import to_html, to_svg

    names, written = _names(arguments), {}
    for kind, draw in (("html", to_html), ("svg", to_svg)):
        path = getattr(arguments, kind)
        if path is not None:
            write_atomically(path, draw(now, versus=before, names=names).encode())
            written[kind] = str(path)
    return written


def _show(arguments: argparse.Namespace, now: Sequence[Explanation], before: Sequence[Explanation] | None) -> None:
    from rich.console import Console

    from pssa.report import to_terminal

    Console(highlight=False, soft_wrap=True).print(to_terminal(now, versus=before, names=_names(arguments)))


def _as_dict(
    arguments: argparse.Namespace, now: Sequence[Explanation], before: Sequence[Explanation] | None
) -> dict[str, Any]:
    values: dict[str, Any] = {"run": str(arguments.run_path), "explanations": [given.as_dict() for given in now]}
    if before is not None:
        values["versus"] = {"run": str(arguments.versus), "explanations": [given.as_dict() for given in before]}
    return values


def _names(arguments: argparse.Namespace) -> tuple[str, str]:
    from pssa.report.run_reader import name_runs

    return name_runs(arguments.run_path, arguments.versus or arguments.run_path)
