"""`pssa explain`: explain predictions as heat maps in the terminal, as HTML or as SVG."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import ROWS, add_run, add_shared, require_at_least, set_row_defaults
from pssa.cli._output import counted, print_json, print_rich, require_new_file, say
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.data.example import Example
    from pssa.runs.answers import Explanation

_OFFSETS = re.compile(r"(\d+):(\d+)")


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "explain", "explain predictions with heat maps", run)
    add_run(parser)
    parser.add_argument("--text", help="sentence to explain")
    option(parser, "--aspect A", "aspect in the text, as words or offsets FROM:TO; repeatable", action="append")
    option(parser, "--input FILE", "file of sentences and aspects, instead of --text")
    add_shared(parser, *ROWS)
    option(parser, "--limit N", "number of rows of the input", 20)
    option(parser, "--saliency NAME", "saliency that scores the words (default: by model)", default="")
    option(parser, "--versus RUN2", "run to compare with")
    option(parser, "--out FILE", "pages or drawings to write: .html or .svg", nargs="+", action="extend", default=[])
    add_shared(parser, "force")
    add_shared(parser, "device")


def run(arguments: argparse.Namespace) -> None:
    """Label aspects and show how much each word contributed, as a heat map in the terminal, as HTML or as SVG.

    pssa explain runs/reviews --text "Great view, but a rude waiter." --aspect view --aspect waiter
    pssa explain runs/reviews --input test.csv --limit 5 --out heat.html
    pssa explain runs/reviews --input test.csv --versus runs/base --saliency leave_one_out
    """
    from pssa.data.files import write_atomically
    from pssa.report import to_html, to_svg, to_terminal
    from pssa.report.run_reader import name_runs
    from pssa.runs import load
    from pssa.runs.explain import explain

    _check(arguments)
    examples, warnings, has_more = _read_examples(arguments)
    now, before = explain(load(arguments.run_path, device=arguments.device), examples, arguments.saliency), None
    if arguments.versus is not None:
        second, saliency = load(arguments.versus, device=arguments.device), now[0].saliency
        # A saliency that nobody chose and that this model cannot use gives way to its own.
        is_common = arguments.saliency or saliency in second.saliencies
        before = explain(second, examples, saliency if is_common else "")
    pictured: dict[str, Any] = {
        "versus": before,
        "names": name_runs(arguments.run_path, arguments.versus or arguments.run_path),
    }
    written = {}
    for path in arguments.out:
        kind = path.suffix.lower()[1:]
        write_atomically(path, (to_svg if kind == "svg" else to_html)(now, **pictured).encode())
        written[kind] = str(path)
    if arguments.json:
        values = _as_dict(arguments.run_path, now)
        values |= {} if before is None else {"versus": _as_dict(arguments.versus, before)}
        print_json(values | {"warnings": warnings, **written})
        return
    print_rich(to_terminal(now, with_notes=True, **pictured))
    for warning in warnings:
        say(warning)
    if has_more:
        say(f"... and more; show more with --limit (now {arguments.limit})")
    for name in written.values():
        say(f"{name}: {counted(len(now), 'heat map')}")


def _check(arguments: argparse.Namespace) -> None:
    if (arguments.text is None) == (arguments.input is None):
        raise InputError("pssa explain needs either --text T with --aspect A, or --input FILE")
    if (arguments.text is None) != (arguments.aspect is None):
        raise InputError("--text and --aspect go together; to find the aspects of a text, use pssa try TEXT")
    for name in ROWS:
        if arguments.input is None and getattr(arguments, name) is not None:
            raise InputError(f"--{name} needs --input FILE; add it, or leave --{name} out")
    require_at_least(1, arguments, "limit")
    for path in arguments.out:
        require_new_file(path, force=arguments.force)
        if path.suffix.lower() not in (".html", ".svg"):
            raise InputError(f"--out is {path}; name a file that ends in .html or .svg")


def _read_examples(arguments: argparse.Namespace) -> tuple[list[Example], list[str], bool]:
    """Return the examples to explain, warnings about them, and whether the input has more rows."""
    from pssa.data.example import Example
    from pssa.data.fields import example_from_fields
    from pssa.data.io import stream

    examples: list[Example] = []
    warnings: list[str] = []
    if arguments.input is None:
        text = arguments.text
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError("--text is not UTF-8; encode it as UTF-8, or put it in a file for --input") from error
        for aspect in arguments.aspect:
            offsets = _OFFSETS.fullmatch(aspect)
            if offsets and aspect not in text:  # `3:8` means offsets unless the text contains it
                examples.append(Example.from_text(text, (int(offsets[1]), int(offsets[2]))))
                continue
            fields = {"text": text, "aspect": aspect}
            examples.append(example_from_fields(fields, ordinal_required=False, warn=warnings.append))
        return examples, warnings, False
    path = arguments.input
    set_row_defaults(arguments, [str(path)])
    rows = stream(path, **{name: getattr(arguments, name) for name in ROWS})
    for row in islice(rows, arguments.limit):
        fields = {key: value for key, value in row.fields.items() if key != "label"}
        found: list[str] = []
        try:
            examples.append(example_from_fields(fields, ordinal_required=False, warn=found.append, row=row))
        except InputError as error:
            raise InputError.at(path, row.line, error.message) from error
        warnings += [f"{path}, line {row.line}: {warning}" for warning in found]
    if not examples:
        raise InputError.at(path, None, "has no rows; expected at least one")
    return examples, warnings, next(rows, None) is not None


def _as_dict(run: Path, explanations: Sequence[Explanation]) -> dict[str, Any]:
    return {"run": str(run), "explanations": [explanation.as_dict() for explanation in explanations]}
