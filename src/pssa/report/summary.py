"""The first screen of a report, in plain words: how good a run is, for which labels, how far to trust it, what drives it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pssa.data.english import is_content_word
from pssa.data.example import Example
from pssa.display import p_value, percent, points
from pssa.evaluation import Scores
from pssa.evaluation.shares import wilson
from pssa.evaluation.significance import SIGNIFICANT
from pssa.report.run_reader import ReportedRun
from pssa.report.sections import RESAMPLES, ReportSection, make_section
from pssa.runs import Classifier
from pssa.runs.calibration import describe_calibration
from pssa.runs.card import held_out_score, majority_score
from pssa.runs.evaluate import Evaluation, compare, describe_train_overlap
from pssa.runs.explain import Trust, explain

_N_DRIVERS = 7  # words of each label
_MAX_EXPLAINED, _MAX_ENCODER_EXPLAINED = 300, 40  # instances that drivers are taken from
_MIN_TIMES = 2  # that a driver occurs
_FEW_INSTANCES = 200  # of a test set, which then says little
_TOP = "3"  # words whose removal tells whether heat maps can be trusted


def summary_section(
    run: ReportedRun,
    results: Mapping[str, Evaluation],
    trusts: Mapping[str, Trust],
    overlap: int | None,
    examples: Sequence[Example],
) -> ReportSection:
    """Sum up the other sections.

    :param results: evaluations by name, the run's first; empty without test data. Likewise `trusts`.
    :param overlap: test instances whose text the run was trained on.
    :param examples: to see which words drive each label.
    """
    ours = next(iter(results.values()), None)
    return make_section(
        "summary",
        "In short",
        good=_describe_scores(results) if results else _describe_held_out_scores(run),
        labels=_by_label(ours.scores) if ours else [],
        trust=_describe_trust(run, ours, next(iter(trusts.values()), None), overlap),
        drivers=label_drivers(run.classifier, examples) if run.classifier else {},
    )


def _describe_scores(results: Mapping[str, Evaluation]) -> list[str]:
    (name, ours), *others = results.items()
    scores, majority = ours.scores, ours.majority
    label = max(scores.labels, key=ours.gold.count)
    lines = [
        f"It is right on {percent(scores.accuracy)} of {scores.instances} test instances; macro-F1 {percent(scores.macro_f1)}.",
        f"Always answering {label} would be right on {percent(majority.accuracy)}; macro-F1 {percent(majority.macro_f1)}.",
    ]
    for other, theirs in others:
        test, _ = compare(ours, theirs, resamples=RESAMPLES, seed=0)
        gain, (low, high) = test.macro_f1_difference, test.macro_f1_interval
        verdict = "The difference may be chance"
        if gain > 0 and test.p_macro_f1 < SIGNIFICANT:
            verdict = f"{name} is significantly better"
        elif gain < 0 and 1 - test.p_macro_f1 < SIGNIFICANT:
            verdict = f"{name} is significantly worse"
        subject = "The model before mining" if other.endswith(", initial model") else f"The run {other}"
        lines.append(
            f"{subject} is right on {percent(theirs.scores.accuracy)}; macro-F1 {percent(theirs.scores.macro_f1)}. "
            f"{verdict}: {points(gain)} of macro-F1 "
            f"(95 % interval {100 * low:+.1f} to {100 * high:+.1f}; {p_value(test.p_macro_f1)})."
        )
    return lines


def _describe_held_out_scores(run: ReportedRun) -> list[str]:
    if run.metrics is None or run.config is None:
        return ["The run is unfinished and has no score yet."]
    lines, found = [], held_out_score(run.config, run.metrics)
    if found is not None:
        scores = f"{percent(found.accuracy)}; macro-F1 {percent(found.macro_f1)}"
        lines.append(f"Measured on {found.name}, it is right on {scores}.")
    else:
        lines.append("No data was held out, and no test data was given, so there is no score.")
    majority = majority_score(run.metrics["labels"])
    scores = f"{percent(majority.accuracy)}; macro-F1 {percent(majority.macro_f1)}"
    return [*lines, f"Always answering {majority.name} would be right on {scores}."]


def _by_label(scores: Scores) -> list[tuple[str, str, int, str]]:
    """Return each label with its F1, its instances, and what it is mostly mistaken for; the best first."""
    rows = []
    for number, (label, found) in enumerate(scores.per_class.items()):
        wrong = {
            other: count for other, count in zip(scores.labels, scores.confusion[number], strict=True) if other != label
        }
        other = max(wrong, key=lambda name: wrong[name])
        mistaken = f"{wrong[other]} taken for {other}" if wrong[other] else "none mistaken"
        rows.append((label, percent(found.f1), found.support, mistaken))
    return sorted(rows, key=lambda row: -scores.per_class[row[0]].f1)


def _describe_trust(run: ReportedRun, ours: Evaluation | None, trust: Trust | None, overlap: int | None) -> list[str]:
    lines = []
    if ours is not None:
        n = ours.scores.instances
        _, low, high = wilson(round(ours.scores.accuracy * n), n)
        start = "This test set is small: on" if n < _FEW_INSTANCES else "On"
        lines.append(f"{start} other sentences like these, expect it to be right on {percent(low)} to {percent(high)}.")
    if overlap and ours is not None:
        lines.append(describe_train_overlap(overlap, ours.scores.instances))
    if run.metrics is not None:
        found = run.metrics.get("calibration")
        calibration = f"are calibrated: {describe_calibration(found)}" if found else "are not calibrated"
        lines.append(f"Its probabilities {calibration}.")
    if trust is not None:  # whether the words that heat maps show matter more to the model than others
        (faithfulness,) = trust.faithfulness["deletion"].values()
        judged = faithfulness.comprehensiveness[_TOP]
        drops = (
            f"without the {_TOP} words that count most the label's probability falls by {100 * judged.value.mean:.1f} "
            f"points, without {_TOP} random words by {100 * judged.control.mean:.1f}"
        )
        matters = judged.difference.low > 0
        lines.append(f"Heat maps {'show words that matter' if matters else 'may mislead'}: {drops}.")
    return lines


def label_drivers(classifier: Classifier, examples: Sequence[Example]) -> dict[str, list[str]]:
    """Return the words that drive each predicted label: by their share of the saliency, and how much it is this label's."""
    limit = _MAX_ENCODER_EXPLAINED if classifier.runtime.has_encoder else _MAX_EXPLAINED
    shares: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))  # of words, by label
    times: Counter[str] = Counter()
    for explanation in explain(classifier, examples[:limit]):
        for word, share in zip(explanation.words, explanation.shares, strict=True):
            if is_content_word(word):
                shares[explanation.answer.label][word.casefold()] += share
                times[word.casefold()] += 1
    drivers = {}
    for label in classifier.labels:
        if own := shares.get(label):
            weights = {
                word: share**2 / sum(each.get(word, 0.0) for each in shares.values())
                for word, share in own.items()
                if times[word] >= _MIN_TIMES and share > 0
            }
            drivers[label] = sorted(weights, key=lambda word: -weights[word])[:_N_DRIVERS]
    return drivers
