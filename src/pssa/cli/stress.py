"""`pssa stress`: test whether a run looks where it should, on variants of labelled instances."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pssa.cli._options import RUN_DATA, add_run, add_shared, load_runs, read_run_data, require_at_least
from pssa.cli._output import counted, print_json, print_rich, print_table, require_new_file, say
from pssa.cli._parser import Commands, add_command, option
from pssa.errors import InputError
from pssa.runs.run_names import run_name

if TYPE_CHECKING:
    from pssa.runs import Classifier
    from pssa.stress import StressResult, VariantSet


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "stress", "test a run on reversed or distracting opinions", run)
    add_run(parser)
    option(parser, "--data FILE", "labelled instances unseen in training", required=True)
    option(parser, "--versus RUN2", "run to compare with")
    option(parser, "--variants FILE", "variants to write, or to read if the file exists")
    option(parser, "--evidence FILE", "evidence, triplets or TOWE file of opinion words (default: a lexicon)")
    option(parser, "--limit N", "mistakes to show as heat maps", 4)
    add_shared(parser, "device")
    add_shared(parser.add_argument_group("data format"), *RUN_DATA)


def run(arguments: argparse.Namespace) -> None:
    """Change the sentences of labelled instances and count right answers. Variants reverse the opinion on the aspect, and so its
    label; reverse or add opinions on other aspects; or add typing errors, another case or a neutral clause.

    pssa stress runs/reviews --data test.csv
    pssa stress runs/reviews --data test.csv --versus runs/base
    pssa stress runs/reviews --data test.csv --variants variants.jsonl
    """
    from pssa.data.opinion_words import evidence_source
    from pssa.progress import StepProgress
    from pssa.stress import compare_all_right, make_variants, read_variants, stress, write_variants

    require_at_least(0, arguments, "limit")
    path = arguments.variants
    is_new = path is not None and not path.exists()
    if is_new:
        require_new_file(path, force=False)  # before a long computation
    elif path is not None and arguments.evidence:
        raise InputError(f"{path} exists and holds the variants; leave --evidence out")
    classifiers = load_runs(arguments)
    corpus = read_run_data(arguments, classifiers[0].labels)
    with StepProgress("stress") as step:
        step("making variants")
        if path is not None and not is_new:
            variants = read_variants(path, corpus)
        else:
            variants = make_variants(
                corpus, evidence_source(arguments.evidence)(corpus) if arguments.evidence else None
            )
        step("scoring")
        results = [stress(classifier, variants) for classifier in classifiers]
    if is_new:
        write_variants(variants, path)
    if arguments.json:
        values = results[0].as_dict()
        if len(results) > 1:
            values |= {"versus": results[1].as_dict(), "p_all_right": compare_all_right(*results)}
        print_json(values)
        return
    _print(results, arguments.versus)
    if is_new:
        say(f"{path}: {counted(len(variants.variants), 'variant')} to check and correct")
    _print_mistakes(classifiers[0], variants, results[0], arguments.limit)


def _print(results: list[StressResult], versus: Path | None) -> None:
    from pssa.display import p_value, points
    from pssa.stress import compare_all_right

    shares = [result.as_dict() for result in results]
    n_instances = shares[0]["instances"]
    columns = ["kind", "variants", "none made", "right", *(["versus"] if versus else [])]
    rows = [
        [kind, found.variants, n_instances - found.variants, *(_percent(each.kinds[kind].accuracy) for each in results)]
        for kind, found in results[0].kinds.items()
    ]
    rows.append(["originals", n_instances, 0, *(_percent(each["accuracy"]) for each in shares)])
    rows.append(["all right", "", "", *(_percent(each["all_right"]) for each in shares)])
    print_table("", columns, rows)
    say("all right: instances right in the original and in every variant")
    say("none made: instances without a safe variant of the kind")
    if versus is not None:
        gain = points(shares[0]["all_right"] - shares[1]["all_right"])
        p = p_value(compare_all_right(*results))
        say(f"all right against {run_name(versus)}: {gain}, {p} (McNemar's exact test, two-sided)")


def _percent(share: float | None) -> str:
    from pssa.display import percent

    return "-" if share is None else percent(share)


def _print_mistakes(classifier: Classifier, variants: VariantSet, result: StressResult, most: int) -> None:
    """Print heat maps of originals answered right, each above its variant answered wrong."""
    from pssa.report import to_terminal
    from pssa.runs.explain import explain
    from pssa.stress.measure import choose_mistakes

    chosen = choose_mistakes(result.mistakes, most)
    for mistake in chosen:
        say(f"\n{mistake.kind}: right before, wrong now; expected {mistake.example.label}")
        print_rich(to_terminal(explain(classifier, [variants.corpus[mistake.index], mistake.example])))
    if len(result.mistakes) > len(chosen):
        say(f"\n... wrong variants of right originals: {len(result.mistakes)}; show more with --limit")
