"""Mine, show, compare and correct evidence files: lists of words that a model should attend to, or that misled it.

pssa evidence stats runs/reviews/evidence.jsonl
pssa evidence show runs/reviews/evidence.jsonl --word huge
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import (
    add_model,
    add_shared,
    add_training,
    file_config,
    names_in,
    require_at_least,
    training_settings,
)
from pssa.cli._output import (
    counted,
    for_terminal,
    print_json,
    print_rich,
    print_table,
    require_new_file,
    say,
    warn_no_evidence,
)
from pssa.cli._parser import Commands, add_command, add_group, option
from pssa.data.evidence import (
    ACTIVE,
    KINDS,
    Evidence,
    ExampleEvidence,
    Stats,
    diff,
    drop_word,
    flip,
    keep_above,
    keep_iterations,
    keep_kind,
    stats,
)
from pssa.data.evidence_file import example_fields, read_evidence, write_evidence
from pssa.display import percent
from pssa.errors import InputError

if TYPE_CHECKING:
    from rich.text import Text

    from pssa.runs import Config

_PROGRESSIVE = "progressive"  # the family, of which the saliency names a method


def add_parser(commands: Commands) -> None:
    """Declare the command with its actions."""
    actions = add_group(commands, "evidence", "mine, show, compare and correct evidence files", __doc__)
    file: dict[str, Any] = {"type": Path, "help": "evidence file, such as RUN/evidence.jsonl"}

    parser = add_command(actions, "mine", "mine evidence, without the final training", _run_mine)
    option(parser, "--train FILE", "labelled instances to mine", type=str)
    add_model(parser)
    option(parser, "--saliency NAME", f"{names_in('saliency')} (default: by method and model)")
    parser.add_argument(
        "--method",
        choices=(_PROGRESSIVE, "consensus", "aw-as", "pg-as", "rm-as"),
        help="mining method; aw-as, pg-as and rm-as fix the saliency (default progressive)",
    )
    option(parser, "--out FILE", "evidence file to write", required=True)
    add_training(parser, hidden=("supervision",))

    parser = add_command(actions, "stats", "count words by round, label and word", _run_stats)
    parser.add_argument("file", metavar="FILE", **file)
    option(parser, "--limit N", "number of words of each kind", 20)

    parser = add_command(actions, "show", "show sentences with their words marked", _run_show)
    parser.add_argument("file", metavar="FILE", **file)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--id", help="id of the example to show")
    which.add_argument("--word", help="word found in the examples to show")
    option(parser, "--limit N", "number of examples", 20)

    parser = add_command(actions, "diff", "compare two evidence files", _run_diff)
    parser.add_argument("first", metavar="A", **file)
    parser.add_argument("second", metavar="B", type=Path, help="evidence file of the same instances")
    option(parser, "--limit N", "number of examples", 20)

    parser = add_command(actions, "edit", "write an edited copy", _run_edit)
    parser.add_argument("file", metavar="FILE", **file)
    option(parser, "--out FILE", "evidence file to write", required=True)
    add_shared(parser, "force")
    kept = f"findings to keep: {', '.join(KINDS)}, above=SCORE, or rounds=K for the first K"
    for usage, text, nargs, edit in (
        ("--drop-word W", "words to remove everywhere", "+", drop_word),
        ("--flip W", "words to swap between active and misleading, everywhere", "+", flip),
        ("--keep WHICH", kept, 1, _keep),
    ):
        # One list of edits, each with its value, in the order of the options.
        pair = {"type": lambda value, edit=edit: (edit, value)}
        option(parser, usage, text, [], dest="edits", action="extend", nargs=nargs, **pair)


def _keep(evidence: Evidence, which: str) -> Evidence:
    name, _, value = which.partition("=")
    try:
        if name == "above":
            return keep_above(evidence, float(value))
        if name == "rounds":
            return keep_iterations(evidence, int(value))
    except ValueError as error:
        raise InputError(f"--keep is {which}; expected a number after {name}=") from error
    if which not in KINDS:
        raise InputError(f"--keep is {which}; expected {', '.join(KINDS)}, above=SCORE or rounds=K")
    return keep_kind(evidence, which)


def _run_stats(arguments: argparse.Namespace) -> None:
    """Count the active and misleading words of an evidence file by round of mining, by label and by word.

    pssa evidence stats runs/reviews/evidence.jsonl
    pssa evidence stats evidence.jsonl --limit 50 --json
    """
    require_at_least(0, arguments, "limit")
    found = stats(read_evidence(arguments.file), arguments.limit)
    if arguments.json:
        print_json(asdict(found))
    else:
        _print_stats(found)


def _run_show(arguments: argparse.Namespace) -> None:
    """Show sentences with their words marked: the [aspect], active[+round] and misleading[-round] words.

    pssa evidence show runs/reviews/evidence.jsonl --limit 5
    pssa evidence show runs/reviews/evidence.jsonl --word huge
    """
    from rich.text import Text

    require_at_least(0, arguments, "limit")
    examples = _select(read_evidence(arguments.file), arguments)
    shown = [(example, _mark_words(example)) for example in examples[: arguments.limit]]
    if arguments.json:
        fields = [example_fields(example) | {"shown": text.plain} for example, text in shown]
        print_json({"selected": len(examples), "examples": fields})
        return
    for example, text in shown:
        print_rich(Text.assemble((for_terminal(f"{example.id} {example.label}: "), "dim"), text))
    _print_rest(len(examples) - arguments.limit)


def _select(evidence: Evidence, arguments: argparse.Namespace) -> Sequence[ExampleEvidence]:
    examples = evidence.examples
    if arguments.id is not None:
        chosen = [example for example in examples if example.id == arguments.id]
        fault = f"has no example {arguments.id!r}; `pssa evidence show {arguments.file}` lists ids"
    elif arguments.word is not None:
        word = arguments.word.casefold()
        chosen = [each for each in examples if any(each.words[one.word].casefold() == word for one in each.findings)]
        fault = f"has no finding {arguments.word!r}; `pssa evidence stats {arguments.file}` lists frequent ones"
    else:
        return examples
    if not chosen:
        raise InputError.at(arguments.file, None, fault)
    return chosen


def _run_diff(arguments: argparse.Namespace) -> None:
    """Compare two evidence files of the same instances: the words that B adds, removes, or flips between active and
    misleading.

    pssa evidence diff runs/reviews/evidence.jsonl edited.jsonl
    pssa evidence diff first.jsonl second.jsonl --limit 5
    """
    require_at_least(0, arguments, "limit")
    found = diff(read_evidence(arguments.first), read_evidence(arguments.second))
    if arguments.json:
        print_json(found)
        return
    say("{added} added, {removed} removed, {flipped} flipped, {same} the same".format(**found))
    for example in found["examples"][: arguments.limit]:
        parts = [
            f"{change} " + ", ".join(f"{mark['text']} ({mark['kind']})" for mark in example[change])
            for change in ("added", "removed", "flipped")
            if example[change]
        ]
        say(f"{example['id']}: {'; '.join(parts)}")
    _print_rest(len(found["examples"]) - arguments.limit)


def _run_edit(arguments: argparse.Namespace) -> None:
    """Write an edited copy of an evidence file, with a record of the edits in its header. Edits apply in the order of the
    options.

    pssa evidence edit evidence.jsonl --drop-word . , the --flip was --out edited.jsonl
    pssa evidence edit evidence.jsonl --keep rounds=2 --keep active --out active.jsonl
    """
    if not arguments.edits:
        raise InputError("pssa evidence edit needs an edit: --drop-word, --flip or --keep")
    require_new_file(arguments.out, force=arguments.force)
    evidence = read_evidence(arguments.file)
    before = len(evidence.header.edits)
    for edit, value in arguments.edits:
        evidence = edit(evidence, value)
    write_evidence(evidence, arguments.out)
    edits, found = evidence.header.edits[before:], stats(evidence)
    if arguments.json:
        counts = {"active": found.active, "misleading": found.misleading}
        print_json({"output": str(arguments.out), "edits": edits, **counts})
        return
    for line in (*edits, f"{arguments.out}: {found.active} active and {found.misleading} misleading words"):
        say(line)


def _print_stats(given: Stats) -> None:
    """Print totals, then tables by round (mining log, findings) and by label, then the most frequent words."""
    say(
        f"{counted(given.examples, 'example')}, {given.examples_without} of them without findings; "
        f"{given.active} active and {given.misleading} misleading words"
    )
    rows: list[list[object]] = []
    for one in given.rounds:
        shares = percent(one.accuracy), f"{one.mean_entropy:.3f}", percent(one.open_share)
        rows.append([one.iteration, *shares, one.active, one.misleading])
    if rows:
        print_table("mining log", ("round", "accuracy", "mean entropy", "gave a word", "active", "misleading"), rows)
    rows = []
    for number, found in enumerate(given.per_iteration, 1):
        entropy = found["mean_entropy"]
        rows.append([number, found["active"], found["misleading"], "" if entropy is None else f"{entropy:.3f}"])
    print_table("findings", ("round", "active", "misleading", "mean entropy"), rows)
    rows = [[label, *counts.values()] for label, counts in given.per_class.items()]
    print_table("", ("label", "examples", "active", "misleading"), rows)
    for kind, words in (("active", given.active_words), ("misleading", given.misleading_words)):
        rows = [
            [one["word"], one["count"], *(one["labels"].get(label, 0) for label in given.per_class)] for one in words
        ]
        if rows:
            print_table(f"most frequent {kind} words", ("word", "count", *given.per_class), rows)


def _mark_words(example: ExampleEvidence) -> Text:
    """Mark the words of an example: the [aspect], active[+round] and misleading[-round].

    Colour repeats these marks. White space is narrowed to one space.
    """
    from rich.text import Text

    found = example.by_word
    start, end = example.aspect
    text = Text()
    for index, word in enumerate(map(for_terminal, example.words)):
        if index and example.spans[index - 1][1] < example.spans[index][0]:
            text.append(" ", "bold" if start < index < end else "")
        if start <= index < end:
            text.append("[" * (index == start) + word + "]" * (index == end - 1), "bold")
        else:
            finding = found.get(index)
            sign, style = ("", "") if finding is None else ("+", "green") if finding.kind == ACTIVE else ("-", "red")
            text.append(word + (f"[{sign}{finding.iteration}]" if finding else ""), style)
    return text


def _print_rest(count: int) -> None:
    if count > 0:
        say(f"... and {count} more; show more with --limit")


def _run_mine(arguments: argparse.Namespace) -> None:
    """Mine evidence from labelled instances and write it to a file, without the final training.

    pssa evidence mine --train reviews.csv --iterations 2 --out evidence.jsonl
    pssa evidence mine --train reviews.csv --method consensus --out consensus.jsonl
    """
    from pssa.runs.read_defaults import repeated_options
    from pssa.runs.training_run import mine
    from pssa.runs.warm_start import merge_settings
    from pssa.training import Team
    from pssa.training.progress import TrainingProgress

    settings = training_settings(arguments, ("saliency",))
    start = file_config(arguments)
    config = _choose_method(merge_settings(start, settings), arguments)
    if config.data.train is None:
        raise InputError("pssa evidence mine needs --train FILE")
    with TrainingProgress() as bars:
        start = replace(start, method=config.method)
        evidence = mine(None, arguments.out, config=start, observer=bars, progress=False, **settings)
    # Only the main one of several processes prints.
    if not Team.from_environment().is_main:
        return
    summary = stats(evidence)
    found = bool(summary.active or summary.misleading)
    if not found:
        warn_no_evidence(config, "nothing was found to train with")
    if arguments.json:
        print_json({"evidence": str(arguments.out), **asdict(summary)})
        return
    examples = counted(summary.examples, "example")
    say(f"{arguments.out}: {examples}, {summary.active} active, {summary.misleading} misleading words")
    path = shlex.quote(str(arguments.out))
    say(f"inspect it:    pssa evidence stats {path}")
    if found:
        say(f"train with it: pssa train {shlex.join(repeated_options(config))} --evidence {path} --out RUN")


def _choose_method(config: Config, arguments: argparse.Namespace) -> Config:
    """Return the configuration with a method that mines: that of an option, its own, or one named after the saliency."""
    from pssa.runs import methods
    from pssa.runs.methods.progressive import method_for

    current = methods.find(config.method)
    if any(text.partition("=")[0] == "method" for text in arguments.set):
        return config
    is_progressive = current.family == _PROGRESSIVE
    name = arguments.method or (current.name if current.mines and not is_progressive else _PROGRESSIVE)
    if name == _PROGRESSIVE:
        keeps = is_progressive and arguments.saliency is None
        return config if keeps else replace(config, method=method_for(config.mining.saliency))
    method = methods.find(name)
    if arguments.saliency not in (None, method.default_saliency) and method.family == _PROGRESSIVE:
        raise InputError(f"--method {name} fixes the saliency; use --method progressive with --saliency")
    return replace(config, method=name)
