"""A run's report: one page that holds everything it shows, needs no script and no network, and can be passed on.

It stays small whatever the run's size: words and sentences are the first or the most telling few, and the page says how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.files import write_atomically
from pssa.data.read import read, read_for
from pssa.report.changed import BothAnswers, show_changes
from pssa.report.curves import show_training
from pssa.report.facts import describe
from pssa.report.markup import Markup, escape, join, page
from pssa.report.mined import show_evidence
from pssa.report.names import name_runs
from pssa.report.scores import show_scores
from pssa.report.style import HEAT_STYLE, PAGE_STYLE, REPORT_STYLE
from pssa.report.subject import Section, Subject
from pssa.report.trusted import show_trust
from pssa.runs import Classifier, load
from pssa.runs.evaluate import Evaluation, evaluate, require_same_labels
from pssa.runs.train_overlap import count_train_overlap

__all__ = ["make_report", "write_report"]

_MOST_TRAINING = 1000  # instances to look for changes in where there is no test data


def write_report(
    run: str | Path,
    out: str | Path,
    versus: str | Path | None = None,
    data: str | Path | Corpus | None = None,
    sample: int = 100,
) -> Path:
    """Write the report of `run` to the file `out`.

    :param versus: a run to compare with; by default the model before mining, where the run has kept it.
    :param data: labelled instances that no training has seen, or their file; without them nothing is scored.
    :param sample: of the data, the most instances to measure faithfulness on, which takes the longest.
    :raises InputError: if a run or the data cannot be used.
    """
    write_atomically(out, make_report(run, versus, data, sample).encode())
    return Path(out)


def make_report(
    run: str | Path,
    versus: str | Path | None = None,
    data: str | Path | Corpus | None = None,
    sample: int = 100,
) -> str:
    """The page; see `write_report`."""
    subject = Subject.open(Path(run))
    other = Path(versus) if versus is not None else subject.initial
    classifiers = _load_both(subject, other)
    test = read_for(run, data, labels=_labels(subject)) if isinstance(data, (str, Path)) else data
    sections = [describe(subject)]
    results = {name: evaluate(classifier, test) for name, classifier in classifiers.items()} if test is not None else {}
    if results and test is not None:
        sections.append(show_scores(results, count_train_overlap(run, test)))
    if subject.history:
        sections.append(show_training(subject.history))
    if subject.evidence is not None:
        sections.append(show_evidence(subject.evidence))
    sections += _changes(classifiers, _answers(test, results) or _training_answers(subject, classifiers))
    if test is not None and classifiers:
        sections.append(show_trust(classifiers, test, sample))
    return _assemble(subject, [*sections, *_card(subject)], _notes(subject, test))


def _load_both(subject: Subject, other: Path | None) -> dict[str, Classifier]:
    """The classifiers by name, the run's first; none if it has none yet."""
    if subject.classifier is None:
        return {}
    if other is None:
        return {subject.name: subject.classifier}
    names, second = name_runs(subject.root, other), load(other)
    require_same_labels(subject.classifier, second, (str(subject.root), str(other)))
    return {names[0]: subject.classifier, names[1]: second}


def _labels(subject: Subject) -> tuple[str, ...]:
    return DEFAULT_LABELS if subject.classifier is None else subject.classifier.labels


@dataclass(frozen=True)
class _Answers:
    """What classifiers say of examples."""

    examples: Sequence[Example]
    name: str  # of the examples
    labels: list[Sequence[str]]  # by classifier


def _answers(test: Corpus | None, results: dict[str, Evaluation]) -> _Answers | None:
    """Of the test data, where it was scored."""
    if test is None or not results:
        return None
    return _Answers(test, "test instances", [result.predicted for result in results.values()])


def _training_answers(subject: Subject, classifiers: dict[str, Classifier]) -> _Answers | None:
    """Of the first training instances, where the run has kept them."""
    path = subject.root / "stages" / "corpus.jsonl"
    if not path.is_file() or len(classifiers) != 2:
        return None
    examples = read(path, labels=_labels(subject))[:_MOST_TRAINING]
    name = f"training instances (the first {_MOST_TRAINING:,} at most)"
    return _Answers(examples, name, [classifier.predicted_labels(examples) for classifier in classifiers.values()])


def _changes(classifiers: dict[str, Classifier], answers: _Answers | None) -> list[Section]:
    """What changed, if there are two to compare."""
    if answers is None or len(classifiers) != 2:
        return []
    judged = [BothAnswers(*each) for each in zip(answers.examples, *answers.labels, strict=True)]
    (name, now), (other, before) = classifiers.items()
    return [show_changes(judged, answers.name, (now, before), (name, other))]


def _notes(subject: Subject, test: Corpus | None) -> list[str]:
    """What the reader must know first."""
    notes = []
    if not subject.finished and subject.config is not None:
        far = "before its first epoch" if subject.classifier is None else "as far as it came"
        notes.append(f"This run is unfinished; it is shown {far}.")
    if test is None:
        notes.append("No test data was given (--data), so there are no scores and nothing about faithfulness.")
    return notes


def _card(subject: Subject) -> list[Section]:
    if not subject.card:
        return []
    body = Markup(f"<details><summary>README.md of the run</summary>\n<pre>{escape(subject.card)}</pre>\n</details>")
    return [Section("card", "Model card", body)]


def _assemble(subject: Subject, sections: Sequence[Section], notes: Sequence[str]) -> str:
    title = f"Report: {subject.name}"
    links = "".join(f'<li><a href="#{section.id}">{escape(section.title)}</a></li>' for section in sections)
    body = [
        Markup(f"<header>\n<h1>{escape(title)}</h1>"),
        *(Markup(f'<p class="warning">{escape(note)}</p>') for note in notes),
        Markup(f'<nav aria-label="contents"><ul>{links}</ul></nav>\n</header>\n<main>'),
        *(
            Markup(f'<section id="{section.id}">\n<h2>{escape(section.title)}</h2>\n{section.body.source}\n</section>')
            for section in sections
        ),
        Markup("</main>"),
    ]
    return page(title, PAGE_STYLE + HEAT_STYLE + REPORT_STYLE, join(body))
