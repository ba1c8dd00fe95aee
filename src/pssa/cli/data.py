"""Check a file of labelled instances for mistakes, or write it in another format.

pssa data check reviews.csv
pssa data convert reviews.csv reviews.jsonl
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import DATA, add_shared, reading
from pssa.cli._output import counted, print_json, say
from pssa.cli._parser import BAD_USAGE, Commands, add_command, add_group, option
from pssa.errors import InputError, for_command_line

if TYPE_CHECKING:
    from pssa.data.check import Report
    from pssa.data.rows import Problem

_SHOWN_PROBLEMS, _SHOWN_SKIPPED, _SHOWN_SAME = 20, 3, 5


def add_parser(commands: Commands) -> None:
    """Declare `data` with its actions."""
    actions = add_group(commands, "data", "check and convert data", __doc__)
    instances = "labelled instances, in any format that has labels"

    check = add_command(actions, "check", "count instances and report invalid lines", run_check)
    check.add_argument("file", metavar="FILE", help=instances)
    add_shared(check.add_argument_group("data format"), *DATA)

    convert = add_command(actions, "convert", "write a file in another format", run_convert)
    convert.add_argument("input", metavar="IN", help=instances)
    convert.add_argument("output", metavar="OUT", help="file to write; hf:DIRECTORY for a Hugging Face dataset")
    add_shared(convert, "format", usage="--from NAME", help="format of IN (default: detected)", dest="format")
    add_shared(convert, "columns", "encoding")
    option(convert, "--to NAME", "format of OUT (default: by its extension)", dest="target")
    add_shared(convert, "labels")
    add_shared(convert, "conflict", help="treatment of the label `conflict`", default="keep")
    add_shared(convert, "label_map", "errors", "occurrence")
    option(convert, "--evidence FILE", "evidence of IN or opinion words, to write triplets with opinions")
    add_shared(convert, "force")


def run_check(arguments: argparse.Namespace) -> int:
    """Read a whole file of labelled instances, count them, and report every line that is suspicious or invalid. The exit
    code is 2 if a line is invalid or there are no instances.

    pssa data check reviews.csv
    pssa data check reviews.csv --columns text=review,aspect=term,label=polarity
    pssa data check reviews.csv --labels good,bad --json
    """
    from dataclasses import asdict

    from pssa.data.check import check

    report = check(arguments.file, **reading(arguments))
    if arguments.json:
        problems = [
            {"line": each.line, "what": for_command_line(each.message), "rejected": each.rejected, "last": each.last}
            for each in report.problems
        ]
        print_json({"file": arguments.file, **asdict(report), "problems": problems})
    else:
        _show(arguments.file, report)
    return BAD_USAGE if report.rejected else 0


def run_convert(arguments: argparse.Namespace) -> None:
    """Write a file of labelled instances in another format, chosen by the name of OUT or by --to. Every format keeps words,
    aspects and labels.

    pssa data convert reviews.xml reviews.csv
    pssa data convert reviews.csv reviews.txt --to tagged --errors skip
    pssa data convert reviews.csv triplets.txt --to triplets --evidence runs/reviews/evidence.jsonl
    """
    from pssa.data.formats.hugging_face import PREFIX
    from pssa.data.io import read_or_skip, write
    from pssa.data.opinion_words import evidence_source

    output = Path(arguments.output.removeprefix(PREFIX))
    if output.exists() and not arguments.force:
        raise InputError.at(output, None, "exists; choose another name, or replace it with --force")
    corpus, skipped, not_kept = read_or_skip(arguments.input, **reading(arguments))
    evidence = evidence_source(arguments.evidence)(corpus) if arguments.evidence else None
    write(corpus, arguments.output, format=arguments.target, evidence=evidence)
    if arguments.json:
        counts = {"instances": len(corpus), "dropped": dict(corpus.dropped)}
        lines = [{"line": problem.line, "what": for_command_line(problem.message)} for problem in skipped]
        print_json({"output": arguments.output, **counts, "skipped": lines, "not_kept": not_kept})
    else:
        dropped = f", dropped {_counts(corpus.dropped)}" if corpus.dropped else ""
        say(f"{arguments.output}: {counted(len(corpus), 'instance')}{dropped}")
        _warn_of_losses(skipped, not_kept)


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
    # Unknown labels are counted, and the advice on them follows once.
    unknown = Counter(shorten(problem.unknown_label) for problem in report.problems if problem.unknown_label)
    is_counted = bool(unknown and report.labels_to_declare)
    if is_counted:
        first = next(problem.line for problem in report.problems if problem.unknown_label)
        found = f"{counted(unknown.total(), 'line')} with unknown labels, the first in line {first}: {_counts(unknown)}"
        lines.append(f"  rejected   {found}")
    listed = [problem for problem in report.problems if not (is_counted and problem.unknown_label)]
    lines += _list_problems(listed)
    if report.labels_to_declare:
        expected = ", ".join(report.labels)
        declared = shlex.join(option_arguments("labels", ",".join(report.labels_to_declare)))
        others = [label for label in report.labels_to_declare if label not in report.labels]
        mapped = shlex.join(option_arguments("label_map", ",".join(f"{label}=LABEL" for label in others)))
        lines.append(f"  to say what labels mean: {mapped}")
        lines.append(f"  expected labels {expected}; correct the others, or accept all with {declared}")
    say("\n".join(lines))


def _list_problems(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each problem, those with the same message as one, until the list is long."""
    from pssa.data.rows import brief_messages

    same: dict[tuple[bool, str], list[Problem]] = {}
    for problem in problems:
        same.setdefault((problem.rejected, problem.message), []).append(problem)
    groups = list(same.values())
    shown = groups[:_SHOWN_PROBLEMS]
    found = []
    for group, message in zip(shown, brief_messages(group[0] for group in shown), strict=True):
        kind = "rejected" if group[0].rejected else "warning "
        lines = [str(problem.line) for problem in group if problem.line is not None]
        n_more = len(lines) - _SHOWN_SAME
        place = f"line {lines[0]}: " if lines else ""
        if len(lines) > 1:
            place = f"lines {', '.join(lines[:_SHOWN_SAME])}{f' and {n_more} more' if n_more > 0 else ''}: "
        found.append(f"  {kind}   {place}{for_command_line(message)}")
    n_more = sum(map(len, groups[_SHOWN_PROBLEMS:]))
    return [*found, f"  ... and {n_more} more; --json lists them all"] if n_more else found


def _warn_of_losses(skipped: Sequence[Problem], not_kept: Sequence[str]) -> None:
    from pssa.data.rows import brief_messages
    from pssa.data.validation import join_names

    if skipped:
        print(f"{counted(len(skipped), 'line')} skipped", file=sys.stderr)
        first = skipped[:_SHOWN_SKIPPED]
        for problem, message in zip(first, brief_messages(first), strict=True):
            print(f"  line {problem.line}: {for_command_line(message)}", file=sys.stderr)
        if len(skipped) > _SHOWN_SKIPPED:
            print("  ... and others; `pssa data check` lists them all", file=sys.stderr)
    if not_kept:
        print(f"columns not kept: {join_names(not_kept)}", file=sys.stderr)


def _counts(counts: Mapping[str, int]) -> str:
    # A colon, because labels may be numbers too.
    return ", ".join(f"{name}: {count}" for name, count in counts.items())
