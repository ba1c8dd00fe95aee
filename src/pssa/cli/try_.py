"""`pssa try`: find and judge the aspects of a few texts, and show which words counted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from pssa.cli._output import print_json, print_rich, say
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError
from pssa.runs.run_names import starter_run

if TYPE_CHECKING:
    from pathlib import Path

    from pssa.aspects.find import Finder, FoundAspect
    from pssa.runs.explain import Explanation

ExplainedAspects: TypeAlias = "list[tuple[FoundAspect, Explanation]]"

_STANDARD = "-"
_MOST_TEXTS = 1000


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "try", "find and label the aspects of a text with the starter", run)
    parser.add_argument("texts", metavar="TEXT", nargs="*", help="review (default: standard input, one per line)")
    option(parser, "--run RUN", "run (default: starter, which comes with pssa)", dest="run_path")
    option(parser, "--aspects NAME,...", "aspects to look for by name (default: those that the run's tagger finds)")


def run(arguments: argparse.Namespace) -> int:
    """Find the aspects of a text, label each, and show how much each word counted. Nothing is trained
    or downloaded: a small model for English reviews comes with pssa.

    pssa try "The screen is huge but the battery dies within an hour."
    pssa try "The fan is loud, but I love the keyboard." --aspects fan,keyboard
    pssa try --run runs/reviews < reviews.txt
    """
    from pssa.runs.input_profile import InputProfile

    texts, root = _read_texts(arguments.texts), arguments.run_path or starter_run()
    judged, profile = judge(texts, root, arguments.aspects), InputProfile.load(root)
    notes = [profile.text_notes(text) if profile else () for text in texts]
    if arguments.json:
        items = [
            as_dict(text, found) | ({"notes": list(note)} if note else {})
            for text, found, note in zip(texts, judged, notes, strict=True)
        ]
        print_json({"items": items})
        return 0
    for number, (text, found, note) in enumerate(zip(texts, judged, notes, strict=True)):
        if number:
            say("")
        show(text, found)
        if note:
            say(f"note: {'; '.join(note)}; do not rely on answers about such a text")
    if arguments.aspects is None and not all(judged):
        say("\nto label aspects that you name, add --aspects NAME,NAME")
    return 0


def judge(texts: Sequence[str], run: Path, names: str | None = None) -> list[ExplainedAspects]:
    """Return the aspects of each text, each with the explanation of its label in its sentence.

    :param names: aspects to look for, separated by commas; None: those that the tagger of the run finds.
    """
    from pssa.aspects.find import examples_of, find_in_texts
    from pssa.runs import load
    from pssa.runs.explain import explain

    classifier, finder = load(run), _open_finder(run, names)
    found = find_in_texts(finder, texts)
    explained = iter(explain(classifier, examples_of([aspect for inside in found for aspect in inside])))
    return [[(aspect, next(explained)) for aspect in inside] for inside in found]


def _open_finder(run: Path, names: str | None) -> Finder:
    from pssa.aspects.find import load_finder
    from pssa.aspects.names import NameFinder, parse_names
    from pssa.aspects.run import has_tagger

    if names is not None:
        return NameFinder(parse_names(names))
    if not has_tagger(run):
        raise InputError(
            f"{run} has no tagger that finds aspects; name them with --aspects, or train a tagger with --find-aspects"
        )
    return load_finder(run)


def show(text: str, judged: ExplainedAspects) -> None:
    """Print the aspects of a text as heat maps."""
    from pssa.data.validation import shorten
    from pssa.report.terminal import to_terminal

    if not judged:
        say(f"no aspect found in {shorten(text)}")
        return
    print_rich(to_terminal([explanation for _, explanation in judged]))


def _read_texts(given: Sequence[str]) -> list[str]:
    """Return the texts of the command line, or the lines of standard input."""
    from pssa.aspects.spans import check_text

    if not given and sys.stdin.isatty():
        raise InputError('pssa try needs a text, such as: pssa try "Great view, but the waiter was rude."')
    texts = _read_lines() if list(given) in ([], [_STANDARD]) else list(given)
    if not any(text.strip() for text in texts):
        raise InputError("the text is empty; give a sentence or more")
    return [check_text(text) for text in texts if text.strip()]


def _read_lines() -> list[str]:
    try:
        lines = [line.strip() for line in islice(sys.stdin, _MOST_TEXTS + 1)]
    except UnicodeDecodeError as error:
        raise InputError("standard input is not UTF-8; encode it as UTF-8") from error
    if len(lines) > _MOST_TEXTS:
        raise InputError(f"standard input has more than {_MOST_TEXTS} lines; label files with pssa predict")
    return lines


def as_dict(text: str, judged: ExplainedAspects) -> dict[str, Any]:
    """Return what was found in a text as plain values, for JSON."""
    return {"text": text, "aspects": [_aspect(found, explanation) for found, explanation in judged]}


def _aspect(found: FoundAspect, explanation: Explanation) -> dict[str, Any]:
    words = [{"word": word, "share": share} for word, share in zip(explanation.words, explanation.shares, strict=True)]
    answer = explanation.answer
    return {
        "aspect": found.aspect,
        "from": found.start,  # in the text, and not in the sentence as in the answer
        "to": found.end,
        "label": answer.label,
        "probabilities": answer.probabilities,
        "words": words,
    }
