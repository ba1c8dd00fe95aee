"""What is in a file and what is wrong with it, line by line; reading goes on after a bad line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.fields import CONFLICT, MAX_LABEL, LabelRule
from pssa.data.formats import scan
from pssa.data.io import Accepted, format_of, outcomes
from pssa.data.rows import ColumnNames, Columns, Dropped, Problem
from pssa.errors import InputError

__all__ = ["Report", "check"]

_MOST_PROBLEMS = 100_000
_MOST_LABELS = 20  # where there are more, it is no column of labels


@dataclass(frozen=True)
class Report:
    """The counts of a file, over the instances that can be trained on, and its problems in file order."""

    format: str
    instances: int
    labels: Mapping[str, int]
    dropped: Mapping[str, int]  # by reason
    sentences: int
    sentences_with_several_aspects: int
    words_mean: float
    words_max: int
    duplicates: int  # instances that repeat an earlier one: same words, aspect and label
    problems: tuple[Problem, ...]
    labels_to_declare: tuple[str, ...]  # that take every label of the file; empty where none needs to be declared

    @property
    def rejected(self) -> int:
        """How many problems cost an instance."""
        return sum(problem.rejected for problem in self.problems)


def check(
    path: str | Path,
    *,
    format: str | None = None,
    columns: ColumnNames | None = None,
    labels: tuple[str, ...] = DEFAULT_LABELS,
    conflict: str = "drop",
) -> Report:
    """Look at every instance of a file; the parameters are those of `read`.

    :raises InputError: if there is no reading it at all: no such file, a directory, binary, a column missing, or
        nothing in it.
    """
    rule = LabelRule.of(labels, conflict)
    named, name = Columns.of(columns), format_of(path, format)
    accepted: list[Accepted] = []
    dropped: Counter[str] = Counter()
    problems: list[Problem] = []
    for outcome in outcomes(scan(Path(path), name, named), rule):
        match outcome:
            case Accepted():
                accepted.append(outcome)
                problems.extend(Problem(outcome.line, what, rejected=False) for what in outcome.warnings)
            case Dropped():
                dropped[outcome.reason] += 1
            case Problem():
                problems.append(outcome)
                if len(problems) >= _MOST_PROBLEMS:
                    problems.append(Problem(outcome.line, "too many problems; what follows was not looked at"))
                    break
    problems.extend(_contradictions(accepted))
    if not accepted and not problems:
        if not dropped:
            raise InputError.at(path, None, "holds no instance; expected at least one")
        problems.append(Problem(None, "every instance was dropped; none is left to train on", rejected=False))
    examples = [one.example for one in accepted]
    return _report(name, examples, rule, dropped, problems)


def _report(
    name: str, examples: Sequence[Example], rule: LabelRule, dropped: Mapping[str, int], problems: list[Problem]
) -> Report:
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


def _labels_to_declare(known: Sequence[str], problems: Sequence[Problem]) -> tuple[str, ...]:
    """The declared labels that occur, then the others; empty where there are no others or `labels` cannot name them."""
    unknown: dict[str, str] = {}
    for label in (problem.unknown_label.strip() for problem in problems):
        unknown.setdefault(label.casefold(), label)  # case does not count
    # The first is of other problems; `conflict` is unknown only to those who refuse it.
    others = [label for key, label in unknown.items() if key not in ("", CONFLICT)]
    found = (*known, *others)
    can_be_named = all(len(label) <= MAX_LABEL and label.isprintable() and "," not in label for label in others)
    return found if others and can_be_named and 2 <= len(found) <= _MOST_LABELS else ()


def _contradictions(accepted: Sequence[Accepted]) -> list[Problem]:
    """A warning for each instance that an earlier one gives another label."""
    first: dict[tuple[tuple[str, ...], tuple[int, int]], Accepted] = {}
    found = []
    for one in accepted:
        earlier = first.setdefault((one.example.words, one.example.aspect), one)
        if earlier.example.label != one.example.label:
            what = f"is {one.example.label}, but line {earlier.line} says {earlier.example.label} of the same aspect"
            found.append(Problem(one.line, what, rejected=False))
    return found
