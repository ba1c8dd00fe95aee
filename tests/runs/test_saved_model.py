"""Models in folders: what is written comes back, and what is damaged is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.runs.interrupted import interrupt

import pssa
from pssa import models
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError, RunError
from pssa.models import WordTable
from pssa.runs.directory import write_tensors
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.loading import load
from pssa.runs.saved_model import Description, save_ensemble, save_weights
from pssa.runs.settings import Config
from pssa.training import Observer

VOCABULARY = Vocabulary.build(["the", "screen", "is", "great"], extra=["poor"])
TABLE = WordTable(torch.randn(len(VOCABULARY), 5, generator=torch.Generator().manual_seed(0)), VOCABULARY.n_trained)
FEATURIZER = WordFeaturizer(VOCABULARY, TABLE)
LABELS = ("positive", "negative", "neutral")


def new_model(name: str, seed: int = 0, **options: Any) -> torch.nn.Module:
    return models.build(name, TABLE, 3, options, seed)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in models.names() if not models.uses_encoder(name)),
        ("memnet", {"train_embeddings": False, "aspect_matrix": True}),
        ("tnet_att", {"hidden": 3, "tied": True, "train_embeddings": True}),
        ("tnet", {"hidden": 3, "filters": 4, "gating": "lossless"}),
    ],
)
def test_a_model_loads_with_every_weight_it_was_saved_with(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    model = new_model(name, **options)
    save_weights(tmp_path, model, Description(name, options, LABELS, 5), FEATURIZER)
    classifier = load(tmp_path)
    assert isinstance(classifier.torch.featurizer, WordFeaturizer)
    assert (classifier.name, classifier.labels, classifier.torch.featurizer.vocabulary) == (name, LABELS, VOCABULARY)
    expected, found = model.state_dict(), classifier.torch.model.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[key], found[key]) for key in expected)
    assert not classifier.torch.model.training


@pytest.fixture
def ensemble(tmp_path: Path) -> Path:
    members = (new_model("memnet", seed=1), new_model("memnet", seed=2))
    save_ensemble(tmp_path, members, Description("memnet", {}, LABELS, 5, vote_weights=(2.0, 0.5)), FEATURIZER)
    return tmp_path


def test_an_ensemble_loads_with_its_members_in_order_and_their_says(ensemble: Path) -> None:
    classifier = load(ensemble)
    assert classifier.torch.vote_weights == (2.0, 0.5)
    for member, seed in zip(classifier.torch.members, (1, 2), strict=True):
        assert torch.equal(member.get_parameter("match"), new_model("memnet", seed=seed).get_parameter("match"))
    alone = load(ensemble / "members" / "2")
    assert (len(alone.torch.members), alone.torch.vote_weights) == (1, (1.0,))


def test_a_lost_member_is_noticed(ensemble: Path) -> None:
    shutil.rmtree(ensemble / "members" / "1")
    with pytest.raises(InputError, match="is missing; the ensemble has"):
        load(ensemble)


def test_weights_that_are_damaged_or_of_another_model_are_refused(copied_run: Path) -> None:
    path = copied_run / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"model\.safetensors is damaged"):
        pssa.load(copied_run)
    write_tensors(path, {"weight": torch.ones(2)})
    with pytest.raises(InputError, match=r"model\.safetensors does not fit the"):
        pssa.load(copied_run)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema": 99}, "has schema 99; this version reads schema 1"),
        ({"labels": None}, "is damaged"),
        ({"surprise": 1}, "is damaged"),
        ({"model": "lstm"}, "unknown model 'lstm'"),
        ({"options": {"heads": 8}}, "unknown option 'heads'"),
        *((content, r"model\.json is damaged") for content in ("", "[]", "null", "{}")),
    ],
)
def test_a_description_that_cannot_be_used_is_refused(copied_run: Path, change: Any, what: str) -> None:
    path = copied_run / "model.json"
    path.write_text(change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=what):
        pssa.load(copied_run)


def test_a_run_without_its_first_epoch_says_how_to_go_on(tmp_path: Path, train_tiny: Callable[..., Path]) -> None:
    class Impatient(Observer):
        def on_stage(self, stage: str, steps: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_tiny(tmp_path / "run", observer=Impatient())
    with pytest.raises(RunError, match=r"first epoch; finish it with pssa\.resume"):
        pssa.load(tmp_path / "run")


def test_an_interrupted_run_names_the_stage_that_answers(tmp_path: Path, train_tiny: Callable[..., Path]) -> None:
    run = tmp_path / "run"
    interrupt(train_tiny, run, 3, method="pg-as", iterations=1, samples=0)
    assert (run / "stages" / "final" / "checkpoint.safetensors").is_file()
    with pytest.warns(UserWarning, match="its stage initial answers in its place"):
        loaded = pssa.load(run)
    initial = pssa.load(run / "stages" / "initial")  # a stage is what it is, and no reason to warn
    assert torch.equal(loaded.torch.model.get_parameter("match"), initial.torch.model.get_parameter("match"))


def test_a_precision_that_the_model_cannot_answer_in_is_refused(finished_run: Path) -> None:
    with pytest.raises(InputError, match=r"model memnet has no encoder.* bfloat16"):
        pssa.load(finished_run, precision="bfloat16")
    with pytest.raises(InputError, match="is 'half'; it can be auto, float32"):
        pssa.load(finished_run, precision="half")


SCREEN = Vocabulary.build(["screen"])
SCREENS = WordFeaturizer(SCREEN, WordTable(torch.zeros(len(SCREEN), 7), SCREEN.n_trained))


def test_a_description_has_the_dimension_of_the_vectors_and_survives_its_file(tmp_path: Path) -> None:
    config = Config().updated({"model": "memnet", "dimension": 300, "labels": "good,bad", "dropout": 0.2})
    assert Description.of(config, SCREENS) == Description("memnet", {"dropout": 0.2}, ("good", "bad"), 7)
    description = Description("tnet", {"filters": 9, "dropout": 0.5}, ("good", "bad"), 7, vote_weights=(2.0, 0.5))
    description.save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["schema"] == 1
    assert Description.load(tmp_path) == description
