"""The section about variants: right answers by kind, and mistakes as heat maps, an original beside its variant."""

from __future__ import annotations

import random
from collections.abc import Mapping

from pssa import models
from pssa.data.example import Corpus
from pssa.data.numbers import p_value, percent
from pssa.errors import InputError
from pssa.report.sections import ReportSection, Table, make_section
from pssa.runs import Classifier
from pssa.runs.explain import explain
from pssa.stress import compare_all_right, make_variants, stress
from pssa.stress.measure import choose_mistakes

_MAX_INSTANCES, _MAX_ENCODER_INSTANCES = 500, 100  # each is classified up to seven times
_N_MISTAKES = 6


def stress_section(classifiers: Mapping[str, Classifier], corpus: Corpus) -> ReportSection:
    """Count right answers to variants of some test instances for one or two runs by name; show mistakes of the first."""
    id, title = "stress", "Reversed and distracting opinions"
    has_encoder = any(models.uses_encoder(each.name) for each in classifiers.values())
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
