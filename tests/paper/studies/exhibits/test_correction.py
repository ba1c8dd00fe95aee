"""The exhibit about corrections: made-up scores, and a real one in miniature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.paper.experiments.rooms import FakeLookup, tiny_resources
from tests.paper.studies.exhibits.looked import marked_scope
from tests.paper.studies.exhibits.toys import carried_out, row_of

from paper.experiments.cells import Cell
from paper.experiments.ledger import Record
from paper.experiments.resources import Resources, Scope
from paper.studies.exhibit import Figure
from paper.studies.exhibits import correction, find
from pssa.data import embedded

EXHIBIT = find("correction")


def two_domains(scope: Scope) -> Scope:
    source = scope.resources.sources["laptop"]
    return replace(scope, resources=replace(scope.resources, sources={"laptop": source, "rest": source}))


def test_orders_are_compared_at_the_same_number_and_at_half_of_it(tmp_path: Path) -> None:
    scope = two_domains(marked_scope(tmp_path, "memnet", seeds=2))
    random = dict(zip((0, 25, 50, 100, 200, 400), (0.50, 0.50, 0.51, 0.52, 0.53, 0.54), strict=True))
    records: dict[Cell, Record] = {}
    for place in scope.places("memnet", "laptop"):
        for count, score in random.items():
            records[correction._training(place, count, "random")] = {"macro_f1": score}
            if count:
                records[correction._training(place, count, "useful")] = {"macro_f1": score + 0.02 + 0.01 * place.seed}
    table, figure, *_ = EXHIBIT.show(scope, FakeLookup(records))
    assert row_of(table, "in domain") == (
        *("+2.00 ± 0.00", "+4.50 ± 0.50", "+2.50 ± 0.50", "+1.50 ± 0.50"),
        None,
    )
    assert isinstance(figure, Figure)
    lines = dict(figure.panels)["MN, LAPTOP"]
    assert [(line.name, line.x[0], line.y[1]) for line in lines] == [
        ("random order", 1.0, 50.0),
        ("most useful first", 1.0, 52.5),
    ]


def marked_resources(folder: Path) -> Resources:
    """The tiny resources twice, as two domains, with marked words: the last candidate of each of the first instances."""
    resources = tiny_resources(folder, 40)
    words = folder / "opinion_words"
    words.mkdir()
    for part, instances in (("train", 40), ("test", 20)):
        lines = ["s_id\tsentence\ttarget_tags\topinion_words_tags"]
        for example in embedded.load(part)[:instances]:
            last = max(example.candidates)
            targets = ["\\B" if place in range(*example.aspect) else "\\O" for place in range(len(example.words))]
            opinions = ["\\B" if place == last else "\\O" for place in range(len(example.words))]
            tagged = (" ".join(map("".join, zip(example.words, tags, strict=True))) for tags in (targets, opinions))
            lines.append("\t".join([example.id, " ".join(example.words), *tagged]))
        (words / f"{part}.tsv").write_text("\n".join(lines) + "\n")
    source = replace(resources.sources["laptop"], opinion_words=words)
    return replace(resources, sources={"laptop": source, "rest": source})


@pytest.mark.slow
def test_corrections_are_trained_and_measured_for_real(tmp_path: Path) -> None:
    resources = marked_resources(tmp_path)
    scope = Scope(resources, 1, ("memnet",))
    (place,) = scope.places("memnet", "laptop")
    trainings = [correction._training(place, count, order) for count, order in ((0, "random"), (25, "useful"))]
    cells = [measure.cell(training) for training in trainings for measure in correction._MEASURES]
    lookup = carried_out(cells, resources, tmp_path / "out")
    assert set(lookup.records) == set(cells)
    stress = lookup(cells[-1])
    assert stress is not None
    assert stress["found"]["instances"] == 20 == len(stress["found"]["right"])
