"""The methods: their stages, their members, their evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pssa
from pssa import saliency
from pssa.data.evidence import Evidence
from pssa.data.example import Corpus
from pssa.runs import Config, methods
from pssa.runs.methods.consensus import judge_unseen
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.training_run import mine, write_run
from pssa.saliency import observe
from pssa.training import Observer

TrainTiny = Callable[..., Path]


def stages(run: Path) -> dict[str, int]:
    """Epochs of each stage."""
    return Counter(json.loads(line)["stage"] for line in (run / "history.jsonl").read_text().splitlines())


def losses_of(run: Path) -> dict[str, list[float]]:
    """Losses of each stage by epoch."""
    found: dict[str, list[float]] = {}
    for record in map(json.loads, (run / "history.jsonl").read_text().splitlines()):
        found.setdefault(record["stage"], []).append(record["loss"])
    return found


def test_kt_goes_on_from_the_parameters_it_had(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="kt", epochs=1)
    assert stages(run) == {"initial": 1, "kt-2": 1, "kt-3": 1, "kt-4": 1, "kt-5": 1}
    losses = [json.loads(line)["loss"] for line in (run / "history.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0]


def test_rounds_and_the_final_training_are_as_long_as_the_settings_say(train_tiny: TrainTiny, tmp_path: Path) -> None:
    settings = {"method": "aw-as", "iterations": 2, "round_epochs": 0, "gamma": 0.0}
    going_on = train_tiny(tmp_path / "going-on", epochs=2, final_start="initial", embedding_dropout=0.0, **settings)
    assert stages(going_on) == {"initial": 2, "round-2": 2, "final": 2}
    losses = {stage: losses[0] for stage, losses in losses_of(going_on).items()}
    assert losses["final"] < losses["initial"] - 1e-3
    searched = train_tiny(tmp_path / "searched", epochs=1, max_epochs=3, final_epochs="search", **settings)
    found = json.loads((searched / "metrics.json").read_text())
    assert stages(searched) == {"initial": 1, "round-2": 1, "search-final": 3, "final": found["epochs"]}
    assert found["dev"] is not None


def test_boosting_keeps_five_different_models_with_an_equal_say(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="boosting", epochs=1)
    classifier = pssa.load(run)
    assert classifier.torch.vote_weights == (1.0,) * 5
    assert stages(run) == {f"member-{number}": 1 for number in range(1, 6)}
    matrices = [member.get_parameter("match") for member in classifier.torch.members]
    assert not any(torch.equal(matrices[0], other) for other in matrices[1:])
    assert not (run / "model.safetensors").exists()
    assert sorted(path.name for path in (run / "members").iterdir()) == ["1", "2", "3", "4", "5"]
    assert json.loads((run / "metrics.json").read_text())["members"] == 5
    card = (run / "README.md").read_text()
    assert "5 members that vote" in card
    assert "shares of the members' votes" in card


def test_the_first_member_of_boosting_starts_where_a_plain_run_starts(train_tiny: TrainTiny, tmp_path: Path) -> None:
    # A learning rate this small leaves the initial parameters as good as unchanged.
    settings = {"epochs": 1, "learning_rate": 1e-12}
    plain = pssa.load(train_tiny(tmp_path / "plain", **settings))
    member = pssa.load(train_tiny(tmp_path / "boosting", method="boosting", **settings))
    torch.testing.assert_close(member.torch.model.get_parameter("match"), plain.torch.model.get_parameter("match"))


@pytest.mark.slow
def test_adaboost_gives_each_member_its_say(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", method="adaboost", epochs=3)
    classifier = pssa.load(run)
    assert len(classifier.torch.vote_weights) == len(classifier.torch.members) == 5
    assert all(say >= 0 for say in classifier.torch.vote_weights)
    assert any(classifier.torch.vote_weights)
    assert classifier.torch.vote_weights == tuple(json.loads((run / "model.json").read_text())["says"])


SETTINGS: dict[str, Any] = {
    "model": "memnet",
    "method": "consensus",
    "dimension": 8,
    "epochs": 2,
    "batch_size": 8,
    "device": "cpu",
    "consensus_models": 2,
    "consensus_folds": 2,
    "consensus_right": 1,
    "consensus_threshold": 0.0,
}


def mined(corpus: Corpus, path: Path, **settings: Any) -> Evidence:
    return mine(corpus, path, **SETTINGS | settings)


@pytest.mark.slow
def test_a_gate_trains_with_harmless_evidence(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(name: str, **settings: Any) -> tuple[Any, float]:
        """What the metrics say about the gate, and the penalty of the last epoch."""
        run = write_run(corpus, tmp_path / name, **SETTINGS | settings)
        metrics = json.loads((run / "metrics.json").read_text())
        return metrics.get("gate"), json.loads((run / "history.jsonl").read_text().splitlines()[-1])["penalty"]

    gate, penalty = trained("gated", gate="held-out")
    assert gate["supervised"] == (gate["with_evidence"] >= gate["without"]) == (penalty > 0)
    assert stages(tmp_path / "gated")["gate-fold-2"] == 2
    for is_open in (True, False):
        monkeypatch.setattr(methods.Gate, "is_open", is_open)
        gate, penalty = trained(str(is_open), gate="held-out")
        assert gate["supervised"] == is_open == (penalty > 0)
    assert trained("always")[0] is None


def test_a_judge_names_words_only_where_it_is_right(corpus: Corpus) -> None:
    config, prepared = prepare(corpus, None, Config().updated(SETTINGS))
    context = RunContext(config, None, prepared, Observer())
    unseen, attention = context.train_data.select(range(1, 20)), saliency.build("attention", {})
    model = context.new_model()
    observed, whole = judge_unseen(model, unseen, attention), observe(model, unseen, attention)
    right = whole.predicted == unseen.labels
    assert 0 < right.sum() < len(unseen)
    torch.testing.assert_close(observed.probabilities, whole.probabilities)
    torch.testing.assert_close(observed.scores, whole.scores * right[:, None])
