"""How well a run does on a test set, beside another: scores, slices, classes, confusion and the paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pssa.evaluation import Scores
from pssa.report.markup import Cell, Markup, escape, join, table
from pssa.report.subject import Section
from pssa.runs.evaluate import Evaluation, compare
from pssa.runs.train_overlap import describe_train_overlap

__all__ = ["show_scores"]

_RESAMPLES = 1000


def show_scores(results: Mapping[str, Evaluation], seen: int = 0) -> Section:
    """The scores of one or two runs by name, the run of the report first.

    :param seen: how many of the instances that run has seen in training.
    """
    first = next(iter(results.values()))
    parts = [
        table("Scores in percent", ("run", "instances", "accuracy", "macro-F1"), _overall(results)),
        *([_seen(first.scores.instances, seen)] if seen else []),
        *([_verdict(list(results.items()))] if len(results) == 2 else []),
        *([_slices(results)] if first.slices else []),
        *(part for name, result in results.items() for part in _classes(name, result.scores)),
    ]
    return Section("scores", "Scores", join(parts))


def _overall(results: Mapping[str, Evaluation]) -> list[list[Cell]]:
    return [[name, result.scores.instances, *_numbers(result.scores)] for name, result in results.items()]


def _seen(instances: int, seen: int) -> Markup:
    return Markup(f'<p class="note">Instances: {instances}, {escape(describe_train_overlap(seen))}.</p>')


def _verdict(results: Sequence[tuple[str, Evaluation]]) -> Markup:
    """Whether the first is better than the second."""
    (first, ours), (second, theirs) = results
    found = compare(ours, theirs, resamples=_RESAMPLES, seed=0)
    test = found.bootstrap
    rows: list[list[Cell]] = [
        [name, f"{100 * gain:+.2f}", f"{100 * low:+.2f} to {100 * high:+.2f}", f"{p:.3f}"]
        for name, gain, (low, high), p in (
            ("accuracy", test.accuracy_difference, test.accuracy_interval, test.p_accuracy),
            ("macro-F1", test.macro_f1_difference, test.macro_f1_interval, test.p_macro_f1),
        )
    ]
    caption = f"{first} against {second}"
    return join(
        [
            table(caption, ("score", "difference", "95 % interval", "p"), rows),
            Markup(
                f'<p class="note">Paired bootstrap, {test.resamples} resamples; p, one-sided, that {escape(first)} is not '
                f"better. McNemar's exact test, two-sided: p = {found.p_mcnemar:.3f}. One test set and one seed.</p>"
            ),
        ]
    )


def _slices(results: Mapping[str, Evaluation]) -> Markup:
    tags = next(iter(results.values())).slices
    rows: list[list[Cell]] = [
        [tag, scores.instances, *(_short(result.slices[tag]) for result in results.values())]
        for tag, scores in tags.items()
    ]
    return table("By tag of the test data: accuracy / macro-F1", ("tag", "instances", *results), rows)


def _classes(name: str, scores: Scores) -> list[Markup]:
    each: list[list[Cell]] = [
        [label, *(f"{100 * value:.2f}" for value in (found.precision, found.recall, found.f1)), found.support]
        for label, found in scores.per_class.items()
    ]
    confusion: list[list[Cell]] = [
        [label, *(_cell(count, row, own == place) for place, count in enumerate(row))]
        for own, (label, row) in enumerate(zip(scores.labels, scores.confusion, strict=True))
    ]
    return [
        Markup(f'<h3>{escape(name)}</h3>\n<div class="beside">'),
        table("Classes, in percent", ("label", "precision", "recall", "F1", "instances"), each),
        table("Confusion: gold in rows, predicted in columns", ("gold", *scores.labels), confusion),
        Markup("</div>"),
    ]


def _cell(count: int, row: Sequence[int], right: bool) -> Markup:
    """A count with its share of the row behind it."""
    share = count / sum(row) if sum(row) else 0.0
    said = "right" if right else "wrong"
    shown = f"<b>{count}</b>" if right else str(count)
    return Markup(f'<span title="{share:.1%} of the row, {said}">{shown}</span>')


def _short(scores: Scores) -> str:
    return f"{100 * scores.accuracy:.1f} / {100 * scores.macro_f1:.1f}"


def _numbers(scores: Scores) -> list[str]:
    return [f"{100 * scores.accuracy:.2f}", f"{100 * scores.macro_f1:.2f}"]
