"""The sections of a run's report. Each function computes the numbers; templates/sections has the layout."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pssa import __version__
from pssa.data.english import is_content_word
from pssa.data.evidence import ACTIVE, Evidence, ExampleEvidence, Stats, stats
from pssa.data.example import Corpus, Example
from pssa.display import p_value, percent, points
from pssa.errors import InputError
from pssa.evaluation import Scores
from pssa.evaluation.faithfulness import COLUMNS
from pssa.evaluation.significance import AgainstChance
from pssa.report.heat_map import Pair, pairs
from pssa.report.html import render
from pssa.report.run_reader import ReportedRun
from pssa.runs import Classifier, Config
from pssa.runs.card import describe_run
from pssa.runs.evaluate import Evaluation, compare, describe_train_overlap
from pssa.runs.explain import Trust, explain, trust, trusted_saliencies
from pssa.runs.resolve import unused_settings
from pssa.runs.settings import non_default_settings
from pssa.stress import compare_all_right, make_variants, stress
from pssa.stress.measure import choose_mistakes

Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]  # caption, columns, rows

# Files whose name is shown without its folders, which belong to this machine.
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
_MAX_INSTANCES, _MAX_ENCODER_INSTANCES = 500, 100  # each is classified up to seven times
_N_MISTAKES = 6


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
        if run.metrics is not None:
            card, dev, coverage = describe_run(config, run.metrics), run.metrics["dev"], run.metrics["vector_coverage"]
            facts.append(("trained parameters", card["parameters"] + card["members"]))
            facts += [("training data", card["data"]), ("data digest", card["digest"]), ("epochs", card["epochs"])]
            if dev:
                scores = f"accuracy {percent(dev['accuracy'])}, macro-F1 {percent(dev['macro_f1'])}{card['when']}"
                facts.append(("development score", f"{scores}; it chose the number of epochs"))
            facts.append(("calibration", card["calibration"]))
            if coverage:
                facts.append(("word vectors", f"cover {percent(coverage['tokens'])} of the training tokens"))
        facts.append(("seed", config.seed))
    elif classifier is not None:
        facts += [("model", classifier.name), ("labels", ", ".join(classifier.labels))]
    facts.append(("written by", f"pssa {__version__}"))
    settings = None if config is None else changed_settings(config)
    return make_section("run", "The run", facts=facts, settings=settings)


def changed_settings(config: Config) -> list[tuple[str, str]]:
    """Return the settings that the method uses and that differ from its and the model's defaults."""
    changed = non_default_settings(config)
    unused = unused_settings(config, changed)
    shown = []
    for name, value in changed.items():
        if name in _SHOWN_ELSEWHERE or name.rpartition(".")[2] in unused:
            continue
        if name in _FILES:
            value = Path(str(value)).name
        elif isinstance(value, dict):
            value = ", ".join(f"{key}={inner}" for key, inner in value.items())
        elif isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value))
        shown.append((name, str(value)))
    return shown


def scores_section(results: Mapping[str, Evaluation], overlap: int | None = None) -> ReportSection:
    """Compare the scores of one or two runs by name; the first was trained on `overlap` of the test instances."""
    first = next(iter(results.values()))
    overall = [[name, each.scores.instances, *_percentages(each.scores)] for name, each in results.items()]
    slices = [
        [tag, part.instances, *(" / ".join(_percentages(each.slices[tag])) for each in results.values())]
        for tag, part in first.slices.items()
    ]
    test = None  # whether the first is better than the second
    if len(results) == 2:
        found, p_mcnemar = compare(*results.values(), resamples=RESAMPLES, seed=0)
        rows = [
            (name, points(gain), f"{100 * low:+.1f} to {points(high)}", p_value(p))
            for name, gain, (low, high), p in (
                ("accuracy", found.accuracy_difference, found.accuracy_interval, found.p_accuracy),
                ("macro-F1", found.macro_f1_difference, found.macro_f1_interval, found.p_macro_f1),
            )
        ]
        test = {"rows": rows, "resamples": found.resamples, "p_mcnemar": p_value(p_mcnemar)}
    return make_section(
        "scores",
        "Scores",
        overall=overall,
        overlap=describe_train_overlap(overlap, first.scores.instances) if overlap else "",
        test=test,
        names=list(results),
        slices=slices,
        classes={name: _class_tables(each.scores) for name, each in results.items()},
    )


def _percentages(scores: Scores) -> list[str]:
    return [percent(scores.accuracy), percent(scores.macro_f1)]


