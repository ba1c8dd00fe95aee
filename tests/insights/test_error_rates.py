from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pssa.evaluation.shares import ShareEstimator
from pssa.insights.error_rates import ErrorRates

_LABELS = ("positive", "negative")


def rates(folder: Path, held_out: Any) -> ErrorRates:
    (folder / "metrics.json").write_text(json.dumps({"held_out": held_out}), "utf-8")
    return ErrorRates.of_run(folder, _LABELS)


def test_a_matrix_is_read_in_the_order_of_the_labels(tmp_path: Path) -> None:
    found = rates(
        tmp_path, {"labels": ["negative", "positive"], "confusion": [[80, 20], [10, 90]], "source": "test.xml"}
    )
    assert found.confusion == ((90, 10), (20, 80))
    said = found.describe(ShareEstimator(found.confusion))
    assert "85.0 % of 200" in said
    assert "test.xml" in said


@pytest.mark.parametrize(
    "held_out",
    [
        None,
        [],
        {"labels": ["good", "bad"], "confusion": [[1, 2], [3, 4]]},
        {"labels": list(_LABELS), "confusion": [[1, 2]]},
        {"labels": list(_LABELS), "confusion": [[1, -2], [3, 4]]},
        {"labels": list(_LABELS), "confusion": [[1, True], [3, 4]]},
        {"labels": list(_LABELS)},
    ],
)
def test_what_is_no_matrix_of_these_labels_is_not_known(tmp_path: Path, held_out: Any) -> None:
    found = rates(tmp_path, held_out)
    assert found.confusion is None
    assert "do not account for" in found.describe(ShareEstimator(found.confusion))


def test_the_groups_of_a_joint_model_are_added_up(tmp_path: Path) -> None:
    groups = [{"labels": {"labels": list(_LABELS), "confusion": [[8, 2], [1, 9]]}, "spans": None}, {"labels": None}]
    (tmp_path / "metrics.json").write_text(json.dumps({"dev": [*groups, groups[0]]}), "utf-8")
    assert ErrorRates.of_run(tmp_path, _LABELS).confusion == ((16, 4), (2, 18))
    (tmp_path / "metrics.json").write_text(json.dumps({"dev": {"accuracy": 0.5, "macro_f1": 0.5}}), "utf-8")
    assert ErrorRates.of_run(tmp_path, _LABELS).confusion is None
