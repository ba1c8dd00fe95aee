"""`pssa evaluate`: score a run on labelled data, test whether it is better than another, and judge its saliencies."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import common_options, label_names, reading, run_data_options
from pssa.cli._parser import page

if TYPE_CHECKING:
    from pssa.data.example import Corpus
    from pssa.runs import Classifier
    from pssa.runs.evaluate import Comparison, Evaluation
    from pssa.runs.trust import Trust

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "evaluate",
        parents=[common_options(), run_data_options()],
        help="score a run, compare it with another",
        **page(
            "Score a run on labelled instances: accuracy, macro-F1, per label and by tag. On request test whether it is"
            " better than another run, and whether its saliencies can be trusted.",
            "pssa evaluate runs/reviews --data test.csv",
            "pssa evaluate runs/reviews --data test.csv --versus runs/base",
            "pssa evaluate runs/reviews --data test.csv --faithfulness --saliency attention,gradient",
        ),
    )
    parser.add_argument("run_path", metavar="RUN", type=Path, help="a run, as `pssa train --out RUN` makes it")
    parser.add_argument("--data", type=Path, required=True, help="labelled instances that no training has seen")
    parser.add_argument("--versus", type=Path, metavar="RUN2", help="test whether RUN is better than RUN2")
    parser.add_argument("--resamples", type=int, default=1000, help="of the paired bootstrap (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of bootstraps and random orders (default 0)")
    parser.add_argument(
        "--faithfulness",
        action="store_true",
        help="whether the words that saliencies name are those that the prediction rests on",
    )
    parser.add_argument(
        "--saliency",
        type=label_names,
        metavar="S,...",
        help="the saliencies to judge, separated by commas (default: all that apply and are cheap)",
    )
    parser.add_argument(
        "--opinion-words", type=Path, metavar="TSV", help="whether they are those that people marked, in a TOWE file"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default auto)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate and print."""
    from pssa.cli._output import print_json
    from pssa.data.read import read_for
    from pssa.runs import load
    from pssa.runs.evaluate import compare, evaluate, require_same_labels
    from pssa.runs.train_overlap import count_train_overlap

    runs = [path for path in (arguments.run_path, arguments.versus) if path is not None]
    # In full precision, so that a score does not depend on where it was computed.
    classifiers = [load(path, device=arguments.device, precision="float32") for path in runs]
    if len(classifiers) > 1:
        require_same_labels(classifiers[0], classifiers[1], (str(runs[0]), str(runs[1])))
    corpus = read_for(arguments.run_path, arguments.data, **reading(arguments, classifiers[0].labels))
    results = [evaluate(classifier, corpus) for classifier in classifiers]
    comparison = None
    if len(results) > 1:
        comparison = compare(*results, resamples=arguments.resamples, seed=arguments.seed)
    trusts = _trusts(arguments, classifiers, corpus)
    seen = count_train_overlap(arguments.run_path, corpus)
    if arguments.json:
        known = {"dropped": dict(corpus.dropped), "seen_in_training": seen}
        print_json(_as_dict(results[0], comparison, trusts) | known)
    else:
        _print(results[0], corpus.dropped, seen)
        if comparison is not None:
            _print_comparison(arguments.run_path, arguments.versus, comparison)
        if trusts:
            from pssa.cli._trust_view import print_trust

            print_trust(*trusts)
    return 0


def _trusts(arguments: argparse.Namespace, classifiers: list[Classifier], corpus: Corpus) -> list[Trust]:
    """What is known of the saliencies of each run, where it is asked for; an option that needs it asks for it too."""
    from pssa.data.opinion_words import read_opinion_words
    from pssa.runs.trust import trust, trusted_saliencies

    if not (arguments.faithfulness or arguments.saliency or arguments.opinion_words):
        return []
    # All of the input is looked at before anything long begins.
    names = [trusted_saliencies(classifier, arguments.saliency or ()) for classifier in classifiers]
    rows = None if arguments.opinion_words is None else read_opinion_words(arguments.opinion_words)
    return [trust(each, corpus, own, rows, arguments.seed) for each, own in zip(classifiers, names, strict=True)]


def _as_dict(result: Evaluation, comparison: Comparison | None, trusts: list[Trust]) -> dict[str, Any]:
    values = result.scores.as_dict()
    if result.slices:
        values["slices"] = {tag: scores.as_dict() for tag, scores in result.slices.items()}
    if trusts:
        values |= trusts[0].as_dict()
    if comparison is not None:
        values |= comparison.bootstrap.as_dict() | {"p_mcnemar": comparison.p_mcnemar}
        values["versus"] = comparison.second.scores.as_dict() | (trusts[1].as_dict() if trusts else {})
    return values


def _print(result: Evaluation, dropped: Mapping[str, int], seen: int) -> None:
    from pssa.cli._output import counted, print_table, say
    from pssa.runs.train_overlap import describe_train_overlap

    scores = result.scores
    instances = counted(scores.instances, "instance") + "".join(f", {n} dropped as {why}" for why, n in dropped.items())
    say(f"{instances}: accuracy {100 * scores.accuracy:.2f}, macro-F1 {100 * scores.macro_f1:.2f}")
    if seen:
        say(describe_train_overlap(seen))
    for tag, part in result.slices.items():
        numbers = f"accuracy {100 * part.accuracy:.2f}, macro-F1 {100 * part.macro_f1:.2f}"
        say(f"  {tag} ({part.instances}): {numbers}")
    rows = [
        [label, *(f"{100 * value:.2f}" for value in (found.precision, found.recall, found.f1)), str(found.support)]
        for label, found in scores.per_class.items()
    ]
    print_table("", ("label", "precision", "recall", "F1", "support"), rows)
    rows = [[label, *map(str, row)] for label, row in zip(scores.labels, scores.confusion, strict=True)]
    print_table("confusion: gold in rows, predicted in columns", ("", *scores.labels), rows)


def _print_comparison(run: Path, other: Path, comparison: Comparison) -> None:
    from pssa.cli._output import counted, say

    scores, test = comparison.second.scores, comparison.bootstrap
    say(f"versus {other}: accuracy {100 * scores.accuracy:.2f}, macro-F1 {100 * scores.macro_f1:.2f}")
    for name, gain, (low, high), p in (
        ("accuracy", test.accuracy_difference, test.accuracy_interval, test.p_accuracy),
        ("macro-F1", test.macro_f1_difference, test.macro_f1_interval, test.p_macro_f1),
    ):
        interval = f"95 % interval {100 * low:+.2f} to {100 * high:+.2f}"
        say(f"  difference in {name} {100 * gain:+.2f}, {interval}, p = {p:.3f}")
    resamples = counted(test.resamples, "resample")
    say(f"p, one-sided, that {run} is not better than {other}: paired bootstrap, {resamples}")
    say(f"McNemar's exact test, two-sided, that both are right equally often: p = {comparison.p_mcnemar:.3f}")
