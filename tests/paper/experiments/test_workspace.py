"""Folders of cells, and corpora that are prepared once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.paper.experiments.rooms import tiny_resources

from paper.experiments.cells import Place, Timing, Training
from paper.experiments.workspace import Workspace

HERE = Place("laptop", "memnet", 0)


@pytest.fixture
def room(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "out", tiny_resources(tmp_path))


def test_a_folder_without_parameters_is_no_model(room: Workspace) -> None:
    base = Training(HERE)
    room.weights(base).mkdir(parents=True)
    assert not room.has_weights(base)
    (room.weights(base) / "model.safetensors").write_text("")
    assert room.has_weights(base)
    room.drop_weights(base)
    assert not room.weights(base).exists()


def test_cells_of_one_place_share_its_materials_and_have_settings_of_their_own(room: Workspace) -> None:
    first, second = room.open(HERE, (("gamma", 1.0),)), room.open(HERE, (("gamma", 2.0),))
    assert first.run.prepared_data is second.run.prepared_data
    assert (first.run.config.supervision.gamma, second.run.config.supervision.gamma) == (1.0, 2.0)
    assert room.open(Place("laptop", "memnet", 1), ()).run.config.seed == 1


def test_only_what_cells_left_behind_is_cleared(room: Workspace) -> None:
    base, timing = Training(HERE), Timing(HERE, ("base",))
    for path in (room.weights(base), room.timing(timing)):
        path.mkdir(parents=True)
    precious = room.folder / "weights" / "model.bin"
    precious.write_text("of somebody else")
    room.clear([base, timing])
    assert precious.read_text() == "of somebody else"
    assert not room.weights(base).exists()
    assert not room.timing(timing).parent.exists()
