"""Whether the heat maps can be trusted: faithfulness of a run's saliencies, beside another run's."""

from __future__ import annotations

from collections.abc import Mapping

from pssa import models
from pssa.data.example import Corpus
from pssa.errors import InputError
from pssa.evaluation.faithfulness import COLUMNS
from pssa.evaluation.intervals import AgainstChance
from pssa.report.markup import Cell, Markup, escape, join, table
from pssa.report.subject import Section
from pssa.runs import Classifier
from pssa.runs.explain import usual_saliency
from pssa.runs.trust import Trust, trust

__all__ = ["show_trust"]

# Every instance is read some fifty times, which takes an encoder long.
_MOST_OF_AN_ENCODER = 40
_MEASURES = ("comprehensiveness", "sufficiency")
_WAYS = {"mask": "hiding words", "deletion": "taking words out"}


def show_trust(classifiers: Mapping[str, Classifier], corpus: Corpus, most: int) -> Section:
    """Comprehensiveness and sufficiency of each run by name, by both ways of taking words away.

    :param most: instances to look at; fewer where that would take long.
    """
    reads = {models.reads(classifier.name) for classifier in classifiers.values()}
    limit = most if reads == {"words"} else min(most, _MOST_OF_AN_ENCODER)
    try:
        found = {name: _look(classifier, corpus, limit) for name, classifier in classifiers.items()}
    except InputError as error:
        return Section(
            "faithfulness", "Faithfulness", Markup(f'<p class="note">Not measured: {escape(str(error))}.</p>')
        )
    first = next(iter(found.values()))
    note = (
        f"{first.instances - first.left_out} instances of the test data, drawn at random where there are more. "
        "Comprehensiveness: what the predicted label's probability loses, in points, without the words that count most "
        "(high: they mattered). Sufficiency: what it loses when only they stay (low: they are enough). With 1, 2, 3 words, and "
        "as the mean over 1, 5, 10, 20 and 50 % of them (AOPC). In brackets the same for words in random order. "
        "A model that was trained on hidden words has seen them missing; taking words out is the fairer comparison."
    )
    tables = [_table(measure, way, found) for way in first.faithfulness for measure in _MEASURES]
    return Section("faithfulness", "Faithfulness", join([Markup(f'<p class="note">{escape(note)}</p>'), *tables]))


def _look(classifier: Classifier, corpus: Corpus, limit: int) -> Trust:
    return trust(classifier, corpus, (usual_saliency(classifier),), limit=limit)


def _table(measure: str, way: str, found: Mapping[str, Trust]) -> Markup:
    rows: list[list[Cell]] = [
        [f"{name}, {saliency}", *(_cell(getattr(result, measure)[column]) for column in COLUMNS)]
        for name, each in found.items()
        for saliency, result in each.faithfulness[way].items()
    ]
    heads = [f"{column} word{'s' * (column != '1')}" if column.isdigit() else column.upper() for column in COLUMNS]
    return table(f"{measure.capitalize()}, by {_WAYS.get(way, way)}", ("run", *heads), rows)


def _cell(judged: AgainstChance) -> Markup:
    value, control = judged.value, judged.control
    interval = f"95 % interval {100 * value.low:.1f} to {100 * value.high:.1f}"
    return Markup(f'<span title="{interval}">{100 * value.mean:.1f} ({100 * control.mean:.1f})</span>')
