"""`pssa evaluate`: score a run on labelled data, and test whether it is better than another."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import common_options, data_options

if TYPE_CHECKING:
    from pssa.runs.evaluate import Comparison, Evaluation

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "evaluate", parents=[common_options(), data_options()], help="score a run, compare it with another"
    )
    parser.add_argument("run_path", metavar="RUN", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="labelled instances that no training has seen")
    parser.add_argument("--versus", type=Path, metavar="RUN2", help="test whether RUN is better than RUN2")
    parser.add_argument("--resamples", type=int, default=1000, help="of the paired bootstrap (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the paired bootstrap (default 0)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate and print."""
    from pssa.cli._output import print_json
    from pssa.data import read
    from pssa.runs import load
    from pssa.runs.evaluate import compare, evaluate

    classifier = load(arguments.run_path)
    labels = arguments.labels or classifier.labels
    corpus = read(arguments.data, format=arguments.format, labels=labels, conflict=arguments.conflict or "drop")
    result = evaluate(classifier, corpus)
    comparison = None
    if arguments.versus is not None:
        other = evaluate(load(arguments.versus), corpus)
        comparison = compare(result, other, resamples=arguments.resamples, seed=arguments.seed)
    if arguments.json:
        print_json(_as_dict(result, comparison, dict(corpus.dropped)))
    else:
        _print(result, comparison)
    return 0


def _as_dict(result: Evaluation, comparison: Comparison | None, dropped: dict[str, int]) -> dict[str, Any]:
    values = result.scores.as_dict() | {"dropped": dropped}
    if result.slices:
        values["slices"] = {tag: scores.as_dict() for tag, scores in result.slices.items()}
    if comparison is not None:
        values |= comparison.bootstrap.as_dict() | {"p_mcnemar": comparison.p_mcnemar}
        values["versus"] = comparison.second.scores.as_dict()
    return values


def _print(result: Evaluation, comparison: Comparison | None) -> None:
    from pssa.cli._output import print_table, say, score_rows

    scores = result.scores
    say(f"{scores.instances} instances: accuracy {100 * scores.accuracy:.2f}, macro-F1 {100 * scores.macro_f1:.2f}")
    for tag, part in result.slices.items():
        numbers = f"accuracy {100 * part.accuracy:.2f}, macro-F1 {100 * part.macro_f1:.2f}"
        say(f"  {tag} ({part.instances}): {numbers}")
    print_table("", ("label", "precision", "recall", "F1", "support"), score_rows(scores.per_class))
    rows = [[label, *map(str, row)] for label, row in zip(scores.labels, scores.confusion, strict=True)]
    print_table("confusion: gold in rows, predicted in columns", ("", *scores.labels), rows)
    if comparison is not None:
        other, test = comparison.second.scores, comparison.bootstrap
        say(f"versus: accuracy {100 * other.accuracy:.2f}, macro-F1 {100 * other.macro_f1:.2f}")
        say(
            f"paired bootstrap, {test.resamples} resamples, one-sided: "
            f"p = {test.p_accuracy:.3f} (accuracy), {test.p_macro_f1:.3f} (macro-F1); McNemar p = {comparison.p_mcnemar:.3f}"
        )
