"""The sections of a run's report. Each function computes the numbers; templates/sections has the layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pssa import __version__, models
from pssa.data.evidence import ACTIVE, Evidence, ExampleEvidence
from pssa.data.evidence_stats import Stats, stats
from pssa.data.example import Corpus, Example
from pssa.data.numbers import p_value, percent, points
from pssa.data.stop_words import is_content_word
from pssa.evaluation import Scores
from pssa.evaluation.faithfulness import COLUMNS
from pssa.evaluation.significance import AgainstChance
from pssa.report.heat_map import pairs
from pssa.report.html import render
from pssa.report.run_reader import ReportedRun
from pssa.runs import Classifier, Config
from pssa.runs.card import describe_run
from pssa.runs.evaluate import Evaluation, compare, describe_train_overlap
from pssa.runs.explain import Trust, explain, trust, usable_saliencies, usual_saliency
from pssa.runs.resolve import unused_settings
from pssa.runs.settings import non_default_settings

Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]  # caption, columns, rows

# Of files a reader elsewhere learns the name only: the folders belong to this machine.
_FILES = ("data.train", "data.dev", "data.vectors", "data.encoder", "data.from_pretrained", "supervision.evidence")
_SHOWN_ELSEWHERE = ("model", "method", "seed", "data.labels")

RESAMPLES = 1000

_N_WORDS = 20  # of each kind
_N_EVIDENCE, _N_EVIDENCE_OPEN, _EVIDENCE_LENGTH = 24, 4, 60  # sentences, those not folded away, words of a sentence
_N_CHANGES, _N_CHANGES_OPEN, _CHANGES_LENGTH = 40, 6, 100
_VERDICTS = ("now right", "now wrong", "wrong either way")

_MAX_ENCODER_SAMPLE = 40  # every instance is scored about fifty times, which takes long with an encoder
_MEASURES = ("comprehensiveness", "sufficiency")
_WAYS = {"mask": "hiding words", "deletion": "taking words out"}


@dataclass(frozen=True)
class ReportSection:
    """A section of the page."""

    id: str  # its anchor
    title: str
    html: Markup


@dataclass(frozen=True)
class ComparedPrediction:
    """An example with the labels that two runs predict."""

    example: Example
    now: str
    before: str

    @property
    def verdict(self) -> str:
        """What the change is worth."""
        if self.now == self.example.label:
            return _VERDICTS[0]
        return _VERDICTS[1] if self.before == self.example.label else _VERDICTS[2]


def make_section(id: str, title: str, **values: Any) -> ReportSection:
    """Fill in the section's template."""
    return ReportSection(id, title, Markup(render(f"sections/{id}.html.jinja", **values)))  # noqa: S704


def run_section(run: ReportedRun) -> ReportSection:
    """Describe the run: the facts of the model card, and the settings that are not the defaults."""
    config, classifier = run.config, run.classifier
    facts: list[tuple[str, object]] = []
    if config is not None:
        facts += [("model", config.model), ("method", config.method), ("labels", ", ".join(config.data.labels))]
        facts += _measured_facts(config, run.metrics) if run.metrics is not None else []
        facts.append(("seed", config.seed))
    elif classifier is not None:
        facts += [("model", classifier.name), ("labels", ", ".join(classifier.labels))]
    facts.append(("written by", f"pssa {__version__}"))
    settings = None if config is None else changed_settings(config)
    return make_section("run", "The run", facts=facts, settings=settings)


def changed_settings(config: Config) -> list[tuple[str, str]]:
    """Return the settings that the method uses and that differ from its and the model's defaults; of files the last name."""
    changed = non_default_settings(config)
    unused = unused_settings(config, changed)
    return [
        (name, Path(str(value)).name if name in _FILES else _format_setting(value))
        for name, value in changed.items()
        if name not in _SHOWN_ELSEWHERE and name.rpartition(".")[2] not in unused
    ]


def _measured_facts(config: Config, metrics: dict[str, Any]) -> list[tuple[str, object]]:
    facts, dev, coverage = describe_run(config, metrics), metrics["dev"], metrics["vector_coverage"]
    rows: list[tuple[str, object]] = [
        ("trained parameters", facts["parameters"] + facts["members"]),
        ("training data", facts["data"]),
        ("data digest", facts["digest"]),
        ("epochs", facts["epochs"]),
    ]
    if dev:
        scores = f"accuracy {percent(dev['accuracy'])}, macro-F1 {percent(dev['macro_f1'])}{facts['when']}"
        rows.append(("development score", f"{scores}; it chose the number of epochs"))
    rows.append(("calibration", facts["calibration"]))
    if coverage:
        rows.append(("word vectors", f"cover {percent(coverage['tokens'])} of the training tokens"))
    return rows


