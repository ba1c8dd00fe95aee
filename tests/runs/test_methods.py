"""The methods by name, and what each leaves in its run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import pssa
from pssa.errors import InputError
from pssa.runs import methods

TrainTiny = Callable[..., Path]


def stages(run: Path) -> dict[str, int]:
    """Epochs of each stage."""
    return Counter(json.loads(line)["stage"] for line in (run / "history.jsonl").read_text().splitlines())


def test_methods_are_found_by_name() -> None:
    assert {"base", "kt", "boosting", "adaboost"} <= set(methods.names())
    assert all(methods.find(name).name == name for name in methods.names())


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown method 'bagging'; known: base, kt, boosting, adaboost"):
        methods.find("bagging")


def test_kt_goes_on_from_the_parameters_it_had(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="kt", epochs=1)
    assert stages(run) == {"initial": 1, "kt-2": 1, "kt-3": 1, "kt-4": 1, "kt-5": 1}
    losses = [json.loads(line)["loss"] for line in (run / "history.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0]


def test_boosting_trains_five_different_models_with_an_equal_say(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="boosting", epochs=1)
    classifier = pssa.load(run)
    assert classifier.vote_weights == (1.0,) * 5
    assert stages(run) == {f"member-{number}": 1 for number in range(1, 6)}
    matrices = [member.get_parameter("match") for member in classifier.members]
    assert not any(torch.equal(matrices[0], other) for other in matrices[1:])


def test_the_first_member_of_boosting_starts_where_a_plain_run_starts(train_tiny: TrainTiny, tmp_path: Path) -> None:
    # A learning rate this small leaves the initial parameters as good as unchanged.
    settings = {"epochs": 1, "learning_rate": 1e-12}
    plain = pssa.load(train_tiny(tmp_path / "plain", **settings))
    member = pssa.load(train_tiny(tmp_path / "boosting", method="boosting", **settings))
    torch.testing.assert_close(member.model.get_parameter("match"), plain.model.get_parameter("match"))


@pytest.mark.slow
def test_adaboost_gives_each_member_its_say(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="adaboost", epochs=3)
    classifier = pssa.load(run)
    assert len(classifier.vote_weights) == len(classifier.members) == 5
    assert all(say >= 0 for say in classifier.vote_weights)
    assert any(classifier.vote_weights)
    assert classifier.vote_weights == tuple(json.loads((run / "model.json").read_text())["says"])


def test_an_ensemble_keeps_its_weights_in_its_members(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="boosting", epochs=1)
    assert not (run / "model.safetensors").exists()
    assert sorted(path.name for path in (run / "members").iterdir()) == ["1", "2", "3", "4", "5"]
    assert json.loads((run / "metrics.json").read_text())["members"] == 5
    assert "5 members that vote" in (run / "README.md").read_text()
