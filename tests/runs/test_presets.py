"""Presets: exactly what the paper and its released code have, below everything that is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pssa import models
from pssa.errors import InputError
from pssa.runs.presets import load_presets
from pssa.runs.resolve import check_mining, check_supervision, choose_penalty, resolve
from pssa.runs.settings import Config

# What differs between the two, by model and method, in the order of docs/explanation/differences.md; None: not set.
_PAPER_RULES = {"start": "continue", "round_epochs": 0, "iterations": 5, "target": "predicted", "signed_shift": False}
_RELEASE_RULES = {"start": "restart", "iterations": 5, "target": "gold", "signed_shift": True, "average": "raw"}
_NOISE = {"samples": 10, "sigma": 0.15}
_PAPER_MN = {"hops": 1, "aspect_matrix": False, "scale_scores": False, "dropout": 0.3, "embedding_dropout": 0.0}
_RELEASE_MN = {"hops": 1, "aspect_matrix": True, "scale_scores": False, "dropout": 0.0, "embedding_dropout": 0.0}
_TNET = {"hidden": 50, "gating": "adaptive", "dropout": 0.3, "initial_bound": 0.01, "train_embeddings": False}
_BERT = {"learning_rate": 2e-5, "batch_size": 16, "clip_norm": 1.0, "schedule": "linear", "warmup": 0.1, "epochs": 6}
EXPECTED: dict[tuple[str, str, str], dict[str, Any]] = {
    ("paper", "memnet", "pg-as"): {
        **_PAPER_RULES | _NOISE | _PAPER_MN,
        **{"initial_bound": 0.01, "learning_rate": 0.001, "epochs": None, "epsilon": 3.0},
        **{"penalty": "letter", "gamma": 0.1},
    },
    ("paper", "tnet_att", "aw-as"): {
        **_PAPER_RULES | _TNET,
        **{"tied": False, "attend_aspect": False, "learning_rate": 0.001, "epochs": None, "epsilon": 4.0},
        **{"penalty": "letter", "gamma": 0.1},
    },
    ("paper-rest", "tnet_att", "aw-as"): {"gamma": 0.5, "batch_size": 25},
    ("paper-rest", "memnet", "aw-as"): {"gamma": 0.5, "batch_size": 128},
    ("paper", "bertabsa_att", "aw-as"): {**_PAPER_RULES | _BERT, "unit": "piece", "dropout": 0.1, "epsilon": 5.0},
    ("paper", "bertabsa_att", "pg-as"): {"epsilon": 4.0, "gamma": 0.1, "average": "scores", "penalty": "letter"},
    ("paper-rest", "bertabsa_att", "pg-as"): {"epsilon": 4.0, "gamma": 0.5, "batch_size": 16},
    ("release", "memnet", "aw-as"): {
        **_RELEASE_RULES | _RELEASE_MN,
        **{"initial_bound": 0.05, "batch_size": 128, "clip_norm": 50.0, "penalty": "release", "gamma": 1.0},
    },
    ("release-rest", "memnet", "aw-as"): {"gamma": 1.0},
    ("release", "tnet_att", "aw-as"): {
        **_RELEASE_RULES | _NOISE | _TNET,
        **{"tied": True, "attend_aspect": True, "learning_rate": 0.001, "batch_size": 64, "epochs": 50},
        **{"epsilon": 4.0, "penalty": "release", "gamma": 0.1},
    },
    ("release-rest", "tnet_att", "aw-as"): {"batch_size": 25, "gamma": 0.5, "epochs": 50, "tied": True},
    ("release", "bertabsa_att", "aw-as"): {**_RELEASE_RULES | _BERT, "unit": "piece", "max_pieces": 96, "epsilon": 4.0},
    ("release-rest", "bertabsa_att", "pg-as"): {"epsilon": 4.0, "gamma": 0.1, "penalty": "release"},
}


@pytest.mark.parametrize(("preset", "model", "method"), EXPECTED, ids=" ".join)
def test_a_preset_holds_what_the_paper_or_its_code_says(preset: str, model: str, method: str) -> None:
    given = Config().updated({"preset": preset, "model": model, "method": method})
    config = resolve(replace(given, data=replace(given.data, vectors="glove.txt")))
    flat = {name.rpartition(".")[2]: value for name, value in config.flat().items()}
    expected = EXPECTED[preset, model, method]
    assert {name: flat[name] for name in expected} == expected
    assert config.preset == preset


@pytest.mark.parametrize("preset", load_presets())
def test_every_value_of_a_preset_can_be_used(preset: str) -> None:
    for model in load_presets()[preset]:
        method = "pg-as" if models.attends(model) else "base"
        config = resolve(Config().updated({"preset": preset, "model": model, "method": method}))
        check_mining(config)
        check_supervision(config)


def test_what_is_given_wins_over_a_preset_wherever_it_stands() -> None:
    once = Config().updated({"start": "continue", "preset": "release", "mining.samples": 3})
    before = Config().updated({"mining.samples": 3}).updated({"preset": "release"})
    after = Config().updated({"preset": "release"}).updated({"samples": 3, "start": "continue"})
    assert (once.mining.start, once.mining.samples, once.options["tied"]) == ("continue", 3, True)
    assert (before.mining.start, before.mining.samples, before.options["tied"]) == ("restart", 3, True)
    assert after == once


def test_another_model_or_preset_has_its_own_values() -> None:
    chosen = Config().updated({"preset": "release", "seed": 4, "gamma": 0.25})
    mn = chosen.updated({"model": "memnet"})
    assert (mn.options["aspect_matrix"], mn.epochs, mn.seed, mn.supervision.gamma) == (True, None, 4, 0.25)
    assert "tied" not in mn.options
    paper = chosen.updated({"preset": "paper"})
    assert (paper.options["tied"], paper.mining.start, paper.supervision.gamma) == (False, "continue", 0.25)
    assert chosen.updated({"preset": None}) == Config().updated({"seed": 4, "gamma": 0.25})


def test_a_preset_survives_its_file(tmp_path: Path) -> None:
    chosen = resolve(Config().updated({"preset": "release-rest", "method": "aw-as", "epochs": 3}))
    (tmp_path / "config.toml").write_text(chosen.to_toml(), "utf-8")
    assert Config.from_toml(tmp_path / "config.toml") == chosen
    # A file cannot say that a value is unset, so nothing that a preset sets can be.
    assert Config().updated({"preset": "release", "epochs": None}).epochs == 50


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"preset": "released"}, "preset is 'released'; it can be paper, "),
        ({"preset": "release", "model": "tnet"}, "tnet"),
    ],
)
def test_an_unknown_preset_is_refused_and_one_that_says_nothing_of_the_model(
    changes: dict[str, str], wrong: str
) -> None:
    with pytest.raises(InputError, match=wrong):
        Config().updated(changes)


def test_the_penalty_of_the_release_has_its_gammas() -> None:
    found = {
        model: choose_penalty(Config().updated({"model": model, "penalty": "release"})).gamma
        for model in models.names()
    }
    assert found.pop("memnet") == 1.0
    assert set(found.values()) == {0.1}