def _format_setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={inner}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def scores_section(results: Mapping[str, Evaluation], overlap: int | None = None) -> ReportSection:
    """Compare the scores of one or two runs by name; the first was trained on `overlap` of the test instances."""
    first = next(iter(results.values()))
    overall = [[name, each.scores.instances, *_percentages(each.scores)] for name, each in results.items()]
    slices = [
        [tag, part.instances, *(" / ".join(_percentages(each.slices[tag])) for each in results.values())]
        for tag, part in first.slices.items()
    ]
    return make_section(
        "scores",
        "Scores",
        overall=overall,
        overlap=describe_train_overlap(overlap, first.scores.instances) if overlap else "",
        test=_test(*results.values()) if len(results) == 2 else None,
        names=list(results),
        slices=slices,
        classes={name: _class_tables(each.scores) for name, each in results.items()},
    )


def _test(ours: Evaluation, theirs: Evaluation) -> dict[str, Any]:
    """Test whether the first is better than the second."""
    test, p_mcnemar = compare(ours, theirs, resamples=RESAMPLES, seed=0)
    rows = [
        (name, points(gain), f"{100 * low:+.1f} to {points(high)}", p_value(p))
        for name, gain, (low, high), p in (
            ("accuracy", test.accuracy_difference, test.accuracy_interval, test.p_accuracy),
            ("macro-F1", test.macro_f1_difference, test.macro_f1_interval, test.p_macro_f1),
        )
    ]
    return {"rows": rows, "resamples": test.resamples, "p_mcnemar": p_value(p_mcnemar)}


def _percentages(scores: Scores) -> list[str]:
    return [percent(scores.accuracy), percent(scores.macro_f1)]


def _class_tables(scores: Scores) -> list[Table]:
    classes = [
        [label, *map(percent, (found.precision, found.recall, found.f1)), found.support]
        for label, found in scores.per_class.items()
    ]
    confusion = [
        [label, *(_confusion_cell(count, sum(row), gold == place) for place, count in enumerate(row))]
        for gold, (label, row) in enumerate(zip(scores.labels, scores.confusion, strict=True))
    ]
    return [
        ("Classes", ("label", "precision", "recall", "F1", "instances"), classes),
        ("Confusion: gold in rows, predicted in columns", ("gold", *scores.labels), confusion),
    ]


def _confusion_cell(count: int, total: int, is_right: bool) -> Markup:
    text = Markup("<b>{}</b>").format(count) if is_right else str(count)
    return _with_title(
        text, f"{percent(count / total if total else 0.0)} of the row, {'right' if is_right else 'wrong'}"
    )


def _with_title(text: str, title: str) -> Markup:
    return Markup('<span title="{}">{}</span>').format(title, text)


def evidence_section(evidence: Evidence) -> ReportSection:
    """Show what was mined: counts by round, the most frequent words, and sentences as in the paper's Table 2."""
    found = stats(evidence, len(evidence.examples))
    kinds = (("active", found.active_words), ("misleading", found.misleading_words))
    words = [_word_table(kind, words, tuple(found.per_class)) for kind, words in kinds]
    return make_section(
        "mined",
        "What was mined",
        header=evidence.header,
        stats=found,
        rounds=_round_table(found),
        words=[table for table in words if table[2]],
        examples=choose_evidence(evidence.examples, _N_EVIDENCE),
        n_open=_N_EVIDENCE_OPEN,
        longest=_EVIDENCE_LENGTH,
        rounds_of=rounds_of,
        active=ACTIVE,
    )


def choose_evidence(examples: Iterable[ExampleEvidence], most: int) -> list[ExampleEvidence]:
    """Choose sentences, in their order: first those with words of both kinds, then those with most words."""
    fit = [example for example in examples if example.findings and len(example.words) <= _EVIDENCE_LENGTH]
    ranked = sorted(
        range(len(fit)),
        key=lambda place: (not (fit[place].active and fit[place].misleading), -len(fit[place].findings), place),
    )
    return [fit[place] for place in sorted(ranked[:most])]


def rounds_of(example: ExampleEvidence) -> list[dict[str, Any]]:
    """Return the rounds in which words were found: the findings by word, and the words hidden since earlier rounds."""
    rounds = []
    for number in sorted({finding.iteration for finding in example.findings}):
        now = [finding for finding in example.findings if finding.iteration == number]
        hidden = {finding.word for finding in example.findings if finding.iteration < number}
        entropies = ", ".join(dict.fromkeys(f"{finding.entropy:.2f}" for finding in now))
        found = {each.word: each for each in now}
        rounds.append({"number": number, "found": found, "hidden": hidden, "entropies": entropies})
    return rounds


