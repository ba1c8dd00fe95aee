"""Sentences that two runs label differently, with what each of them looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pssa.data.example import Example
from pssa.report.heat import pairs
from pssa.report.html import comparison_fragment, legend
from pssa.report.markup import Cell, Markup, escape, join, table
from pssa.report.subject import Section
from pssa.runs import Classifier
from pssa.runs.explain import explain, usable_saliencies, usual_saliency

__all__ = ["BothAnswers", "show_changes"]

_SHOWN, _OPEN = 40, 6  # sentences with heat maps, and how many of them are seen at once
_LONGEST = 100  # words of such a sentence


@dataclass(frozen=True)
class BothAnswers:
    """An example and what the two runs say of it."""

    example: Example
    now: str
    before: str

    @property
    def verdict(self) -> str:
        """What the change is worth."""
        if self.now == self.example.label:
            return "now right"
        return "now wrong" if self.before == self.example.label else "wrong either way"


def show_changes(
    judged: Sequence[BothAnswers], data: str, classifiers: tuple[Classifier, Classifier], names: tuple[str, str]
) -> Section:
    """Counts of what changed, and the first sentences of each kind with both heat maps.

    :param judged: every example that was looked at.
    :param data: what they are, for the reader.
    :param classifiers: of the run and of the other one, as `names`.
    """
    changed = [each for each in judged if each.now != each.before]
    counts = {verdict: [each for each in changed if each.verdict == verdict] for verdict in _VERDICTS}
    rows: list[list[Cell]] = [[verdict, len(found)] for verdict, found in counts.items()]
    head = (
        f"{len(changed)} of {len(judged)} {data} are labelled differently by {names[0]} than by {names[1]}."
        if changed
        else f"None of the {len(judged)} {data} is labelled differently by {names[0]} than by {names[1]}."
    )
    parts = [Markup(f"<p>{escape(head)}</p>")]
    if changed:
        parts += [
            table("Labels that changed", ("label", "instances"), rows),
            *_maps(_choose(counts), classifiers, names),
        ]
    return Section("changed", "Predictions that changed", join(parts))


_VERDICTS = ("now right", "now wrong", "wrong either way")


def _choose(counts: dict[str, list[BothAnswers]]) -> list[BothAnswers]:
    """The first of each kind in turn, a kind with few leaving its room to the others."""
    fit = [[each for each in found if len(each.example.spans) <= _LONGEST] for found in counts.values()]
    chosen: list[BothAnswers] = []
    for place in range(max(map(len, fit))):
        chosen += [found[place] for found in fit if place < len(found)]
    return chosen[:_SHOWN]


def _maps(
    chosen: Sequence[BothAnswers], classifiers: tuple[Classifier, Classifier], names: tuple[str, str]
) -> list[Markup]:
    if not chosen:
        return [Markup(f'<p class="note">All of them are longer than {_LONGEST} words and not shown.</p>')]
    examples = [each.example for each in chosen]
    usual = usual_saliency(classifiers[0])
    common = usual if usual in usable_saliencies(classifiers[1]) else ""
    now, before = explain(classifiers[0], examples), explain(classifiers[1], examples, common)
    shown = [
        _sentence(each, comparison_fragment(pair, names)) for each, pair in zip(chosen, pairs(now, before), strict=True)
    ]
    note = f"Shown are {len(shown)} of them: {_SHOWN} at most, none longer than {_LONGEST} words."
    more = [] if len(shown) <= _OPEN else [_folded(shown[_OPEN:])]
    return [Markup(f'<p class="note">{note}</p>'), legend(), *shown[:_OPEN], *more]


def _sentence(each: BothAnswers, maps: str) -> Markup:
    return Markup(
        f'<section class="sentence">\n<h3>{escape(each.verdict)}: gold {escape(each.example.label or "unknown")}, '
        f"{escape(each.before)} before, {escape(each.now)} now</h3>\n{maps}\n</section>"
    )


def _folded(shown: Sequence[Markup]) -> Markup:
    return Markup(f"<details><summary>{len(shown)} more sentences</summary>\n{join(shown).source}\n</details>")
