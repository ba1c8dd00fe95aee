"""Cells carried out for real, on forty instances: they agree with `pssa train`, and leave what later cells need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.paper.experiments.rooms import SETTINGS, tiny_resources

from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, settings
from paper.experiments.comparison import labels_of
from paper.experiments.ledger import Ledger
from paper.experiments.resources import DataSource, Resources
from paper.experiments.schedule import CellSchedule, open_pool
from paper.experiments.workspace import Workspace
from pssa.data import Corpus, embedded, write
from pssa.data.evidence_file import read_evidence
from pssa.data.io import ReadOptions
from pssa.evaluation import score
from pssa.runs import load
from pssa.runs.training_run import write_run

pytestmark = pytest.mark.slow
HERE = Place("laptop", "memnet", 0)
SOME = embedded.load("train")[:40]


def records_of(room: Workspace, *cells: Cell) -> list[dict[str, object]]:
    with Ledger.open(room.folder / "cells.jsonl") as ledger, open_pool("local", 1) as pool:
        outcome = CellSchedule(room, ledger).execute(cells, pool)
        assert not outcome.failures
        return [ledger.find(room.key(cell)) or {} for cell in cells]


@pytest.fixture
def room(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "out", tiny_resources(tmp_path))


@pytest.mark.parametrize(
    ("mining", "final"),
    [({}, {}), ({"round_epochs": 0}, {"final_start": "initial"}), ({}, {"final_epochs": "search"})],
    ids=["default", "going on", "searched"],
)
def test_the_paper_s_method_in_cells_is_the_method_of_pssa_train(
    room: Workspace, tmp_path: Path, mining: dict[str, Any], final: dict[str, Any]
) -> None:
    resources = room.resources
    mined = Mining(HERE, "aw-as", settings(**mining))
    record, evidence = records_of(room, Training(HERE, evidence=mined, settings=settings(**final)), mined)
    source = resources.sources["laptop"]
    run = write_run(
        source.train,
        tmp_path / "run",
        method="aw-as",
        model="memnet",
        vectors=str(resources.vectors),
        device="cpu",
        **resources.settings,
        **mining,
        **final,
    )
    classifier = load(run)
    _, test = resources.corpora(HERE)
    predicted = classifier.torch.predicted_labels(test.examples)
    assert record["predicted"] == "".join(str(classifier.labels.index(label)) for label in predicted)
    assert record["accuracy"] == score([example.label or "" for example in test], predicted, classifier.labels).accuracy
    assert read_evidence(room.evidence(mined)).examples == read_evidence(run / "evidence.jsonl").examples
    assert evidence["instances"] == 40
    assert record["gamma"] == 2.0


def test_a_model_is_tested_on_another_data_set_without_training_it_again(room: Workspace) -> None:
    here = room.resources.sources["laptop"]
    there = replace(here, test=here.train)
    room = replace(room, resources=replace(room.resources, sources={"laptop": here, "rest": there}))
    training = Training(HERE, settings=settings(augment="contrast"))
    mined = Mining(HERE, "consensus", settings(consensus_models=2, consensus_folds=2, consensus_threshold=0.0))
    random = Mining(HERE, "random", mined.settings)
    own, other, record, _ = records_of(
        room, Analysis(training, "scores"), Analysis(training, "scores", on="rest"), training, random
    )
    assert own["found"]["predicted"] == record["predicted"]  # type: ignore[index]
    assert len(other["found"]["predicted"]) == 40  # type: ignore[index]
    assert own["key"] != other["key"]
    agreed, drawn = (read_evidence(room.evidence(mining)).examples for mining in (mined, random))
    assert [len(each.findings) for each in drawn] == [len(each.findings) for each in agreed]
    assert drawn != agreed


def test_predictions_of_more_labels_than_there_are_digits_are_told_apart(tmp_path: Path) -> None:
    labels = tuple(f"kind {number}" for number in range(11))
    path = tmp_path / "train.jsonl"
    # Most are of the last kind, which a model learns at once.
    examples = (replace(example, label=labels[min(number, 10)]) for number, example in enumerate(SOME))
    write(Corpus(tuple(examples), labels), path)
    sources = {"laptop": DataSource(path, read_options=ReadOptions(labels=labels))}
    room = Workspace(tmp_path / "out", Resources(sources, device="cpu", settings=SETTINGS))
    here = Place("laptop", "memnet", 0, held_out=True)
    (record,) = records_of(room, Training(here))
    _, judged = room.resources.corpora(here)
    predicted = labels_of(record)
    assert "kind 10" in predicted
    assert record["accuracy"] == score([example.label or "" for example in judged], predicted, labels).accuracy


def test_a_training_tells_what_choosing_on_test_would_report_but_not_on_held_out_data(room: Workspace) -> None:
    base, held_out = records_of(room, Training(HERE), Training(Place("laptop", "memnet", 0, held_out=True)))
    curve = base["curve"]
    assert isinstance(curve, list)
    assert len(curve) == 2
    assert tuple(curve[-1]) == (base["accuracy"], base["macro_f1"])
    assert held_out["curve"] == []
    assert held_out["instances"] == 32


def test_a_penalty_without_weight_changes_nothing_but_the_stage(room: Workspace) -> None:
    mined = Mining(HERE, "aw-as")
    without, with_it = records_of(
        room,
        Training(HERE, evidence=mined, settings=settings(gamma=0.0)),
        Training(HERE, evidence=mined, settings=settings(gamma=0.0, words="active")),
    )
    assert without["curve"] == with_it["curve"]
