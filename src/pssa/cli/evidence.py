"""`pssa evidence`: what is in a file of evidence, its sentences, the difference of two, edits, human opinion words."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from pssa.cli._options import common_options, data_options, reading
from pssa.cli._parser import page
from pssa.data.evidence import KINDS, Evidence, ExampleEvidence
from pssa.data.evidence_diff import diff
from pssa.data.evidence_edit import drop_word, flip, keep_above, keep_iterations, keep_kind
from pssa.data.evidence_file import example_fields, read_evidence, write_evidence
from pssa.data.evidence_stats import stats
from pssa.errors import InputError

__all__ = ["add_parser"]

_FILE = "a file of evidence, such as RUN/evidence.jsonl"

_SHOWN = 20


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command with its actions."""
    parser = commands.add_parser(
        "evidence",
        help="read, compare, correct and make evidence",
        **page(
            "Read, compare, correct and make files of evidence: which words a model should look at, and which misled it.",
            "pssa evidence stats runs/reviews/evidence.jsonl",
            "pssa evidence show runs/reviews/evidence.jsonl --word huge",
        ),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_stats(actions)
    _add_show(actions)
    _add_diff(actions)
    _add_edit(actions)
    _add_from_opinion_words(actions)


def _add_stats(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "stats",
        parents=[common_options()],
        help="counts by round, label and word",
        **page(
            "Count the active and misleading words of a file of evidence by round of mining, label and word.",
            "pssa evidence stats runs/reviews/evidence.jsonl",
            "pssa evidence stats evidence.jsonl --top 50 --json",
        ),
    )
    parser.add_argument("file", metavar="FILE", type=Path, help=_FILE)
    parser.add_argument("--top", type=_natural, default=_SHOWN, help="words of each kind to name (default %(default)s)")
    parser.set_defaults(run=_run_stats)


def _add_show(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "show",
        parents=[common_options()],
        help="sentences with their words marked: [aspect], active[+round], misleading[-round]",
        **page(
            "Show sentences with what was found in them: the [aspect], active[+round] and misleading[-round] words.",
            "pssa evidence show runs/reviews/evidence.jsonl --limit 5",
            "pssa evidence show runs/reviews/evidence.jsonl --word huge",
            "pssa evidence show runs/reviews/evidence.jsonl --index 0",
        ),
    )
    parser.add_argument("file", metavar="FILE", type=Path, help=_FILE)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--id", help="the example with this id")
    which.add_argument("--index", type=_natural, help="the example at this position of the corpus, counted from 0")
    which.add_argument("--word", help="the examples in which this word was found")
    parser.add_argument("--limit", type=_natural, default=_SHOWN, help="examples to show (default %(default)s)")
    parser.set_defaults(run=_run_show)


def _add_diff(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "diff",
        parents=[common_options()],
        help="words that B adds, lacks or flips against A",
        **page(
            "Compare two files of evidence of the same instances: which words B adds, lacks, or flips between active and"
            " misleading.",
            "pssa evidence diff runs/reviews/evidence.jsonl edited.jsonl",
            "pssa evidence diff first.jsonl second.jsonl --limit 5",
        ),
    )
    parser.add_argument("first", metavar="A", type=Path, help=_FILE)
    parser.add_argument("second", metavar="B", type=Path, help="another, of the same instances")
    parser.add_argument("--limit", type=_natural, default=_SHOWN, help="examples to show (default %(default)s)")
    parser.set_defaults(run=_run_diff)


def _add_edit(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "edit",
        parents=[common_options()],
        help="write a corrected copy, which says in its header what was done",
        **page(
            "Write a corrected copy of a file of evidence, which says in its header what was done. Edits are made in the"
            " order in which they are given.",
            "pssa evidence edit evidence.jsonl --drop-word . , the --flip was --out edited.jsonl",
            "pssa evidence edit evidence.jsonl --keep-iterations 2 --keep active --out active.jsonl",
        ),
    )
    parser.add_argument("file", metavar="FILE", type=Path, help=_FILE)
    _add_output(parser)
    add: Callable[..., argparse.Action] = partial(
        parser.add_argument, dest="edits", action="extend", nargs=1, default=[]
    )
    add("--drop-word", metavar="W", nargs="+", type=_edit(drop_word, str), help="remove words everywhere")
    add(
        "--flip", metavar="W", nargs="+", type=_edit(flip, str), help="swap active and misleading for words, everywhere"
    )
    add("--keep-above", metavar="S", type=_edit(keep_above, float), help="keep findings with a score above S")
    add("--keep-iterations", metavar="K", type=_edit(keep_iterations, int), help="keep what rounds 1 to K found")
    add("--keep", metavar="|".join(KINDS), type=_edit(keep_kind, str), help="keep findings of one kind")
    parser.set_defaults(run=_run_edit)


def _add_from_opinion_words(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "from-opinion-words",
        parents=[common_options(), data_options()],
        help="make evidence from words that people marked (TOWE files)",
        **page(
            "Make a file of evidence from the opinion words that people marked, in a TOWE file, instead of mining: each of"
            " them becomes an active word of the instances that it belongs to.",
            "pssa evidence from-opinion-words --opinion-words towe.tsv --train reviews.csv --out human.jsonl",
            "pssa evidence from-opinion-words --opinion-words towe.tsv --train laptop.xml --out human.jsonl --force",
        ),
    )
    parser.add_argument("--opinion-words", metavar="TSV", type=Path, required=True, help="a TOWE file")
    parser.add_argument("--train", metavar="FILE", type=Path, required=True, help="the instances to train on")
    _add_output(parser)
    parser.set_defaults(run=_run_from_opinion_words)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the file of evidence to write")
    parser.add_argument("--force", action="store_true", help="write over --out if it exists")


def _edit(make: Callable[[Evidence, Any], Evidence], kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """What argparse turns an option's text into: the edit, waiting for its evidence."""

    def parse(given: str) -> Callable[[Evidence], Evidence]:
        value = kind(given)
        return lambda evidence: make(evidence, value)

    parse.__name__ = kind.__name__  # argparse names it in its message
    return parse


def _natural(given: str) -> int:
    value = int(given)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{given} is negative; expected 0 or more")
    return value


def _run_stats(arguments: argparse.Namespace) -> int:
    from pssa.cli._evidence_view import print_stats
    from pssa.cli._output import print_json

    found = stats(read_evidence(arguments.file), arguments.top)
    if arguments.json:
        print_json(asdict(found))
    else:
        print_stats(found)
    return 0


def _run_show(arguments: argparse.Namespace) -> int:
    from pssa.cli._evidence_view import print_examples, sentence
    from pssa.cli._output import print_json

    examples = _select(read_evidence(arguments.file), arguments)
    if arguments.json:
        shown = examples[: arguments.limit]
        fields = [example_fields(example) | {"shown": sentence(example).plain} for example in shown]
        print_json({"selected": len(examples), "examples": fields})
    else:
        print_examples(examples, arguments.limit)
    return 0


def _select(evidence: Evidence, arguments: argparse.Namespace) -> Sequence[ExampleEvidence]:
    examples = evidence.examples
    if arguments.id is not None:
        chosen = [example for example in examples if example.id == arguments.id]
        fault = f"has no example {arguments.id!r}; `pssa evidence show {arguments.file}` lists ids"
    elif arguments.index is not None:
        chosen = list(examples[arguments.index : arguments.index + 1])
        fault = f"has no example at {arguments.index}; expected 0 to {len(examples) - 1}"
    elif arguments.word is not None:
        chosen = [example for example in examples if _finds(example, arguments.word.casefold())]
        fault = f"has no finding {arguments.word!r}; `pssa evidence stats {arguments.file}` lists frequent ones"
    else:
        return examples
    if not chosen:
        raise InputError.at(arguments.file, None, fault)
    return chosen


def _finds(example: ExampleEvidence, word: str) -> bool:
    return any(example.words[finding.word].casefold() == word for finding in example.findings)


def _run_diff(arguments: argparse.Namespace) -> int:
    from pssa.cli._evidence_view import print_diff
    from pssa.cli._output import print_json

    difference = diff(read_evidence(arguments.first), read_evidence(arguments.second))
    if arguments.json:
        print_json(asdict(difference))
    else:
        print_diff(difference, arguments.limit)
    return 0


def _run_edit(arguments: argparse.Namespace) -> int:
    from pssa.cli._output import print_json, say

    if not arguments.edits:
        raise InputError(
            "no edit is given; expected one of --drop-word, --flip, --keep-above, --keep-iterations, --keep"
        )
    _refuse_existing(arguments)
    evidence = read_evidence(arguments.file)
    before = len(evidence.header.edits)
    for edit in arguments.edits:
        evidence = edit(evidence)
    write_evidence(evidence, arguments.out)
    edits, found = evidence.header.edits[before:], stats(evidence)
    if arguments.json:
        print_json(
            {"output": str(arguments.out), "edits": edits, "active": found.active, "misleading": found.misleading}
        )
    else:
        for edit in edits:
            say(edit)
        say(f"{arguments.out}: {found.active} active and {found.misleading} misleading words")
    return 0


def _run_from_opinion_words(arguments: argparse.Namespace) -> int:
    from pssa.cli._output import counted, print_json, say
    from pssa.data.example import DEFAULT_LABELS
    from pssa.data.opinion_words import evidence_from_opinion_words, read_opinion_words
    from pssa.data.read import read

    _refuse_existing(arguments)
    corpus = read(arguments.train, **reading(arguments, arguments.labels or DEFAULT_LABELS))
    made = evidence_from_opinion_words(read_opinion_words(arguments.opinion_words), corpus)
    write_evidence(made.evidence, arguments.out)
    instances, matched = corpus.label_counts(), sum(made.matched.values())
    active = stats(made.evidence).active
    if arguments.json:
        per_label = {label: {"examples": instances[label], "matched": made.matched[label]} for label in corpus.labels}
        values = {"output": str(arguments.out), "examples": len(corpus), "matched": matched, "active": active}
        print_json(values | {"share": matched / len(corpus), "per_label": per_label})
    else:
        say(f"{arguments.out}: {matched} of {counted(len(corpus), 'example')} matched ({matched / len(corpus):.1%})")
        say(f"  {counted(active, 'active word')}")
        for label, count in instances.items():
            say(f"  {label}: {made.matched[label]} of {count}")
    return 0


def _refuse_existing(arguments: argparse.Namespace) -> None:
    if arguments.out.exists() and not arguments.force:
        raise InputError.at(arguments.out, None, "exists; choose another name, or say --force to write over it")
