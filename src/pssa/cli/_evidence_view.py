"""Evidence for people: tables of counts, differences, and sentences with their words coloured.

Colour only repeats what the text says: the aspect is in brackets, `huge[+1]` is active since round 1, `but[-4]` misleading
since round 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from pssa.cli._output import counted, print_table, say
from pssa.data.evidence import ACTIVE, ExampleEvidence, Finding
from pssa.data.evidence_diff import Diff, Mark
from pssa.data.evidence_stats import Stats, WordProfile

__all__ = ["print_diff", "print_examples", "print_stats", "sentence"]


def print_stats(given: Stats) -> None:
    """Totals, then tables by round, as mined and as found here, and by label, then the most frequent words."""
    say(
        f"{counted(given.examples, 'example')}, {given.examples_without} of them without findings; "
        f"{given.active} active and {given.misleading} misleading words"
    )
    if given.rounds:
        columns = ("round", "accuracy", "mean entropy", "open", "active", "misleading")
        print_table("as mined", columns, _round_rows(given))
    print_table("findings", ("round", "active", "misleading", "mean entropy"), _finding_rows(given))
    print_table("", ("label", "examples", "active", "misleading"), _class_rows(given))
    for kind, profiles in (("active", given.active_words), ("misleading", given.misleading_words)):
        if profiles:
            _print_words(f"most frequent {kind} words", profiles, tuple(given.per_class))


def print_diff(given: Diff, limit: int) -> None:
    """Totals, and a line for each of the first examples that differ."""
    say(f"{given.added} added, {given.removed} removed, {given.flipped} flipped, {given.same} the same")
    for example in given.examples[:limit]:
        signed = [("added", example.added), ("removed", example.removed), ("flipped", example.flipped)]
        parts = [f"{name} {_named(marks)}" for name, marks in signed if marks]
        say(f"{example.id}: {'; '.join(parts)}")
    _say_rest(len(given.examples) - limit)


def print_examples(examples: Sequence[ExampleEvidence], limit: int) -> None:
    """The first of the examples, each with its id and label."""
    console = Console(highlight=False, soft_wrap=True)
    for example in examples[:limit]:
        console.print(Text.assemble((f"{example.id} {example.label}: ", "dim"), sentence(example)))
    _say_rest(len(examples) - limit)


def sentence(example: ExampleEvidence) -> Text:
    """The words with their original spacing, narrowed to one space."""
    found = {finding.word: finding for finding in example.findings}
    start, end = example.aspect
    text = Text()
    for index, word in enumerate(example.words):
        if index and example.spans[index - 1][1] < example.spans[index][0]:
            text.append(" ", "bold" if start < index < end else "")
        if start <= index < end:
            text.append("[" * (index == start) + word + "]" * (index == end - 1), "bold")
        else:
            text.append(*_styled(word, found.get(index)))
    return text


def _styled(word: str, finding: Finding | None) -> tuple[str, str]:
    if finding is None:
        return word, ""
    sign, style = ("+", "green") if finding.kind == ACTIVE else ("-", "red")
    return f"{word}[{sign}{finding.iteration}]", style


def _round_rows(given: Stats) -> list[list[str]]:
    return [
        [
            str(report.iteration),
            f"{report.accuracy:.4f}",
            f"{report.mean_entropy:.3f}",
            f"{report.open_share:.1%}",
            str(report.active),
            str(report.misleading),
        ]
        for report in given.rounds
    ]


def _finding_rows(given: Stats) -> list[list[str]]:
    return [
        [
            str(number),
            str(count.active),
            str(count.misleading),
            "" if count.mean_entropy is None else f"{count.mean_entropy:.3f}",
        ]
        for number, count in enumerate(given.per_iteration, 1)
    ]


def _class_rows(given: Stats) -> list[list[str]]:
    return [
        [escape(label), str(count.examples), str(count.active), str(count.misleading)]
        for label, count in given.per_class.items()
    ]


def _print_words(title: str, profiles: Sequence[WordProfile], labels: Sequence[str]) -> None:
    rows = [
        [escape(profile.word), str(profile.count), *(str(profile.labels.get(label, 0)) for label in labels)]
        for profile in profiles
    ]
    print_table(title, ("word", "count", *map(escape, labels)), rows)


def _named(marks: Sequence[Mark]) -> str:
    return ", ".join(f"{mark.text} ({mark.kind})" for mark in marks)


def _say_rest(count: int) -> None:
    if count > 0:
        say(f"... and {count} more; --limit shows them")
