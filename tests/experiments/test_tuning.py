"""Grids: their points, and cells that share a mining wherever they can, counted by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pssa.errors import InputError
from pssa.experiments.cells import Mining, Place, Training, settings
from pssa.experiments.tuning import GridSearch, parse_axis, parse_setting, read_grids, section_of
from pssa.runs import Config


def study(method: str, *grids: Mapping[str, Sequence[Any]], model: str = "memnet", **fixed: Any) -> GridSearch:
    return GridSearch(model, method, grids, tuple(fixed.items()))


def minings(found: GridSearch, seeds: int = 1) -> set[Mining]:
    return {mining for seed in range(seeds) for cell in found.cells(seed).values() for mining in cell.evidence}


def test_the_points_are_all_combinations_in_the_order_they_are_named() -> None:
    found = study("pg-as", {"gamma": [0.5, 2], "iterations": [1, 2]})
    assert found.axes == ("gamma", "iterations")
    assert found.points == (
        (("gamma", 0.5), ("iterations", 1)),
        (("gamma", 0.5), ("iterations", 2)),
        (("gamma", 2.0), ("iterations", 1)),
        (("gamma", 2.0), ("iterations", 2)),
    )


def test_a_point_that_two_grids_have_is_one_point_however_it_is_written() -> None:
    found = study("pg-as", {"gamma": [2, 2.0]}, {"supervision.gamma": [2.0, 8]})
    assert found.points == ((("gamma", 2.0),), (("gamma", 8.0),))


@pytest.mark.slow
def test_settings_of_the_final_training_and_fewer_rounds_share_one_mining_and_one_baseline() -> None:
    found = study("pg-as", {"gamma": [0.5, 2, 8], "iterations": [1, 2, 5], "weighting": ["equal", "round"]})
    cells = [cell for seed in range(3) for cell in found.cells(seed).values()]
    assert len(set(cells)) == 3 * 3 * 2 * 3
    assert minings(found, seeds=3) == {
        Mining(Place("train", "memnet", seed, held_out=True), "pg-as") for seed in range(3)
    }
    assert {need for cell in cells for need in cell.needs if isinstance(need, Training)} == {
        Training(Place("train", "memnet", seed, held_out=True)) for seed in range(3)
    }


def test_rounds_are_counted_from_the_largest_number_that_is_mined() -> None:
    found = study("aw-as", {"iterations": [1, 3]}).cells(0)
    place = Place("train", "memnet", 0, held_out=True)
    mining = Mining(place, "aw-as", settings(iterations=3))
    assert list(found.values()) == [Training(place, evidence=(mining,), rounds=1), Training(place, evidence=(mining,))]


def test_a_setting_of_mining_has_a_mining_of_its_own_no_deeper_than_its_points_need() -> None:
    found = study(
        "aw-as", {"epsilon": [2.0], "iterations": [1]}, {"epsilon": [3.0], "iterations": [1, 2], "gamma": [1, 2]}
    )
    assert {mining.settings for mining in minings(found)} == {
        settings(epsilon=2.0, iterations=1),
        settings(epsilon=3.0, iterations=2),
    }


def test_thresholds_of_a_consensus_share_the_lowest_and_words_the_largest_number() -> None:
    found = study("consensus", {"consensus_threshold": [0.25, 0.5], "consensus_words": [1, 2]})
    (mining,) = minings(found)
    assert mining.settings == settings(consensus_threshold=0.25, consensus_words=2)
    assert {(cell.above, cell.rounds) for cell in found.cells(0).values()} == {(0, 0), (0, 1), (0.5, 0), (0.5, 1)}
    assert found.cells(0)[("consensus_threshold", 0.5), ("consensus_words", 1)].above == 0.5


def test_a_usual_threshold_is_not_told() -> None:
    (mining,) = minings(study("consensus", {"gamma": [1, 2]}, consensus_threshold=0.2))
    assert mining.settings == ()


def test_a_distribution_has_neither_threshold_nor_number_of_words() -> None:
    found = study("consensus", {"consensus_soft": [True, False], "consensus_threshold": [0.25, 0.75]})
    soft = {mining for mining in minings(found) if ("consensus_soft", True) in mining.settings}
    hard = minings(found) - soft
    assert {mining.settings for mining in hard} == {settings(consensus_threshold=0.25)}
    assert {cell.above for cell in found.cells(0).values() if cell.evidence[0] in soft} == {0.0}


def test_saliencies_that_must_agree_are_a_mining_of_their_own() -> None:
    several = [["attention"], ["attention", "gradient"]]
    assert len(minings(study("consensus", {"consensus_saliencies": several, "gamma": [1, 2]}))) == 2


def test_what_concerns_every_training_has_a_baseline_of_its_own() -> None:
    found = study("aw-as", {"epochs": [2, 4], "dropout": [0.1], "gamma": [1, 2]})
    places = {cell.place for cell in found.cells(0).values()}
    assert {place.settings for place in places} == {settings(dropout=0.1, epochs=2), settings(dropout=0.1, epochs=4)}
    assert {mining.place for mining in minings(found)} == places


def test_a_value_that_is_usual_makes_the_cell_that_it_is_usual_in() -> None:
    usual, told = (
        study("aw-as", {"gamma": [1]}),
        study("aw-as", {"gamma": [1]}, weighting="equal", ramp=0, words="both"),
    )
    assert list(usual.cells(0).values()) == list(told.cells(0).values())


@pytest.mark.parametrize(
    ("method", "grid", "what"),
    [
        ("base", {"gamma": [1]}, "method is base, .*; choose aw-as"),
        ("magic", {"gamma": [1]}, "unknown method 'magic'"),
        ("aw-as", {}, "the grid is empty"),
        ("aw-as", {"speed": [1]}, "unknown setting 'speed'"),
        ("aw-as", {"gamma": ["fast"]}, "gamma is 'fast'; expected float"),
        ("aw-as", {"gamma": [-2]}, "gamma is -2"),
        ("aw-as", {"gamma": [1, -1]}, "gamma is -1, which means unset; leave it out"),
        ("aw-as", {"seed": [1]}, "seed cannot vary"),
        ("aw-as", {"data.train": ["x"]}, r"data\.train cannot vary"),
        (
            "aw-as",
            {"labels": ["good,bad"]},
            "labels cannot vary .*: use read_options",
        ),
        (
            "aw-as",
            {"columns": ["text=review"]},
            "columns cannot vary .*: use read_options",
        ),
        ("aw-as", {"consensus_words": [1]}, "consensus_words is a setting of method consensus"),
        ("consensus", {"iterations": [1]}, "iterations has no effect with method consensus; use consensus_words"),
        ("aw-as", {"gamma": [1], "supervision.gamma": [2]}, "gamma is given twice"),
        ("aw-as", {"iterations": [0]}, "iterations is 0; it must be at least 1"),
        ("aw-as", {"weighting": ["round"], "penalty": ["tuned", "release"]}, "weighting is 'round', but this penalty"),
    ],
)
def test_what_cannot_be_tuned_is_refused_with_the_reason(method: str, grid: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        study(method, grid)


def test_a_setting_cannot_stay_and_vary() -> None:
    with pytest.raises(InputError, match="gamma is given twice"):
        study("aw-as", {"gamma": [1, 2]}, gamma=3)


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(InputError, match="metric is 'f1'; choose accuracy or macro_f1"):
        GridSearch("memnet", "aw-as", ({"gamma": [1]},), metric="f1")


def test_a_model_without_attention_cannot_be_tuned() -> None:
    with pytest.raises(InputError, match="model tnet has no attention"):
        study("aw-as", {"gamma": [1]}, model="tnet")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gamma=0.5,2,8", ("gamma", (0.5, 2, 8))),
        ("words=both, active", ("words", ("both", "active"))),
        ("consensus_soft=true,false", ("consensus_soft", (True, False))),
        (
            'consensus_saliencies=["attention"],["attention","gradient"]',
            ("consensus_saliencies", (["attention"], ["attention", "gradient"])),
        ),
        ("supervision.gamma=1", ("supervision.gamma", (1,))),
    ],
)
def test_an_axis_is_a_name_and_values_as_toml_spells_them_or_strings(text: str, expected: tuple[str, Any]) -> None:
    assert parse_axis(text) == expected


def test_a_setting_is_a_name_and_one_value() -> None:
    assert parse_setting("epochs=3") == ("epochs", 3)
    assert parse_setting("labels=a,b") == ("labels", "a,b")


@pytest.mark.parametrize("text", ["gamma", "gamma=", "=2"])
def test_an_axis_without_name_or_value_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="has no name or no value; write NAME=VALUE,VALUE"):
        parse_axis(text)


def test_a_file_holds_one_grid_or_several(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text("iterations = [1, 2]\n[supervision]\ngamma = [0.5]\n")
    assert read_grids(path) == ({"iterations": [1, 2], "supervision.gamma": [0.5]},)
    path.write_text("[[grid]]\ngamma = [0.5, 2]\n[[grid]]\ngamma = [2]\nramp = [0.3]\n")
    assert read_grids(path) == ({"gamma": [0.5, 2]}, {"gamma": [2], "ramp": [0.3]})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"gamma = ", "not a TOML file"),
        (b"\xff", "not a TOML file"),
        (b"gamma = 2", "gamma is 2; expected a list of values"),
        (b"gamma = []", r"gamma is \[\]; expected a list of values"),
        (b"grid = 3", r"expected settings with lists of values, or only tables \[\[grid\]\]"),
        (b"gamma = [1]\n[[grid]]\nramp = [0.1]", r"or only tables \[\[grid\]\]"),
    ],
)
def test_a_file_that_is_no_grid_is_named_with_the_reason(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "grid.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        read_grids(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
        read_grids(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "section"),
    [("epochs", ""), ("gamma", "supervision"), ("mining.folds", "mining"), ("unit", "data"), ("dropout", "options")],
)
def test_a_setting_is_found_in_its_section(name: str, section: str) -> None:
    assert section_of(Config(), name) == section


def test_a_schedule_with_an_end_is_tuned_with_a_known_number_of_epochs() -> None:
    with pytest.raises(InputError, match="schedule linear needs a fixed number of epochs"):
        study("aw-as", {"schedule": ["constant", "linear"]})
    assert len(study("aw-as", {"schedule": ["constant", "linear"]}, epochs=3).points) == 2
