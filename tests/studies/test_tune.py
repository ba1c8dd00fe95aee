"""Tuning: on scores made up by hand, on a stand-in, and for real."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.experiments.rooms import FakeLookup, tiny_resources
from tests.studies.readings import as_read
from tests.studies.stand_in import StandIn

from pssa import models
from pssa.data.evidence import Evidence, keep_above, keep_iterations
from pssa.data.evidence_file import read_evidence
from pssa.data.read_options import ReadOptions
from pssa.data.rows import Columns
from pssa.errors import InputError
from pssa.experiments import provenance, schedule
from pssa.experiments.cells import Cell, Place, Training
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.resources import Resources, Scope
from pssa.experiments.tuning import DATA, GridResult, GridSearch, Point
from pssa.runs import Config
from pssa.studies.exhibit import Table
from pssa.studies.reproduce import ExecutionOptions, Reproduction
from pssa.studies.tune import describe, exhibit_of, settings_table, tune, tuning_resources

FIXED = (("epochs", 2), ("dimension", 8), ("learning_rate", 0.01), ("dev_fraction", 0.2))
NO_GATE = 9.0  # bits, more than any sentence here can have


@pytest.fixture
def resources(tmp_path: Path) -> Resources:
    """A file to tune on."""
    tiny = tiny_resources(tmp_path)
    return tuning_resources(tiny.sources["laptop"].train, None, None, "cpu")


def search(method: str, grid: Mapping[str, Sequence[Any]], **more: Any) -> GridSearch:
    return GridSearch("memnet", method, (grid,), (*FIXED, *more.items()))


def run_search(found: GridSearch, resources: Resources, out: Path, seeds: int = 1) -> tuple[GridResult, Reproduction]:
    return tune(found, Scope(resources, seeds), out, ExecutionOptions(workers=1))


def outcome_of(found: GridSearch, point: Point, resources: Resources, out: Path) -> Record:
    record = resources.lookup_in(Ledger.read(out / "cells.jsonl"))(found.cells(0)[point])
    assert record is not None
    return record


def test_a_study_is_an_exhibit_of_its_cells_with_their_baselines(resources: Resources) -> None:
    found = search("aw-as", {"gamma": [1, 2]})
    exhibit = exhibit_of(found)
    cells = list(dict.fromkeys(exhibit.cells(Scope(resources, 2))))
    assert len(cells) == 2 * (1 + 2)
    assert {cell.place.seed for cell in cells} == {0, 1}
    prose, table = exhibit.show(Scope(resources, 2), FakeLookup())
    assert isinstance(prose, str)
    assert isinstance(table, Table)


def test_only_a_part_of_the_training_file_is_ever_read(resources: Resources) -> None:
    source = resources.sources[DATA]
    assert (source.test, source.opinion_words) == (None, None)
    cells: list[Cell] = list(exhibit_of(search("aw-as", {"gamma": [1]})).cells(Scope(resources, 1)))
    assert all(cell.place.held_out and cell.place.data == DATA for cell in cells)


@pytest.mark.parametrize("name", ["train", "vectors"])
def test_a_file_that_does_not_exist_is_refused(tmp_path: Path, name: str) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("")
    files: dict[str, Path | None] = {"train": there, "vectors": None, "encoder": None}
    files[name] = tmp_path / "none"
    with pytest.raises(InputError, match=f"{name} .*none does not exist"):
        tuning_resources(**files)  # type: ignore[arg-type]


def test_an_encoder_that_is_neither_a_folder_nor_a_name_is_refused(resources: Resources, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none' is neither a folder nor a name on the Hugging Face hub"):
        tuning_resources(resources.sources[DATA].train, None, str(tmp_path / "none"))


def test_an_encoder_of_the_hub_is_the_copy_that_is_here_and_keeps_its_name(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "snapshots" / "0a1b2c"
    copy.mkdir(parents=True)
    monkeypatch.setattr(models.Pretrained, "open", lambda name: SimpleNamespace(weights=str(copy)))
    train = resources.sources[DATA].train
    named, same = (tuning_resources(train, None, encoder, "cpu") for encoder in ("owner/encoder", str(copy)))
    assert (named.encoder, same.encoder, same.encoder_name) == (copy, copy, "")
    cell = Training(Place(DATA, "bertabsa_att", 0, held_out=True))
    assert named.key(cell) == same.key(cell)
    monkeypatch.setattr(schedule, "execute_cell", StandIn())
    tune(
        GridSearch("bertabsa_att", "aw-as", ({"gamma": [1]},)),
        Scope(named, 1),
        tmp_path / "out",
        ExecutionOptions(workers=1),
    )
    assert Config.from_toml(tmp_path / "out" / "best.toml").data.encoder == "owner/encoder"
    assert "the encoder `owner/encoder`" in (tmp_path / "out" / "tune.md").read_text()
    with pytest.raises(InputError, match=r"encoder owner/encoder is for other models, and memnet reads words"):
        run_search(search("aw-as", {"gamma": [1]}), named, tmp_path / "other")


def test_what_every_cell_would_stumble_over_is_refused_before_anything_is_written(
    resources: Resources, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with_encoder = GridSearch("bertabsa_att", "aw-as", ({"gamma": [1]},))
    with pytest.raises(InputError, match="model bertabsa_att needs a pretrained encoder"):
        run_search(with_encoder, resources, out)
    needless = tuning_resources(resources.sources[DATA].train, None, str(tmp_path), "cpu")
    with pytest.raises(InputError, match=r"encoder .* is for other models, and memnet reads words; leave it out"):
        run_search(search("aw-as", {"gamma": [1]}), needless, out)
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"bad\.jsonl, line 1"):
        run_search(search("aw-as", {"gamma": [1]}), tuning_resources(tmp_path / "bad.jsonl", None, None), out)
    assert not out.exists()


def test_what_other_sources_made_is_not_told_as_fresh(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandIn()
    monkeypatch.setattr(schedule, "execute_cell", stand_in)
    found = search("aw-as", {"gamma": [1]})
    assert tune(found, Scope(resources, 1), tmp_path, ExecutionOptions(workers=1))[0].best is not None
    monkeypatch.setattr(provenance, "source_digest", lambda: "changed")
    stand_in.failing = {name: OSError() for name in stand_in.done}
    assert tune(found, Scope(resources, 1), tmp_path, ExecutionOptions(workers=1, fresh=True))[0].best is None


def test_a_file_with_other_names_is_another_file_and_the_best_settings_name_them(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = resources.sources[DATA].train, tmp_path / "theirs.jsonl"
    theirs.write_text(ours.read_text().replace('"text":', '"review":'))
    named, place = ReadOptions(columns=Columns.of("text=review")), Place(DATA, "memnet", 0, held_out=True)
    found = tuning_resources(theirs, None, None, "cpu", named)
    assert found.corpora(place) == resources.corpora(place)
    same = tuning_resources(ours, None, None, "cpu", ReadOptions(columns=Columns.of("text=text")))
    assert same.key(Training(place)) != resources.key(Training(place))
    monkeypatch.setattr(schedule, "execute_cell", StandIn())
    tune(search("aw-as", {"gamma": [1]}), Scope(found, 1), tmp_path / "out", ExecutionOptions(workers=1))
    assert Config.from_toml(tmp_path / "out" / "best.toml").data.columns == {"text": "review"}


def test_labels_of_ones_own_are_read_and_stand_in_the_best_settings(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs.txt"
    whole = resources.sources[DATA].train.read_text()
    for ours, own in (("positive", "good"), ("negative", "bad"), ("neutral", "mixed")):
        whole = whole.replace(f'"label": "{ours}"', f'"label": "{own}"')
    theirs.write_text(whole)
    reading = ReadOptions(format="jsonl", labels=("good", "bad", "mixed"), conflict="error")
    found = tuning_resources(theirs, None, None, "cpu", reading)
    train, _ = found.corpora(Place(DATA, "memnet", 0, held_out=True))
    assert (train.labels, {example.label for example in train}) == (reading.labels, set(reading.labels))
    monkeypatch.setattr(schedule, "execute_cell", StandIn())
    tune(search("aw-as", {"gamma": [1]}), Scope(found, 1), tmp_path / "out", ExecutionOptions(workers=1))
    data = Config.from_toml(tmp_path / "out" / "best.toml").data
    assert (data.format, data.labels, data.conflict) == ("jsonl", reading.labels, "error")


@pytest.mark.slow
def test_everything_is_written_reused_and_the_best_can_be_trained(resources: Resources, tmp_path: Path) -> None:
    found, out = search("pg-as", {"gamma": [0.5, 50], "iterations": [1, 2]}, epsilon=NO_GATE), tmp_path / "out"
    tuned = run_search(found, resources, out, seeds=2)
    assert tuned[1].is_complete
    # For each seed a baseline, one mining of two rounds, and four trainings.
    assert tuned[1].made == len((out / "cells.jsonl").read_text().splitlines()) == 2 * (1 + 1 + 4)
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

    more = search("pg-as", {"gamma": [0.5, 50, 5], "iterations": [1, 2]}, epsilon=NO_GATE)
    again = run_search(more, resources, out, seeds=2)
    assert again[1].made == 2 * 2  # a third gamma with one and two rounds, for each seed


def mined_in(out: Path) -> Evidence:
    """The one mining there is."""
    (path,) = (out / "evidence").iterdir()
    return read_evidence(path)


@pytest.mark.slow
def test_fewer_rounds_of_shared_evidence_are_what_mining_them_alone_gives(resources: Resources, tmp_path: Path) -> None:
    shared = search("aw-as", {"iterations": [1, 3]}, gamma=20.0, epsilon=NO_GATE)
    alone = search("aw-as", {"iterations": [1]}, gamma=20.0, epsilon=NO_GATE)
    for name, found in (("shared", shared), ("alone", alone)):
        run_search(found, resources, tmp_path / name)
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
    shared = search("consensus", grid | {"weighting": ["equal", "confidence"]}, **judges)
    assert run_search(shared, resources, tmp_path / "shared")[1].made == 1 + 1 + 8
    alone = search("consensus", {"consensus_threshold": [0.07], "consensus_words": [1]}, **judges)
    run_search(alone, resources, tmp_path / "alone")
    many, few = mined_in(tmp_path / "shared"), mined_in(tmp_path / "alone")
    assert 0 < sum(map(bool, (example.findings for example in few.examples))) < len(few.examples)
    assert keep_above(keep_iterations(many, 1), 0.07).examples == few.examples
    point = (("consensus_threshold", 0.07), ("consensus_words", 1))
    ours = outcome_of(shared, (*point, ("weighting", "equal")), resources, tmp_path / "shared")
    assert ours["predicted"] == outcome_of(alone, point, resources, tmp_path / "alone")["predicted"]


SEARCH = GridSearch("memnet", "aw-as", ({"gamma": [1.0, 4.0]},))
ONE, FOUR = ((("gamma", 1.0),), (("gamma", 4.0),))


def record(macro_f1: float, accuracy: float = 0.5) -> Record:
    return {"accuracy": accuracy, "macro_f1": macro_f1}


def scored(baseline: list[float], one: list[float], four: list[float]) -> FakeLookup:
    """Macro-F1 by seed; a negative one is missing."""
    records: dict[Cell, Record] = {}
    for seed, values in enumerate(zip(baseline, one, four, strict=True)):
        cells = SEARCH.cells(seed)
        for cell, value in zip((Training(cells[ONE].place), cells[ONE], cells[FOUR]), values, strict=True):
            if value >= 0:
                records[cell] = record(value)
    return FakeLookup(records)


# Gamma 1 gains 10, 0 and 2 points, gamma 4 gains -10, 20 and 4.
LUCKY = scored([0.5, 0.5, 0.5], [0.6, 0.5, 0.52], [0.4, 0.7, 0.54])


def test_the_best_has_the_best_mean_and_its_gain_is_over_the_baseline_of_the_same_seeds() -> None:
    result = GridResult.of(SEARCH, 3, LUCKY)
    best = result.best
    assert best is not None
    assert best.point == FOUR
    assert best.mean("macro_f1") == pytest.approx(164 / 3)
    assert best.gains("macro_f1") == pytest.approx({0: -10, 1: 20, 2: 4})
    assert best.gain("macro_f1") == pytest.approx(14 / 3)


def test_what_choosing_adds_is_taken_away_by_judging_on_a_seed_that_did_not_choose() -> None:
    # Without seed 0, gamma 4 is best (62 against 51) and loses 10 there; without seed 1, gamma 1 (56 against 47) and gains
    # nothing; without seed 2, both have 55, so that gamma 1, which was named first, is chosen and gains 2.
    assert GridResult.of(SEARCH, 3, LUCKY).honest_gain == pytest.approx((-10 + 0 + 2) / 3)


def test_the_words_say_how_many_were_tried_and_that_the_best_is_optimistic() -> None:
    text = describe(GridResult.of(SEARCH, 3, LUCKY))
    assert text.startswith("2 settings were tried with 3 seeds and evaluated on a fifth of train, held out by sentence")
    assert "no test file was opened" in text
    assert (
        "Best by macro-F1: gamma=4, 54.67 ± 15.01, +4.67 over the baseline, better than it with 2 of 3 seeds." in text
    )
    assert "The best of many is optimistic" in text
    assert "the gain is -2.67 on average" in text
    assert "No setting beats its baseline" not in text


def test_it_is_said_plainly_where_nothing_helps() -> None:
    text = describe(GridResult.of(SEARCH, 2, scored([0.5, 0.5], [0.4, 0.6], [0.4, 0.5])))
    assert "Best by macro-F1: gamma=1" in text
    assert "No setting beats its baseline on average." in text
    assert "share this mean" not in text


@pytest.mark.parametrize(("one", "helps"), [([0.4, 0.6], False), ([0.5, 0.5], False), ([0.5, 0.6], True)])
def test_the_best_helps_where_it_is_better_than_its_baseline(one: list[float], helps: bool) -> None:
    assert GridResult.of(SEARCH, 2, scored([0.5, 0.5], one, [0.1, 0.1])).helps is helps
    assert not GridResult.of(SEARCH, 2, FakeLookup()).helps


def test_settings_that_are_equal_are_said_to_be() -> None:
    result = GridResult.of(SEARCH, 3, scored([0.5, 0.5, 0.5], [0.6, 0.7, 0.8], [0.8, 0.6, 0.7]))
    assert result.n_best == 2
    assert "2 settings share this mean." in describe(result)


def test_the_table_has_the_baseline_first_and_then_the_best() -> None:
    table = settings_table(GridResult.of(SEARCH, 3, LUCKY))
    assert table.columns == ("", "gamma", "seeds", "accuracy", "macro-F1", "gain", "better with")
    assert tuple(map(as_read, table.rows)) == (
        ("baseline", None, 3, "50.00 ± 0.00", "50.00 ± 0.00", None, None),
        ("best", "4", 3, "50.00 ± 0.00", "54.67 ± 15.01", "+4.67 ± 15.01", "2 of 3"),
        ("", "1", 3, "50.00 ± 0.00", "54.00 ± 5.29", "+4.00 ± 5.29", "2 of 3"),
    )


def test_a_setting_that_lacks_a_seed_cannot_be_best_and_comes_last() -> None:
    result = GridResult.of(SEARCH, 2, scored([0.5, 0.5], [0.4, 0.4], [0.9, -1]))
    assert result.best is not None
    assert result.best.point == ONE
    assert result.honest_gain is None
    assert [row[:3] for row in settings_table(result).rows] == [("baseline", None, 2), ("best", "1", 2), ("", "4", 1)]


def test_without_a_baseline_nothing_is_gained_and_nothing_is_best() -> None:
    result = GridResult.of(SEARCH, 1, scored([-1], [0.4], [0.5]))
    assert result.best is None
    assert describe(result).endswith("None of them has an outcome for every seed.")
    assert [as_read(row[-2:]) for row in settings_table(result).rows] == [(None, None)] * 3


def test_nothing_carried_out_is_an_empty_table() -> None:
    rows = settings_table(GridResult.of(SEARCH, 2, FakeLookup())).rows
    assert tuple(map(as_read, rows)) == (
        ("baseline", None, 0, None, None, None, None),
        ("", "1", 0, None, None, None, None),
        ("", "4", 0, None, None, None, None),
    )


def test_one_seed_is_said_to_decide_little() -> None:
    text = describe(GridResult.of(SEARCH, 1, scored([0.5], [0.6], [0.5])))
    assert "with 1 seed and" in text
    assert text.endswith("One seed decides little.")


def test_the_other_metric_may_choose() -> None:
    by_accuracy = GridSearch("memnet", "aw-as", SEARCH.grids, metric="accuracy")
    cells = SEARCH.cells(0)
    known = FakeLookup(
        {
            Training(cells[ONE].place): record(0.5, 0.5),
            cells[ONE]: record(0.9, 0.4),
            cells[FOUR]: record(0.1, 0.6),
        }
    )
    for search, point in ((SEARCH, ONE), (by_accuracy, FOUR)):
        best = GridResult.of(search, 1, known).best
        assert best is not None
        assert best.point == point


def test_settings_of_every_training_have_a_baseline_each() -> None:
    search = GridSearch("memnet", "aw-as", ({"epochs": [2, 3]},))
    rows = settings_table(GridResult.of(search, 1, FakeLookup())).rows
    assert [row[:2] for row in rows] == [("baseline", "2"), ("baseline", "3"), ("", "2"), ("", "3")]


def test_values_are_shown_as_people_write_them() -> None:
    grid: dict[str, Any] = {
        "consensus_saliencies": [["attention", "gradient"], []],
        "consensus_soft": [True],
        "gamma": [0.5],
    }
    search = GridSearch("memnet", "consensus", (grid,))
    rows = settings_table(GridResult.of(search, 1, FakeLookup())).rows
    assert [row[1:4] for row in rows[1:]] == [("attention+gradient", "true", "0.5"), ("none", "true", "0.5")]
