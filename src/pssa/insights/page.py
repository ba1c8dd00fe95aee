"""The page: findings as one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path

from jinja2 import Environment

from pssa.data.example import Corpus
from pssa.display import percent
from pssa.evaluation.shares import ShareEstimator
from pssa.insights.findings import Findings
from pssa.insights.mentions import OVERALL
from pssa.predict.source import CsvStyle
from pssa.report.html import make_environment
from pssa.runs import Classifier
from pssa.runs.input_profile import is_unfounded
from pssa.runs.run_metrics import held_out_confusion

_TEMPLATES = Path(__file__).parent / "templates"
_ORDER = {"good": 0, "other": 1, "bad": 2}  # of labels in a bar
_N_SUMMARY = 4  # aspects under likes and under dislikes
_N_SENTENCES = 8  # differences and changes in words
_N_COMPARED = 15  # aspects in the table of groups
_SHORT_LIST = 12  # spellings
_MAX_TABLE = 2000  # aspects in the table that the page contains
_N_TONES = 6  # of labels that are neither good nor bad


@dataclass(frozen=True)
class PageFacts:
    """What the page says beside its findings."""

    title: str
    model: str  # in words
    errors: str  # how intervals account for the classifier's errors, or why not
    trust: str = ""  # what the model was trained on, how much it understood, how far to trust the shares
    is_corrected: bool = False  # whether the first shares are corrected for the classifier's errors
    by: str = ""
    date: str = ""
    n_skipped: int = 0  # rows that could not be used
    reason: str = ""  # of the first of them
    style: CsvStyle = field(default_factory=CsvStyle)  # of the table to download


def render_page(findings: Findings, facts: PageFacts) -> str:
    """Return the page."""
    others = count()
    kinds = [one.kind for one in findings.whole.labels]
    marks = {(one.aspect, one.value, one.label): one for one in findings.differences}
    if len(findings.tally.values) == 2:  # a difference is marked in both groups
        other = findings.tally.values[1]
        for one in findings.differences:
            mirrored = replace(one, value=other, share=one.elsewhere, elsewhere=one.share)
            marks[one.aspect, other, one.label] = mirrored
    order = sorted(range(len(findings.labels)), key=lambda place: _ORDER[findings.whole.labels[place].kind])
    table = base64.b64encode(facts.style.encode(findings.table(_MAX_TABLE))).decode("ascii")
    return (
        _environment()
        .get_template("insights.html.jinja")
        .render(
            title=facts.title,
            facts=facts,
            found=findings,
            order=order,
            tones=[kind if kind != "other" else f"other-{next(others) % _N_TONES}" for kind in kinds],  # colours
            n_in_table=min(_MAX_TABLE, len(findings.aspects) + len(findings.rest)),
            likes=findings.stand_out("good", _N_SUMMARY),
            dislikes=findings.stand_out("bad", _N_SUMMARY),
            contested=findings.contested(_N_SUMMARY),
            ranks=_ranks(findings),
            marks=marks,
            differences=findings.differences[:_N_SENTENCES],
            changes=findings.changes[:_N_SENTENCES],
            is_unfounded=is_unfounded,
            compared=(findings.whole, *findings.aspects[:_N_COMPARED]),
            overall=OVERALL,
            short_list=_SHORT_LIST,
            table=f"data:text/csv;charset=utf-8;base64,{table}",
        )
    )


@cache
def _environment() -> Environment:
    environment = make_environment(_TEMPLATES)
    environment.filters["counted"] = lambda number, noun: f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
    environment.globals["interval"] = lambda share: f"{100 * share.low:.0f}–{100 * share.high:.0f} %"
    return environment


def _ranks(findings: Findings) -> list[dict[str, int]]:
    """Return the place of each aspect in each order that the reader can choose."""
    places = range(len(findings.aspects))
    orders: dict[str, list[int]] = {"often": list(places)}
    for name, kind in (("well", "good"), ("badly", "bad")):
        if findings.whole.of_kind(kind) is not None:
            # By the lower end of the interval: a high share of few mentions does not come first.
            found = [aspect.of_kind(kind) for aspect in findings.aspects]
            orders[name] = sorted(places, key=lambda place: (-one.share.low if (one := found[place]) else 0.0, place))
    return [{name: ordered.index(place) for name, ordered in orders.items()} for place in places]


@dataclass(frozen=True)
class ErrorRates:
    """The confusion matrix of a classifier, and where it is from."""

    confusion: tuple[tuple[int, ...], ...] | None  # gold label by predicted label; None: unknown
    source: str = ""

    @classmethod
    def of_run(cls, run: Path, labels: Sequence[str]) -> ErrorRates:
        """Read what the run has kept; unknown if there is nothing of use."""
        return cls(*held_out_confusion(run, labels))

    @classmethod
    def measured(cls, classifier: Classifier, corpus: Corpus, name: str) -> ErrorRates:
        """Measure them on labelled data that the classifier was not trained on."""
        from pssa.runs.evaluate import evaluate

        return cls(evaluate(classifier, corpus).scores.confusion, name)

    def describe(self, estimator: ShareEstimator) -> str:
        """Return in words how intervals account for the classifier's errors, or why they do not."""
        if self.confusion is None or not estimator.is_corrected:
            why = estimator.reason or "the run has no confusion matrix of held-out data"
            return (
                "The 95 % intervals account only for the number of reviews. They do not account for the classifier's"
                f" mistakes, because its error rates are not known well enough: {why}."
            )
        n_all = sum(map(sum, self.confusion))
        n_right = sum(row[place] for place, row in enumerate(self.confusion))
        return (
            "The 95 % intervals account for the number of reviews and for mistakes such as the classifier makes on"
            f" {self.source}, where {percent(n_right / n_all)} of {n_all:,} labels are right. On other reviews it can make"
            " more; labelled reviews of your own tell (--held-out)."
        )
