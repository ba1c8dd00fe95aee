"""`pssa data check` and `pssa data convert`: check a file of instances, or write it in another format."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import add_columns, add_data, add_labels, reading
from pssa.cli._output import counted, print_json, say
from pssa.cli._parser import finish, page
from pssa.errors import for_command_line

if TYPE_CHECKING:
    from pssa.data.check import Report
    from pssa.data.io import ReadResult

_SHOWN_PROBLEMS, _SHOWN_SKIPPED = 20, 3
_FORMATS = "csv, hugging_face, json_lines, parquet, semeval_xml, tagged or three_line"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare `data` with its two actions."""
    parser = commands.add_parser(
        "data",
        help="check or convert a file of labelled instances",
        **page(
            "Check a file of labelled instances for mistakes, or write it in another format.",
            "pssa data check reviews.csv",
            "pssa data convert reviews.csv reviews.jsonl",
        ),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_check(actions)
    _add_convert(actions)


def run_check(arguments: argparse.Namespace) -> int:
    """Report on a file; the exit code is 2 if an instance was rejected or there is none."""
    from dataclasses import asdict

    from pssa.data.check import check
    from pssa.data.example import DEFAULT_LABELS

    report = check(arguments.file, **reading(arguments, arguments.labels or DEFAULT_LABELS))
    if arguments.json:
        found = asdict(report)
        for problem in found["problems"]:
            # The first is for skipped rows, the second is part of the message.
            del problem["given"], problem["unknown_label"]
            problem["what"] = for_command_line(problem.pop("message"))
        print_json({"file": arguments.file, **found})
    else:
        _show(arguments.file, report)
    return 2 if report.rejected else 0


def run_convert(arguments: argparse.Namespace) -> int:
    """Read one file and write another."""
    from pssa.data.example import DEFAULT_LABELS
    from pssa.data.formats.hugging_face import PREFIX
    from pssa.data.io import read_or_skip, write
    from pssa.errors import InputError

    output = Path(arguments.output.removeprefix(PREFIX))
    if output.exists() and not arguments.force:
        raise InputError.at(output, None, "exists; choose another name, or replace it with --force")
    found = read_or_skip(
        arguments.input, **reading(arguments, arguments.labels or DEFAULT_LABELS), errors=arguments.errors
    )
    corpus = found.corpus
    write(corpus, arguments.output, format=arguments.target)
    if arguments.json:
        counts = {"instances": len(corpus), "dropped": dict(corpus.dropped)}
        skipped = [{"line": problem.line, "what": for_command_line(problem.message)} for problem in found.skipped]
        print_json({"output": arguments.output, **counts, "skipped": skipped, "not_kept": found.not_kept})
    else:
        dropped = f", dropped {_counts(corpus.dropped)}" if corpus.dropped else ""
        say(f"{arguments.output}: {counted(len(corpus), 'instance')}{dropped}")
        _warn_of_losses(found)
    return 0


def _add_check(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "check",
        help="count instances and report invalid lines",
        **page(
            "Read a whole file of labelled instances, count them, and report every line that is suspicious or invalid. The"
            " exit code is 2 if a line is invalid or there are no instances.",
            "pssa data check reviews.csv",
            "pssa data check reviews.csv --columns text=review,aspect=term,label=polarity",
            "pssa data check reviews.csv --labels good,bad --json",
        ),
    )
    parser.add_argument("file", metavar="FILE", help=f"labelled instances: {_FORMATS}")
    add_data(parser.add_argument_group("data format"))
    finish(parser, run_check)


def _add_convert(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "convert",
        help="write a file in another format",
        **page(
            "Write a file of labelled instances in another format, chosen by the name of OUT or by --to. Every format keeps"
            " words, aspects and labels.",
            "pssa data convert reviews.xml reviews.csv",
            "pssa data convert reviews.csv reviews.txt --to tagged --errors skip",
            "pssa data convert reviews.csv hf:reviews",
        ),
    )
    parser.add_argument("input", metavar="IN", help=f"labelled instances: {_FORMATS}")
    parser.add_argument("output", metavar="OUT", help="file to write; hf:DIRECTORY for a Hugging Face dataset")
    parser.add_argument("--from", dest="format", metavar="NAME", help="format of IN (default: detected)")
    add_columns(parser)
    parser.add_argument("--to", dest="target", metavar="NAME", help="format of OUT (default: by its extension)")
    add_labels(parser)
    parser.add_argument(
        "--conflict",
        choices=("drop", "keep", "error"),
        default="keep",
        help="treatment of the label `conflict` (default keep)",
    )
    parser.add_argument(
        "--errors", metavar="MODE", default="fail", help="on invalid lines: fail or skip (default fail)"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing OUT")
    finish(parser, run_convert)


def _show(name: str, report: Report) -> None:
    from pssa.data.validation import shorten
    from pssa.errors import option_arguments

    lines = [
        f"{name}: {counted(report.instances, 'instance')} ({report.format})",
        f"  labels     {_counts(report.labels)}",
        f"  sentences  {report.sentences}, {report.sentences_with_several_aspects} of them with several aspects",
        f"  words      {report.words_mean:.1f} on average, {report.words_max} at most",
        f"  repeated   {report.duplicates}",
        f"  dropped    {_counts(report.dropped) or 'none'}",
    ]
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        place = "" if problem.line is None else f"line {problem.line}: "
        # The advice on unknown labels follows once, for all of them.
        brief = problem.unknown_label and report.labels_to_declare
        what = f"unknown label {shorten(problem.unknown_label)}" if brief else for_command_line(problem.message)
        lines.append(f"  {'rejected' if problem.rejected else 'warning '}   {place}{what}")
    if len(report.problems) > _SHOWN_PROBLEMS:
        lines.append(f"  ... and {len(report.problems) - _SHOWN_PROBLEMS} more; --json lists them all")
    if report.labels_to_declare:
        expected = ", ".join(report.labels)
        declared = shlex.join(option_arguments("labels", ",".join(report.labels_to_declare)))
        lines.append(f"  expected labels {expected}; correct the others, or accept all with {declared}")
    say("\n".join(lines))


def _warn_of_losses(found: ReadResult) -> None:
    from pssa.data.validation import join_names

    if found.skipped:
        print(f"{counted(len(found.skipped), 'line')} skipped", file=sys.stderr)
        for problem in found.skipped[:_SHOWN_SKIPPED]:
            print(f"  line {problem.line}: {for_command_line(problem.message)}", file=sys.stderr)
        if len(found.skipped) > _SHOWN_SKIPPED:
            print("  ... and others; `pssa data check` lists them all", file=sys.stderr)
    if found.not_kept:
        print(f"columns not kept: {join_names(found.not_kept)}", file=sys.stderr)


def _counts(counts: Mapping[str, int]) -> str:
    # A colon, because labels may be numbers too.
    return ", ".join(f"{name}: {count}" for name, count in counts.items())
