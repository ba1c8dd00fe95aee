"""`pssa evaluate`: score a run on labelled data, compare it with another, and measure its saliencies."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa.cli._options import RUN_DATA, add_run, add_shared, label_names, load_runs, read_run_data, reading
from pssa.cli._output import counted, print_json, print_table, say
from pssa.cli._parser import Commands, add_command, option
from pssa.display import p_value, percent, points
from pssa.runs.run_names import run_name

if TYPE_CHECKING:
    from pssa.evaluation import AgainstChance, Agreement, Bootstrap, Estimate, Scores
    from pssa.evaluation.agreement import Hits
    from pssa.evaluation.reviews import ReviewScores
    from pssa.runs import Classifier
    from pssa.runs.evaluate import Evaluation
    from pssa.runs.explain import Trust

_WAYS = {"mask": "mask token in their place", "deletion": "words cut out"}
_MEASURES = {"comprehensiveness": "high is good", "sufficiency": "low is good"}
_NARROW = 14  # characters of a name that need no second line


def add_parser(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "evaluate", "score a run on labelled data", run)
    add_run(parser)
    option(parser, "--data FILE", "labelled instances unseen in training", required=True)
    option(parser, "--versus RUN2", "run to compare with")
    option(parser, "--seed N", "seed of bootstraps and random orders", 0)
    option(parser, "--faithfulness", "measure whether predictions depend on the words with high saliency")
    saliencies = "saliencies to measure, separated by commas (default: all but the slow ones)"
    option(parser, "--saliency S,...", saliencies, type=label_names)
    option(parser, "--evidence FILE", "evidence, triplets or TOWE file to compare saliencies with")
    add_shared(parser, "abstain", "abstain_risk", "device")
    add_shared(parser.add_argument_group("data format"), *RUN_DATA)


def run(arguments: argparse.Namespace) -> None:
    """Score a run on labelled instances: accuracy and macro-F1, by label and by tag. With data that lists all
    aspects of a text, score it on whole reviews too. Optionally test whether it is better than another run and whether its
    saliencies can be trusted.

    pssa evaluate runs/reviews --data test.csv
    pssa evaluate runs/reviews --data test.csv --versus runs/base
    pssa evaluate runs/reviews --data test.csv --faithfulness --saliency attention,gradient
    """
    from pssa.data.opinion_words import evidence_source
    from pssa.progress import StepProgress
    from pssa.runs.evaluate import compare, count_train_overlap, evaluate, measure_abstention
    from pssa.runs.explain import trust, trusted_saliencies

    classifiers = load_runs(arguments)
    if arguments.abstain is not None or arguments.abstain_risk is not None:
        given = {"threshold": arguments.abstain, "risk": arguments.abstain_risk}
        classifiers = [each.abstaining(**given) for each in classifiers]
    corpus = read_run_data(arguments, classifiers[0].labels)
    needs_trust = arguments.faithfulness or arguments.saliency or arguments.evidence
    names = [trusted_saliencies(each, arguments.saliency or ()) for each in classifiers] if needs_trust else []
    evidence = evidence_source(arguments.evidence) if arguments.evidence else None
    with StepProgress("evaluate") as step:
        step("scoring")
        results = [evaluate(classifier, corpus) for classifier in classifiers]
        if arguments.abstain_risk is not None:  # also where the risk is so high that nothing is withheld
            abstention = measure_abstention(results[0], classifiers[0].abstain_below)
            results[0] = replace(results[0], abstention=abstention)
        test = compare(*results, resamples=1000, seed=arguments.seed) if len(results) > 1 else None
        reviews = _score_reviews(arguments, classifiers[0])
        step("measuring saliencies")
        trusts = [
            trust(each, corpus, own, evidence, arguments.seed) for each, own in zip(classifiers, names, strict=False)
        ]
    overlap = count_train_overlap(arguments.run_path, corpus)
    if arguments.json:
        known = {"dropped": dict(corpus.dropped), "seen_in_training": overlap}
        known |= {"reviews": reviews.as_dict()} if reviews else {}
        print_json(_as_dict(results, test, trusts) | known)
    else:
        _print(results[0], corpus.dropped, overlap)
        if reviews is not None:
            _print_reviews(reviews)
        if test is not None:
            _print_comparison(arguments.run_path, arguments.versus, results[1], *test)
        if trusts:
            _print_trust(*trusts)


def _score_reviews(arguments: argparse.Namespace, classifier: Classifier) -> ReviewScores | None:
    """Score the run on whole texts: of triplets and quadruples, and of other data with all aspects if the run finds them."""
    from pssa.aspects import evaluate_reviews
    from pssa.data.formats import find_format
    from pssa.data.io import format_of
    from pssa.data.reviews import read_reviews
    from pssa.data.text_file import InputFile

    file = InputFile.of(arguments.data, arguments.encoding)
    format = find_format(format_of(file, arguments.format))
    if not (format.scan_reviews or (format.lists_all_aspects and classifier.finds)):
        return None
    reviews, _ = read_reviews(arguments.data, **reading(arguments, classifier.labels))
    return evaluate_reviews(classifier, reviews)


def _as_dict(results: list[Evaluation], test: tuple[Bootstrap, float] | None, trusts: list[Trust]) -> dict[str, Any]:
    result = results[0]
    values = result.scores.as_dict() | {"calibration_error": result.calibration_error}
    if result.abstention is not None:
        values["abstaining"] = asdict(result.abstention)
    if result.slices:
        values["slices"] = {tag: scores.as_dict() for tag, scores in result.slices.items()}
    if trusts:
        values |= trusts[0].as_dict()
    if test is not None:
        values |= test[0].as_dict() | {"p_mcnemar": test[1]}
        values["versus"] = results[1].scores.as_dict() | (trusts[1].as_dict() if trusts else {})
    return values


def _print(result: Evaluation, dropped: Mapping[str, int], overlap: int | None) -> None:
    from pssa.runs.evaluate import describe_abstention, describe_train_overlap

    scores = result.scores
    instances = counted(scores.instances, "instance") + "".join(f", {n} dropped as {why}" for why, n in dropped.items())
    say(f"{instances}: {_two_scores(scores)}")
    most = max(scores.per_class, key=lambda label: scores.per_class[label].support)
    say(f"always {most}: {_two_scores(result.majority)}")
    if overlap:
        say(describe_train_overlap(overlap, scores.instances))
    if result.abstention is not None:
        say(describe_abstention(result.abstention))
    for tag, part in result.slices.items():
        say(f"  {tag} ({part.instances}): {_two_scores(part)}")
    rows = [
        [label, *map(percent, (found.precision, found.recall, found.f1)), found.support]
        for label, found in scores.per_class.items()
    ]
    print_table("", ("label", "precision", "recall", "F1", "support"), rows)
    rows = [[label, *row] for label, row in zip(scores.labels, scores.confusion, strict=True)]
    print_table("confusion: gold in rows, predicted in columns", ("", *scores.labels), rows)


def _print_reviews(scores: ReviewScores) -> None:
    """Print a line for each part; the last is of the texts as a whole."""
    say(f"whole texts: {scores.reviews}")
    for title, spans in (("aspects found exactly", scores.spans), ("with the right label", scores.labelled_spans)):
        if spans is not None:
            found = ", ".join(f"{name} {percent(getattr(spans, name))}" for name in ("precision", "recall", "f1"))
            say(f"  {title}: {found}")
    if scores.labels is not None:
        left_out = f"; {scores.two_labels} with two labels left out" if scores.two_labels else ""
        commonest = f"always the commonest: {percent(scores.labels.commonest_share)}"
        say(
            f"  marked aspects, each in its sentence ({scores.labels.instances}{left_out}): {_two_scores(scores.labels)}"
        )
        say(f"    {commonest}")
    if scores.top_word is not None:
        say(f"  top word in the marked opinion: {percent(scores.top_word)} of {scores.top_word_instances}")


def _two_scores(scores: Scores) -> str:
    return f"accuracy {percent(scores.accuracy)}, macro-F1 {percent(scores.macro_f1)}"


def _print_comparison(run: Path, other: Path, versus: Evaluation, test: Bootstrap, p_mcnemar: float) -> None:
    say(f"versus {run_name(other)}: {_two_scores(versus.scores)}")
    for name, gain, (low, high), p in (
        ("accuracy", test.accuracy_difference, test.accuracy_interval, test.p_accuracy),
        ("macro-F1", test.macro_f1_difference, test.macro_f1_interval, test.p_macro_f1),
    ):
        interval = f"95 % interval {100 * low:+.1f} to {points(high)}"
        say(f"  difference in {name} {points(gain)}, {interval}, {p_value(p)}")
    resamples, names = counted(test.resamples, "resample"), (run_name(run), run_name(other))
    say(f"p: one-sided paired bootstrap, {resamples}; null hypothesis: {names[0]} is no better than {names[1]}")
    say(f"McNemar's exact test, two-sided (null hypothesis: both are right equally often): {p_value(p_mcnemar)}")


def _print_trust(trust: Trust, versus: Trust | None = None) -> None:
    """Print faithfulness, agreement with people and correlation of a run and, below it in every table, of another.

    A number has two lines, its mean and the interval, so that four of them fit beside a name in 80 columns.
    """
    both = {"": trust} if versus is None else {"": trust, "versus:\n": versus}
    left_out = f"; {trust.left_out} more have no word beside the aspect" if trust.left_out else ""
    say(f"faithfulness on {counted(trust.instances - trust.left_out, 'instance')}{left_out}")
    say("drop of the predicted class's probability without the most salient words (comprehensiveness)")
    say("and with only them and the aspect (sufficiency), in points of 100, with 95 % intervals")
    for way, title in _WAYS.items():
        for measure, meaning in _MEASURES.items():
            rows = [row for prefix, each in both.items() for row in _faithfulness_rows(prefix, each, way, measure)]
            print_table(f"{measure} ({meaning}), {title}", ("", "1 word", "2 words", "3 words", "AOPC"), rows)
    rows = [row for prefix, each in both.items() if each.agreement for row in _agreement_rows(prefix, each.agreement)]
    if rows:
        columns = ("", "sentences", "precision at 1", "recall at 3", "mass")
        print_table("agreement with human opinion words", columns, rows)
    rows = []
    for prefix, each in both.items():
        for pair in each.correlation:
            found = ("-" if value is None else _format(value, scale=1) for value in (pair.kendall, pair.spearman))
            rows.append([f"{prefix}{pair.first},\n{pair.second}", str(pair.instances), *found])
    if rows:
        print_table("rank correlation of saliencies", ("", "sentences", "Kendall's tau-b", "Spearman's rho"), rows)


def _faithfulness_rows(prefix: str, trust: Trust, way: str, measure: str) -> Iterator[list[str]]:
    columns: list[AgainstChance] = []
    for name, found in trust.faithfulness[way].items():
        columns = list(getattr(found, measure).values())
        yield [_name(prefix, name), *_cells(columns, "value")]
        yield ["  minus random", *_cells(columns, "difference")]
    yield [f"{prefix}random order", *_cells(columns, "control")]


def _agreement_rows(prefix: str, agreement: Agreement) -> Iterator[list[str]]:
    from pssa.evaluation.agreement import NEAREST

    def row(name: str, hits: Hits, part: str) -> list[str]:
        columns = [hits.precision_at_1, hits.recall_at_3, hits.mass]
        return [name, str(hits.instances), *_cells(columns, part)]

    for name, agreed in agreement.saliencies.items():
        if prefix and name == NEAREST:  # it and chance, below, are the same for every run
            return
        yield row(_name(prefix, name), agreed.overall, "value")
        yield row("  minus random", agreed.overall, "difference")
        yield from (row(f"  {label}", hits, "value") for label, hits in agreed.per_label.items())
    yield row("random word", agreed.overall, "control")
    yield from (row(f"  {label}", hits, "control") for label, hits in agreed.per_label.items())


def _cells(columns: Iterable[AgainstChance], part: str) -> list[str]:
    """Return the values, their differences to chance or those of chance itself."""
    return [_format(getattr(judged, part), "+" if part == "difference" else "") for judged in columns]


def _name(prefix: str, name: str) -> str:
    return prefix + (name if len(name) <= _NARROW else name.replace("_", "_\n", 1))


def _format(estimate: Estimate, sign: str = "", scale: int = 100) -> str:
    digits = 1 if scale > 1 else 3
    mean, low, high = (scale * value for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean:{sign}.{digits}f}\n{low:.{digits}f}..{high:.{digits}f}"
