"""`pssa data check` and `pssa data convert`: what is in a file, and any format to any other."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from pssa.cli._options import common_options
from pssa.data.check import Report, check
from pssa.data.example import DEFAULT_LABELS
from pssa.data.formats import FORMATS
from pssa.data.formats.hugging_face import PREFIX
from pssa.data.read import read
from pssa.data.write import write
from pssa.errors import InputError

__all__ = ["add_parser"]

_SHOWN_PROBLEMS = 20


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `data` with its two actions."""
    parser = commands.add_parser("data", help="check or convert a file of instances")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    formats = ", ".join(FORMATS)

    checking = actions.add_parser(
        "check", help="what is in a file, and what is wrong in which line", parents=[common_options()]
    )
    checking.add_argument("file", metavar="FILE", help="a file in any known format, or a saved dataset")
    checking.add_argument("--format", metavar="F", help=f"one of {formats}; recognised if not given")
    _add_label_options(checking, "drop")
    checking.set_defaults(run=_run_check)

    converting = actions.add_parser("convert", help="any format to any other", parents=[common_options()])
    converting.add_argument("input", metavar="IN", help="a file in any known format, or a saved dataset")
    converting.add_argument("output", metavar="OUT", help="the file to write; hf:DIRECTORY for a saved dataset")
    converting.add_argument("--from", dest="source", metavar="F", help=f"one of {formats}; recognised if not given")
    converting.add_argument(
        "--to", dest="target", metavar="F", help="the same names; by the extension of OUT if not given"
    )
    converting.add_argument("--force", action="store_true", help="write over OUT if it exists")
    _add_label_options(converting, "keep")
    converting.set_defaults(run=_run_convert)


def _add_label_options(parser: argparse.ArgumentParser, conflict: str) -> None:
    parser.add_argument(
        "--labels",
        metavar="A,B,...",
        type=_label_list,
        default=DEFAULT_LABELS,
        help=f"the labels of the file (default: {','.join(DEFAULT_LABELS)})",
    )
    parser.add_argument(
        "--conflict",
        choices=("drop", "keep", "error"),
        default=conflict,
        help="what to do with instances labelled conflict (default: %(default)s)",
    )


def _label_list(given: str) -> tuple[str, ...]:
    return tuple(label.strip() for label in given.split(","))


def _run_check(arguments: argparse.Namespace) -> int:
    report = check(arguments.file, format=arguments.format, labels=arguments.labels, conflict=arguments.conflict)
    if arguments.json:
        print(json.dumps({"file": arguments.file, **asdict(report)}, ensure_ascii=False))
    else:
        _show(arguments.file, report)
    return 2 if report.rejected else 0


def _run_convert(arguments: argparse.Namespace) -> int:
    output = Path(arguments.output.removeprefix(PREFIX))
    if output.exists() and not arguments.force:
        raise InputError.at(output, None, "exists; choose another name, or say --force to write over it")
    corpus = read(arguments.input, format=arguments.source, labels=arguments.labels, conflict=arguments.conflict)
    write(corpus, arguments.output, format=arguments.target)
    if arguments.json:
        print(json.dumps({"output": arguments.output, "instances": len(corpus), "dropped": dict(corpus.dropped)}))
    else:
        print(f"{arguments.output}: {len(corpus)} instances{_counts(', dropped: ', corpus.dropped)}")
    return 0


def _show(name: str, report: Report) -> None:
    print(f"{name}: {report.instances} instances ({report.format})")
    print(f"  labels     {_counts('', report.labels)}")
    print(f"  sentences  {report.sentences}, {report.sentences_with_several_aspects} of them with several aspects")
    print(f"  words      {report.words_mean:.1f} on average, {report.words_max} at most")
    print(f"  repeated   {report.duplicates}")
    if report.dropped:
        print(f"  dropped    {_counts('', report.dropped)}")
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        place = "" if problem.line is None else f"line {problem.line}: "
        print(f"  {'rejected' if problem.rejected else 'warning '}   {place}{problem.what}")
    if len(report.problems) > _SHOWN_PROBLEMS:
        print(f"  ... and {len(report.problems) - _SHOWN_PROBLEMS} more; --json lists them all")


def _counts(lead: str, counts: Mapping[str, int]) -> str:
    return lead + ", ".join(f"{count} {name}" for name, count in counts.items()) if counts else ""
