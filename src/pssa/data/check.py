"""Check a file of instances: what is in it, and what is wrong in which line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from pssa.data.formats import scan
from pssa.data.io import Accepted, ReadOptions, ReadSettings, format_of, outcomes
from pssa.data.labels import CONFLICT, MAX_LABEL
from pssa.data.rows import Dropped, Problem
from pssa.data.text_file import NOT_UTF8, InputFile
from pssa.data.validation import brief_repr
from pssa.errors import InputError

_MAX_PROBLEMS = 100_000
_MAX_LABELS = 20  # a column with more values does not hold labels


@dataclass(frozen=True)
class Report:
    """Counts of the instances that can be trained on, and the problems of a file in file order."""

    format: str
    instances: int
    labels: Mapping[str, int]
    dropped: Mapping[str, int]  # by reason
    sentences: int
    sentences_with_several_aspects: int
    words_mean: float
    words_max: int
    duplicates: int  # instances with the words, aspect and label of an earlier one
    problems: tuple[Problem, ...]
    labels_to_declare: tuple[str, ...]  # declaring these accepts every label of the file; empty if not needed

    def __repr__(self) -> str:
        counts = {"rejected": self.rejected, "labels": dict(self.labels), "dropped": dict(self.dropped)}
        return brief_repr(self, format=self.format, instances=self.instances, **counts)

    @property
    def rejected(self) -> int:
        """Number of rejected instances."""
        return sum(problem.rejected for problem in self.problems)


def check(path: str | Path, **options: Unpack[ReadSettings]) -> Report:
    """Check every instance of a file; the parameters are those of `read`. A bad line does not stop the check.

    :raises InputError: if the file cannot be read at all: missing, a directory, binary, empty, or without a column.
    """
    chosen = ReadOptions.of(**options)
    rule, file = chosen.rule(), InputFile.of(path, chosen.encoding)
    name = format_of(file, chosen.format)
    accepted: list[Accepted] = []
    dropped: Counter[str] = Counter()
    problems: list[Problem] = []
    for outcome in outcomes(scan(file, name, chosen.columns), rule, chosen.occurrence):
        match outcome:
            case Accepted():
                accepted.append(outcome)
                problems.extend(Problem(outcome.line, what, rejected=False) for what in outcome.warnings)
            case Dropped():
                dropped[outcome.reason] += 1
            case Problem():
                problems.append(outcome)
                if len(problems) >= _MAX_PROBLEMS:
                    problems.append(Problem(outcome.line, "too many problems; the rest was not checked"))
                    break
    problems = [*_join_undecoded(problems), *_contradictions(accepted)]
    if not accepted and not problems:
        if not dropped:
            raise InputError.at(path, None, "has no instance; expected at least one")
        problems.append(Problem(None, "every instance was dropped; none is left for training", rejected=False))
    examples = [one.example for one in accepted]
    labels = Counter(example.label for example in examples)
    aspects = Counter(sentence for sentence, _ in {(example.sentence_id, example.aspect) for example in examples})
    lengths = [len(example.spans) for example in examples]
    distinct = {(example.words, example.aspect, example.label) for example in examples}
    return Report(
        format=name,
        instances=len(examples),
        labels={label: labels[label] for label in rule.labels},
        dropped=dict(dropped),
        sentences=len(aspects),
        sentences_with_several_aspects=sum(count > 1 for count in aspects.values()),
        words_mean=round(sum(lengths) / len(lengths), 2) if lengths else 0.0,
        words_max=max(lengths, default=0),
        duplicates=len(examples) - len(distinct),
        problems=tuple(sorted(problems, key=lambda problem: problem.line or 0)),
        labels_to_declare=_labels_to_declare([label for label in rule.labels if labels[label]], problems),
    )


def _join_undecoded(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems with those of a wrong encoding as one: the first, with the number of the others."""
    undecoded = [problem for problem in problems if NOT_UTF8 in problem.message]
    if len(undecoded) < 2:
        return list(problems)
    more = f"{len(undecoded) - 1} more lines are not UTF-8 either"
    first = replace(undecoded[0], message=f"{undecoded[0].message}; {more}")
    kept = [problem for problem in problems if NOT_UTF8 not in problem.message]
    return [first, *kept]


def _labels_to_declare(known: Sequence[str], problems: Sequence[Problem]) -> tuple[str, ...]:
    """Return the declared labels that occur, then the others; empty if there are no others or they cannot be declared."""
    unknown: dict[str, str] = {}
    for label in (problem.unknown_label.strip() for problem in problems):
        unknown.setdefault(label.casefold(), label)  # case does not matter
    # An empty label belongs to another problem; `conflict` is unknown only if the caller refuses it.
    others = [label for key, label in unknown.items() if key not in ("", CONFLICT)]
    found = (*known, *others)
    can_be_named = all(len(label) <= MAX_LABEL and label.isprintable() and "," not in label for label in others)
    return found if others and can_be_named and 2 <= len(found) <= _MAX_LABELS else ()


def _contradictions(accepted: Sequence[Accepted]) -> list[Problem]:
    """Return a warning for each instance that has another label than an earlier one with the same aspect."""
    first: dict[tuple[tuple[str, ...], tuple[int, int]], Accepted] = {}
    found = []
    for one in accepted:
        earlier = first.setdefault((one.example.words, one.example.aspect), one)
        if earlier.example.label != one.example.label:
            what = f"is {one.example.label}, but line {earlier.line} says {earlier.example.label} of the same aspect"
            found.append(Problem(one.line, what, rejected=False))
    return found
