"""Faithfulness, agreement with people and correlation as tables for people.

A number has two lines, its mean and below it the interval; so four of them fit beside a name in 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pssa.cli._output import counted, print_table, say
from pssa.evaluation import AgainstChance, Agreement, Estimate
from pssa.evaluation.agreement import NEAREST, Hits
from pssa.runs.trust import Trust

__all__ = ["print_trust"]

_WAYS = {"mask": "mask token in their place", "deletion": "words cut out"}
_MEASURES = {"comprehensiveness": "high is good", "sufficiency": "low is good"}
_HITS = ("precision_at_1", "recall_at_3", "mass")
_NARROW = 14  # characters of a name that need no second line


def print_trust(trust: Trust, versus: Trust | None = None) -> None:
    """Print what was found for a run and, below it in every table, for another."""
    both = {"": trust} if versus is None else {"": trust, "versus:\n": versus}
    left_out = f"; {trust.left_out} more have no word beside the aspect" if trust.left_out else ""
    say(f"faithfulness on {counted(trust.instances - trust.left_out, 'sentence')}{left_out}")
    say("what the predicted class's probability loses without the most salient words (comprehensiveness)")
    say("and when they alone stay beside the aspect (sufficiency), in points of 100, with 95 % intervals")
    for way, manner in _WAYS.items():
        for measure, wanted in _MEASURES.items():
            rows = [row for whose, each in both.items() for row in _faithfulness_rows(whose, each, way, measure)]
            print_table(f"{measure} ({wanted}), {manner}", ("", "1 word", "2 words", "3 words", "AOPC"), rows)
    rows = [row for whose, each in both.items() if each.agreement for row in _agreement_rows(whose, each.agreement)]
    if rows:
        columns = ("", "sentences", "precision at 1", "recall at 3", "mass")
        print_table("agreement with human opinion words", columns, rows)
    rows = [row for whose, each in both.items() for row in _correlation_rows(whose, each)]
    if rows:
        print_table("rank correlation of saliencies", ("", "sentences", "Kendall's tau-b", "Spearman's rho"), rows)


def _faithfulness_rows(whose: str, trust: Trust, way: str, measure: str) -> Iterator[list[str]]:
    control: list[str] = []
    for name, found in trust.faithfulness[way].items():
        columns: Mapping[str, AgainstChance] = getattr(found, measure)
        yield [_name(whose, name), *(_shown(judged.value) for judged in columns.values())]
        yield ["  minus random", *(_shown(judged.difference, "+") for judged in columns.values())]
        control = [f"{whose}random order", *(_shown(judged.control) for judged in columns.values())]
    yield control


def _agreement_rows(whose: str, agreement: Agreement) -> Iterator[list[str]]:
    for name, overlap in agreement.saliencies.items():
        if whose and name == NEAREST:  # it and chance, below, are the same for every run
            return
        yield _hits_row(_name(whose, name), overlap.overall, "value")
        yield _hits_row("  minus random", overlap.overall, "difference")
        for label, hits in overlap.per_label.items():
            yield _hits_row(f"  {label}", hits, "value")
    yield _hits_row("random word", overlap.overall, "control")
    for label, hits in overlap.per_label.items():
        yield _hits_row(f"  {label}", hits, "control")


def _hits_row(name: str, hits: Hits, part: str) -> list[str]:
    sign = "+" if part == "difference" else ""
    return [name, str(hits.instances), *(_shown(getattr(getattr(hits, column), part), sign) for column in _HITS)]


def _correlation_rows(whose: str, trust: Trust) -> Iterator[list[str]]:
    for pair in trust.correlation:
        found = ("-" if each is None else _shown(each, scale=1) for each in (pair.kendall, pair.spearman))
        yield [f"{whose}{pair.first},\n{pair.second}", str(pair.instances), *found]


def _name(whose: str, name: str) -> str:
    return whose + (name if len(name) <= _NARROW else name.replace("_", "_\n", 1))


def _shown(estimate: Estimate, sign: str = "", scale: int = 100) -> str:
    digits = 1 if scale > 1 else 3
    mean, low, high = (scale * value for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean:{sign}.{digits}f}\n{low:.{digits}f}..{high:.{digits}f}"
