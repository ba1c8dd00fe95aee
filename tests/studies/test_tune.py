"""Tuning from beginning to end on a few instances: shared evidence is what would be mined alone, and the best can be trained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.experiments.rooms import FakeFindings, tiny_resources
from tests.studies.stand_in import StandIn

from pssa import models
from pssa.data.evidence import Evidence
from pssa.data.evidence_edit import keep_above, keep_iterations
from pssa.data.evidence_file import read_evidence
from pssa.data.read import Columns
from pssa.errors import InputError
from pssa.experiments import engines, provenance
from pssa.experiments.cells import Cell, Place, Training
from pssa.experiments.grid import DATA, Point, Study
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.resources import HowRead, Resources
from pssa.experiments.scope import Scope
from pssa.runs import Config
from pssa.studies.exhibit import Prose, Table
from pssa.studies.reproduce import Means, Recorded
from pssa.studies.tune import Tuned, exhibit_of, resources_of, tune

FIXED = (("epochs", 2), ("dimension", 8), ("learning_rate", 0.01), ("dev_fraction", 0.2))
NO_GATE = 9.0  # bits, more than any sentence here can have


@pytest.fixture
def resources(tmp_path: Path) -> Resources:
    """A file to tune on."""
    tiny = tiny_resources(tmp_path)
    return resources_of(tiny.sources["laptop"].train, None, None, "cpu")


def study(method: str, grid: Mapping[str, Sequence[Any]], **more: Any) -> Study:
    return Study("memnet", method, (grid,), (*FIXED, *more.items()))


def carry_out(found: Study, resources: Resources, out: Path, seeds: int = 1) -> Tuned:
    return tune(found, Scope(resources, seeds), out, Means(workers=1))


def outcome_of(found: Study, point: Point, resources: Resources, out: Path) -> Record:
    record = Recorded(Ledger.read(out / "cells.jsonl"), resources).of(found.cells(0)[point])
    assert record is not None
    return record


def test_a_study_is_an_exhibit_of_its_cells_with_their_baselines(resources: Resources) -> None:
    found = study("aw-as", {"gamma": [1, 2]})
    exhibit = exhibit_of(found)
    cells = list(dict.fromkeys(exhibit.cells(Scope(resources, 2))))
    assert len(cells) == 2 * (1 + 2)
    assert {cell.place.seed for cell in cells} == {0, 1}
    prose, table = exhibit.show(Scope(resources, 2), FakeFindings())
    assert isinstance(prose, Prose)
    assert isinstance(table, Table)


def test_only_a_part_of_the_training_file_is_ever_read(resources: Resources) -> None:
    source = resources.sources[DATA]
    assert (source.test, source.opinion_words) == (None, None)
    cells: list[Cell] = list(exhibit_of(study("aw-as", {"gamma": [1]})).cells(Scope(resources, 1)))
    assert all(cell.place.held_out and cell.place.data == DATA for cell in cells)


@pytest.mark.parametrize("name", ["train", "vectors"])
def test_a_file_that_does_not_exist_is_refused(tmp_path: Path, name: str) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("")
    files: dict[str, Path | None] = {"train": there, "vectors": None, "encoder": None}
    files[name] = tmp_path / "none"
    with pytest.raises(InputError, match=f"--{name} .*none does not exist"):
        resources_of(**files)  # type: ignore[arg-type]


def test_an_encoder_that_is_neither_a_folder_nor_a_name_is_refused(resources: Resources, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none' is neither a folder nor a name on the Hugging Face hub"):
        resources_of(resources.sources[DATA].train, None, str(tmp_path / "none"))


def test_an_encoder_of_the_hub_is_the_copy_that_is_here_and_keeps_its_name(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "snapshots" / "0a1b2c"
    copy.mkdir(parents=True)
    monkeypatch.setattr(models.Pretrained, "open", lambda name: SimpleNamespace(weights=str(copy)))
    train = resources.sources[DATA].train
    named, same = (resources_of(train, None, encoder, "cpu") for encoder in ("owner/encoder", str(copy)))
    assert (named.encoder, same.encoder, same.encoder_name) == (copy, copy, "")
    cell = Training(Place(DATA, "bertabsa_att", 0, held_out=True))
    assert named.key(cell) == same.key(cell)
    monkeypatch.setattr(engines, "carry_out", StandIn())
    tune(Study("bertabsa_att", "aw-as", ({"gamma": [1]},)), Scope(named, 1), tmp_path / "out", Means(workers=1))
    assert Config.from_toml(tmp_path / "out" / "best.toml").data.encoder == "owner/encoder"
    assert "the encoder `owner/encoder`" in (tmp_path / "out" / "tune.md").read_text()
    with pytest.raises(InputError, match=r"--encoder owner/encoder is for other models, and memnet reads words"):
        carry_out(study("aw-as", {"gamma": [1]}), named, tmp_path / "other")


def test_what_every_cell_would_stumble_over_is_refused_before_anything_is_written(
    resources: Resources, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with_encoder = Study("bertabsa_att", "aw-as", ({"gamma": [1]},))
    with pytest.raises(InputError, match="model bertabsa_att needs a pretrained encoder; name a folder or a hub name"):
        carry_out(with_encoder, resources, out)
    needless = resources_of(resources.sources[DATA].train, None, str(tmp_path), "cpu")
    with pytest.raises(InputError, match=r"--encoder .* is for other models, and memnet reads words; leave it out"):
        carry_out(study("aw-as", {"gamma": [1]}), needless, out)
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"bad\.jsonl, line 1"):
        carry_out(study("aw-as", {"gamma": [1]}), resources_of(tmp_path / "bad.jsonl", None, None), out)
    assert not out.exists()


def test_what_other_sources_made_is_not_told_as_fresh(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandIn()
    monkeypatch.setattr(engines, "carry_out", stand_in)
    found = study("aw-as", {"gamma": [1]})
    assert tune(found, Scope(resources, 1), tmp_path, Means(workers=1)).tuning.best is not None
    monkeypatch.setattr(provenance, "source_digest", lambda: "changed")
    stand_in.failing = {name: OSError() for name in stand_in.done}
    assert tune(found, Scope(resources, 1), tmp_path, Means(workers=1, fresh=True)).tuning.best is None


def test_a_file_with_other_names_is_another_file_and_the_best_settings_name_them(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = resources.sources[DATA].train, tmp_path / "theirs.jsonl"
    theirs.write_text(ours.read_text().replace('"text":', '"review":'))
    named, place = HowRead(columns=Columns.of("text=review")), Place(DATA, "memnet", 0, held_out=True)
    found = resources_of(theirs, None, None, "cpu", named)
    assert found.corpora(place) == resources.corpora(place)
    same = resources_of(ours, None, None, "cpu", HowRead(columns=Columns.of("text=text")))
    assert same.key(Training(place)) != resources.key(Training(place))
    monkeypatch.setattr(engines, "carry_out", StandIn())
    tune(study("aw-as", {"gamma": [1]}), Scope(found, 1), tmp_path / "out", Means(workers=1))
    assert Config.from_toml(tmp_path / "out" / "best.toml").data.columns == {"text": "review"}


def test_labels_of_ones_own_are_read_and_stand_in_the_best_settings(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs.txt"
    whole = resources.sources[DATA].train.read_text()
    for ours, own in (("positive", "good"), ("negative", "bad"), ("neutral", "mixed")):
        whole = whole.replace(f'"label": "{ours}"', f'"label": "{own}"')
    theirs.write_text(whole)
    reading = HowRead(format="jsonl", labels=("good", "bad", "mixed"), conflict="error")
    found = resources_of(theirs, None, None, "cpu", reading)
    train, _ = found.corpora(Place(DATA, "memnet", 0, held_out=True))
    assert (train.labels, {example.label for example in train}) == (reading.labels, set(reading.labels))
    monkeypatch.setattr(engines, "carry_out", StandIn())
    tune(study("aw-as", {"gamma": [1]}), Scope(found, 1), tmp_path / "out", Means(workers=1))
    data = Config.from_toml(tmp_path / "out" / "best.toml").data
    assert (data.format, data.labels, data.conflict) == ("jsonl", reading.labels, "error")


@pytest.mark.slow
def test_everything_is_written_reused_and_the_best_can_be_trained(resources: Resources, tmp_path: Path) -> None:
    found, out = study("pg-as", {"gamma": [0.5, 50], "iterations": [1, 2]}, epsilon=NO_GATE), tmp_path / "out"
    tuned = carry_out(found, resources, out, seeds=2)
    assert tuned.report.is_well
    # For each seed a baseline, one mining of two rounds, and four trainings.
    assert tuned.report.made == len((out / "cells.jsonl").read_text().splitlines()) == 2 * (1 + 1 + 4)
    assert len(list((out / "evidence").iterdir())) == 2
    assert not (out / "weights").exists()
    plain = json.loads((out / "tune.json").read_text())
    assert (plain["tried"], plain["seeds"], len(plain["settings"])) == (4, 2, 4)
    assert plain["best"] in plain["settings"]
    assert all(len(each["scores"]) == 2 for each in plain["settings"])
    assert "4 settings were tried with 2 seeds" in (out / "tune.md").read_text()

    config = Config.from_toml(out / "best.toml")
    assert (config.model, config.method, config.epochs, config.data.dimension) == ("memnet", "pg-as", 2, 8)
    assert {"gamma": config.supervision.gamma, "iterations": config.mining.iterations} == plain["best"]["settings"]
    assert Path(config.data.train or "") == resources.sources[DATA].train
    assert (out / "best.toml").read_text().startswith("# 4 settings were tried")

    more = study("pg-as", {"gamma": [0.5, 50, 5], "iterations": [1, 2]}, epsilon=NO_GATE)
    again = carry_out(more, resources, out, seeds=2)
    assert again.report.made == 2 * 2  # a third gamma with one and two rounds, for each seed


def mined_in(out: Path) -> Evidence:
    """The one mining there is."""
    (path,) = (out / "evidence").iterdir()
    return read_evidence(path)


@pytest.mark.slow
def test_fewer_rounds_of_shared_evidence_are_what_mining_them_alone_gives(resources: Resources, tmp_path: Path) -> None:
    shared = study("aw-as", {"iterations": [1, 3]}, gamma=20.0, epsilon=NO_GATE)
    alone = study("aw-as", {"iterations": [1]}, gamma=20.0, epsilon=NO_GATE)
    for name, found in (("shared", shared), ("alone", alone)):
        carry_out(found, resources, tmp_path / name)
    several, one = mined_in(tmp_path / "shared"), mined_in(tmp_path / "alone")
    assert several.examples != one.examples
    assert keep_iterations(several, 1).examples == one.examples
    ours = outcome_of(shared, (("iterations", 1),), resources, tmp_path / "shared")
    assert ours["predicted"] == outcome_of(alone, (("iterations", 1),), resources, tmp_path / "alone")["predicted"]


@pytest.mark.slow
def test_a_consensus_is_mined_once_for_every_threshold_and_number_of_words(
    resources: Resources, tmp_path: Path
) -> None:
    judges = {"consensus_models": 2, "consensus_folds": 2, "consensus_right": 1, "gamma": 50.0}
    grid: dict[str, Sequence[Any]] = {"consensus_threshold": [0.01, 0.07], "consensus_words": [1, 2]}
    shared = study("consensus", grid | {"weighting": ["equal", "confidence"]}, **judges)
    assert carry_out(shared, resources, tmp_path / "shared").report.made == 1 + 1 + 8
    alone = study("consensus", {"consensus_threshold": [0.07], "consensus_words": [1]}, **judges)
    carry_out(alone, resources, tmp_path / "alone")
    many, few = mined_in(tmp_path / "shared"), mined_in(tmp_path / "alone")
    assert 0 < sum(map(bool, (example.findings for example in few.examples))) < len(few.examples)
    assert keep_above(keep_iterations(many, 1), 0.07).examples == few.examples
    point = (("consensus_threshold", 0.07), ("consensus_words", 1))
    ours = outcome_of(shared, (*point, ("weighting", "equal")), resources, tmp_path / "shared")
    assert ours["predicted"] == outcome_of(alone, point, resources, tmp_path / "alone")["predicted"]