def _class_tables(scores: Scores) -> list[Table]:
    classes = [
        [label, *map(percent, (found.precision, found.recall, found.f1)), found.support]
        for label, found in scores.per_class.items()
    ]
    confusion: list[list[str]] = []
    for gold, (label, row) in enumerate(zip(scores.labels, scores.confusion, strict=True)):
        cells: list[str] = [label]
        for place, count in enumerate(row):
            text = Markup("<b>{}</b>").format(count) if place == gold else str(count)
            share = percent(count / sum(row) if count else 0.0)
            cells.append(_with_title(text, f"{share} of the row, {'right' if place == gold else 'wrong'}"))
        confusion.append(cells)
    return [
        ("Classes", ("label", "precision", "recall", "F1", "instances"), classes),
        ("Confusion: gold in rows, predicted in columns", ("gold", *scores.labels), confusion),
    ]


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
    # From the kinds in turns; one of few sentences leaves its places to the others.
    short = [[each for each in found if len(each.example.spans) <= _CHANGES_LENGTH] for found in counts.values()]
    chosen = [each for turn in zip_longest(*short) for each in turn if each is not None][:_N_CHANGES]
    maps: Sequence[Pair] = []
    if chosen:
        (now, before), examples = classifiers.values(), [each.example for each in chosen]
        usual = now.saliencies[0]
        common = usual if usual in before.saliencies else ""
        maps = pairs(explain(now, examples), explain(before, examples, common))
    return make_section(
        "changed",
        "Predictions that changed",
        n_changed=len(changed),
        n_compared=len(compared),
        data=data,
        names=tuple(classifiers),
        counts=[(verdict, len(found)) for verdict, found in counts.items()],
        shown=list(zip(chosen, maps, strict=True)),
        most=_N_CHANGES,
        longest=_CHANGES_LENGTH,
        n_open=_N_CHANGES_OPEN,
    )


def measure_trust(classifiers: Mapping[str, Classifier], corpus: Corpus, sample: int) -> dict[str, Trust]:
    """Measure the default saliency of each run by name, on `sample` instances, or fewer with an encoder."""
    has_encoder = any(each.runtime.has_encoder for each in classifiers.values())
    limit = min(sample, _MAX_ENCODER_SAMPLE) if has_encoder else sample
    return {
        name: trust(each, corpus, trusted_saliencies(each, each.saliencies[:1]), limit=limit)
        for name, each in classifiers.items()
    }


def faithfulness_section(found: Mapping[str, Trust] | str) -> ReportSection:
    """Show comprehensiveness and sufficiency of each run by name, or why they could not be measured."""
    id, title = "faithfulness", "Faithfulness"
    if isinstance(found, str):
        return make_section(id, title, problem=found)
    first = next(iter(found.values()))
    heads = [f"{column} word{'s' * (column != '1')}" if column.isdigit() else column.upper() for column in COLUMNS]
    tables: list[Table] = []
    for way, measure in product(first.faithfulness, _MEASURES):
        rows = []
        for name, each in found.items():
            for saliency, result in each.faithfulness[way].items():
                cells = [f"{name}, {saliency}"]
                for column in COLUMNS:
                    judged: AgainstChance = getattr(result, measure)[column]
                    value, control = judged.value, judged.control
                    interval = f"95 % interval {100 * value.low:.1f} to {100 * value.high:.1f}"
                    cells.append(_with_title(f"{100 * value.mean:.1f} ({100 * control.mean:.1f})", interval))
                rows.append(cells)
        tables.append((f"{measure.capitalize()}, by {_WAYS.get(way, way)}", ("run", *heads), rows))
    return make_section(id, title, problem="", n_instances=first.instances - first.left_out, tables=tables)


def stress_section(classifiers: Mapping[str, Classifier], corpus: Corpus) -> ReportSection:
    """Count right answers to variants of some test instances for one or two runs by name; show mistakes of the first."""
    id, title = "stress", "Reversed and distracting opinions"
    has_encoder = any(each.runtime.has_encoder for each in classifiers.values())
    most = _MAX_ENCODER_INSTANCES if has_encoder else _MAX_INSTANCES
    if len(corpus) > most:
        corpus = corpus.select(sorted(random.Random(0).sample(range(len(corpus)), most)))
    variants = make_variants(corpus)
    try:
        results = {name: stress(classifier, variants) for name, classifier in classifiers.items()}
    except InputError as error:
        return make_section(id, title, problem=str(error))
    name, first = next(iter(results.items()))
    mistakes = choose_mistakes(first.mistakes, _N_MISTAKES)
    classifier = classifiers[name]
    now = explain(classifier, [mistake.example for mistake in mistakes])
    before = explain(classifier, [variants.corpus[mistake.index] for mistake in mistakes])
    shares, n_instances = [each.as_dict() for each in results.values()], len(variants.corpus)
    rows: list[list[object]] = []
    for kind, found in first.kinds.items():
        accuracies = [each.kinds[kind].accuracy for each in results.values()]
        right = ["" if accuracy is None else percent(accuracy) for accuracy in accuracies]
        rows.append([kind, found.variants, n_instances - found.variants, *right])
    rows.append(["originals", n_instances, 0, *(percent(each["accuracy"]) for each in shares)])
    rows.append(["all right", n_instances, 0, *(percent(each["all_right"]) for each in shares)])
    table: Table = ("Right answers by kind of variant", ("kind", "variants", "none made", *results), rows)
    return make_section(
        id,
        title,
        problem="",
        n_instances=n_instances,
        name=name,
        table_of=table,
        test=p_value(compare_all_right(*results.values())) if len(results) == 2 else "",
        n_mistakes=len(first.mistakes),
        shown=list(zip(mistakes, before, now, strict=True)),
    )