def _round_table(found: Stats) -> Table:
    """Tabulate the rounds as they were mined or, if that is not known, by counting the findings."""
    if found.rounds:
        mined = [
            [
                *(each.iteration, each.active, each.misleading),
                *(f"{each.mean_entropy:.2f}", percent(each.open_share), percent(each.accuracy)),
            ]
            for each in found.rounds
        ]
        caption = "Training instances by round: mean entropy in bits; right: predicted right"
        return caption, ("round", "active", "misleading", "entropy", "gave a word", "right"), mined
    rows = [
        [place, *counts, "" if entropy is None else f"{entropy:.3f}"]
        for place, (*counts, entropy) in enumerate((each.values() for each in found.per_iteration), start=1)
    ]
    return "By round; entropy in bits", ("round", "active", "misleading", "mean entropy"), rows


def _word_table(kind: str, profiles: Sequence[Mapping[str, Any]], labels: tuple[str, ...]) -> Table:
    """Tabulate the most frequent words; stop words and punctuation are left out."""

    def cell(count: int, total: int) -> Markup:
        return _with_title(percent(count / total, 0), f"{count} times")

    shown = [each for each in profiles if is_content_word(str(each["word"]))][:_N_WORDS]
    rows = [
        [each["word"], each["count"], *(cell(each["labels"].get(label, 0), each["count"]) for label in labels)]
        for each in shown
    ]
    return f"Most frequent {kind} words, by gold label; without stop words", ("word", "times", *labels), rows


def changes_section(
    compared: Sequence[ComparedPrediction], data: str, classifiers: Mapping[str, Classifier]
) -> ReportSection:
    """Show the labels that changed: counts, and the first sentences of each kind with both heat maps.

    :param data: what the examples are, for the reader.
    """
    changed = [each for each in compared if each.now != each.before]
    counts = {verdict: [each for each in changed if each.verdict == verdict] for verdict in _VERDICTS}
    chosen = _choose_changes(list(counts.values()))
    return make_section(
        "changed",
        "Predictions that changed",
        n_changed=len(changed),
        n_compared=len(compared),
        data=data,
        names=tuple(classifiers),
        counts=[(verdict, len(found)) for verdict, found in counts.items()],
        shown=list(zip(chosen, _explain_both(chosen, *classifiers.values()), strict=True)),
        most=_N_CHANGES,
        longest=_CHANGES_LENGTH,
        n_open=_N_CHANGES_OPEN,
    )


def _choose_changes(groups: Sequence[Sequence[ComparedPrediction]]) -> list[ComparedPrediction]:
    """Choose from the groups in turns; a small one leaves its places to the others."""
    fit = [[each for each in group if len(each.example.spans) <= _CHANGES_LENGTH] for group in groups]
    chosen: list[ComparedPrediction] = []
    for place in range(max(map(len, fit))):
        chosen += [group[place] for group in fit if place < len(group)]
    return chosen[:_N_CHANGES]


def _explain_both(chosen: Sequence[ComparedPrediction], now: Classifier, before: Classifier) -> Sequence[Any]:
    if not chosen:
        return []
    examples = [each.example for each in chosen]
    usual = usual_saliency(now)
    common = usual if usual in usable_saliencies(before) else ""
    return pairs(explain(now, examples), explain(before, examples, common))


def measure_trust(classifiers: Mapping[str, Classifier], corpus: Corpus, sample: int) -> dict[str, Trust]:
    """Measure the default saliency of each run by name, on `sample` instances, or fewer with an encoder."""
    has_encoder = any(models.uses_encoder(each.name) for each in classifiers.values())
    limit = min(sample, _MAX_ENCODER_SAMPLE) if has_encoder else sample
    return {name: trust(each, corpus, (usual_saliency(each),), limit=limit) for name, each in classifiers.items()}


def faithfulness_section(found: Mapping[str, Trust] | str) -> ReportSection:
    """Show comprehensiveness and sufficiency of each run by name, or why they could not be measured."""
    id, title = "faithfulness", "Faithfulness"
    if isinstance(found, str):
        return make_section(id, title, problem=found)
    first = next(iter(found.values()))
    tables = [_faithfulness_table(measure, way, found) for way in first.faithfulness for measure in _MEASURES]
    return make_section(id, title, problem="", n_instances=first.instances - first.left_out, tables=tables)


def _faithfulness_table(measure: str, way: str, found: Mapping[str, Trust]) -> Table:
    rows = [
        [f"{name}, {saliency}", *(_faithfulness_cell(getattr(result, measure)[column]) for column in COLUMNS)]
        for name, each in found.items()
        for saliency, result in each.faithfulness[way].items()
    ]
    heads = [f"{column} word{'s' * (column != '1')}" if column.isdigit() else column.upper() for column in COLUMNS]
    return f"{measure.capitalize()}, by {_WAYS.get(way, way)}", ("run", *heads), rows


def _faithfulness_cell(judged: AgainstChance) -> Markup:
    value, control = judged.value, judged.control
    interval = f"95 % interval {100 * value.low:.1f} to {100 * value.high:.1f}"
    return _with_title(f"{100 * value.mean:.1f} ({100 * control.mean:.1f})", interval)
