"""Estimates of time, from made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.paper.experiments.rooms import tiny_resources

from paper.experiments.cells import Cell, Mining, Place, Training, describe
from paper.experiments.estimates import TimeEstimate, estimate
from paper.experiments.ledger import Record

HERE = Place("laptop", "memnet", 0)
MINED = Mining(HERE, "aw-as")


def timed(cell: Cell, seconds: float, device: str, **files: Any) -> Record:
    return {"cell": describe(cell), "files": {"vectors": "v", **files}, "seconds": seconds, "made": {"device": device}}


def test_cells_take_as_long_as_the_last_like_ones_of_each_device(tmp_path: Path) -> None:
    other = replace(HERE, model="tnet_att")
    records = [
        *(timed(Training(HERE), 100.0, "gpu") for _ in range(5)),
        *(timed(Training(HERE), 2.0, "gpu") for _ in range(20)),
        timed(Training(other), 10.0, "gpu"),
        timed(MINED, 3.0, "cpu"),
    ]
    cells: list[Cell] = [Training(replace(HERE, seed=7)), Training(HERE, evidence=MINED), Training(other), MINED]
    # The training with evidence has no like one; the mean of the last 20 trainings, of which 19 took 2 s, stands for it.
    like = (19 * 2.0 + 10.0) / 20
    assert estimate(cells, records, tiny_resources(tmp_path)) == [
        TimeEstimate("word vectors", "cpu", 4, 3.0, 3),
        TimeEstimate("word vectors", "gpu", 4, 2.0 + like + 10.0, 1),
    ]


def test_another_encoder_says_nothing_about_this_one(tmp_path: Path) -> None:
    (tmp_path / "encoder").mkdir()
    resources = tiny_resources(tmp_path).with_encoder(tmp_path / "encoder")
    cell = Training(replace(HERE, model="bertabsa"))
    other = timed(cell, 9.0, "gpu", encoder="other")
    assert estimate([cell], [other], resources) == [TimeEstimate("encoder", "", 1, 0.0, 1)]
    same = timed(cell, 9.0, "gpu", **resources.files_of(cell))
    assert estimate([cell], [other, same], resources) == [TimeEstimate("encoder", "gpu", 1, 9.0, 0)]
