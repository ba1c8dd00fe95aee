"""`pssa try`: find and judge the aspects of a few texts, and show which words counted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pssa.cli._output import print_json, print_rich, say
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError

if TYPE_CHECKING:
    from pssa.runs import Answer, Classifier

_STANDARD = "-"
_MOST_TEXTS = 1000


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "try", "find and label the aspects of a text with the starter", run)
    parser.add_argument("texts", metavar="TEXT", nargs="*", help="review (default: standard input, one per line)")
    option(parser, "--run RUN", "run (default: starter, which comes with pssa)", dest="run_path")
    option(parser, "--aspects NAME,...", "aspects to look for by name (default: those that the run's tagger finds)")
    option(parser, "--min-score X", "least score of an aspect that is found")
    option(parser, "--mentions", "label aspects that are named without an opinion too")


def run(arguments: argparse.Namespace) -> None:
    """Find the aspects of a text, label each, and show how much each word counted. Nothing is trained
    or downloaded: a small model for English reviews comes with pssa.

    pssa try "The screen is huge but the battery dies within an hour."
    pssa try "The fan is loud, but I love the keyboard." --aspects fan,keyboard
    pssa try --run runs/reviews < reviews.txt
    """
    from pssa.runs import load
    from pssa.runs.run_names import STARTER

    texts, names = _read_texts(arguments.texts), arguments.aspects
    classifier = load(
        arguments.run_path or STARTER,
        aspects=names,
        min_score=arguments.min_score or 0.0,
        mentions=arguments.mentions,
    )
    classifier = replace(classifier, notes_languages=False)  # the detector takes a second to load
    found, profile = judge(classifier, texts), classifier.profile
    notes = [profile.text_notes(text) if profile else () for text in texts]
    if arguments.json:
        items = [
            as_dict(text, answers) | ({"notes": list(note)} if note else {})
            for text, answers, note in zip(texts, found, notes, strict=True)
        ]
        print_json({"items": items})
        return
    for number, (text, answers, note) in enumerate(zip(texts, found, notes, strict=True)):
        if number:
            say("")
        show(text, answers, classifier.runtime.saliency)
        if note:
            say(f"note: {'; '.join(note)}; do not rely on answers about such a text")
    if names is None and not all(found):
        say("\nto label aspects that you name, add --aspects NAME,NAME")


def judge(classifier: Classifier, texts: Sequence[str]) -> list[list[Answer]]:
    """Return the answers about each text, with the words that counted."""
    from pssa.runs.answers import Question

    return classifier.start([Question(text) for text in texts], reasons=True)()


def show(text: str, answers: Sequence[Answer], saliency: str) -> None:
    """Print the aspects of a text as heat maps."""
    from pssa.data.validation import shorten
    from pssa.report.terminal import to_terminal
    from pssa.runs.answers import Explanation

    if not answers:
        say(f"no aspect found in {shorten(text)}")
        return
    print_rich(to_terminal([Explanation.of(text, answer, saliency) for answer in answers]))


def _read_texts(given: Sequence[str]) -> list[str]:
    """Return the texts of the command line, or the lines of standard input."""
    from pssa.aspects.spans import check_text

    if not given and sys.stdin.isatty():
        raise InputError('pssa try needs a text, such as: pssa try "Great view, but the waiter was rude."')
    texts = list(given)
    if texts in ([], [_STANDARD]):
        try:
            texts = [line.strip() for line in islice(sys.stdin, _MOST_TEXTS + 1)]
        except UnicodeDecodeError as error:
            raise InputError("standard input is not UTF-8; encode it as UTF-8") from error
        if len(texts) > _MOST_TEXTS:
            raise InputError(f"standard input has more than {_MOST_TEXTS} lines; label files with pssa predict")
    if not any(text.strip() for text in texts):
        raise InputError("the text is empty; give a sentence or more")
    return [check_text(text) for text in texts if text.strip()]


def as_dict(text: str, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return what was found in a text as plain values, for JSON."""
    aspects = []
    for answer in answers:
        words = [{"word": text[word.start : word.end], "share": word.share} for word in answer.words]
        aspects.append({key: value for key, value in answer.as_dict().items() if key != "notes"} | {"words": words})
    return {"text": text, "aspects": aspects}
