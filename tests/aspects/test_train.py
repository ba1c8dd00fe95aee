"""Trainings: same seed, same weights; a killed one ends with the same files; damaged or foreign directories are refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.aspects.made_taggers import SMALL, toy_sentences, toy_tagger
from tests.models.encoders import tiny_encoder
from tests.runs.interrupted import Interrupting, contents

import pssa
from pssa.aspects import load_finder, train_aspects
from pssa.aspects.spans import AspectSentence
from pssa.data import embedded
from pssa.errors import InputError, RunError
from pssa.runs.directory import read_json
from pssa.runs.training_run import finish_run

QUICK: dict[str, Any] = {"dimension": 8, "options": SMALL, "learning_rate": 0.02, "batch_size": 8, "max_epochs": 5}


def test_a_finished_tagger_has_its_files_and_nothing_that_only_training_needs(tagger: Path) -> None:
    assert {*contents(tagger)} == {
        "config.toml",
        "model.json",
        "vocabulary.json",
        "model.safetensors",
        "history.jsonl",
        "metrics.json",
        "README.md",
        "stages/sentences.jsonl",
        "stages/materials.json",
    }
    metrics = read_json(tagger / "metrics.json")
    assert (metrics["sentences"], metrics["empty"], metrics["aspects"], metrics["dev"]) == (29, 5, 24, None)
    assert "pssa aspects evaluate" in (tagger / "README.md").read_text("utf-8")


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    one, same, other = (
        toy_tagger(tmp_path / name, epochs=2, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert contents(one) == contents(same)
    assert contents(one)["model.safetensors"] != contents(other)["model.safetensors"]


def test_held_out_sentences_choose_the_epochs_and_all_are_trained_on(tmp_path: Path) -> None:
    run = train_aspects(toy_sentences(), tmp_path / "run", device="cpu", **QUICK)
    metrics = read_json(run / "metrics.json")
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    search, final = ([record for record in history if record["stage"] == stage] for stage in ("search", "initial"))
    assert metrics["epochs"] == len(final) <= len(search)
    assert metrics["dev"]["f1"] == search[metrics["epochs"] - 1]["dev_macro_f1"]
    assert all(record["dev_macro_f1"] is None for record in final)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 4, 6])
def test_an_interrupted_training_ends_with_the_same_files(tmp_path: Path, after: int) -> None:
    whole = train_aspects(toy_sentences(), tmp_path / "whole", device="cpu", **QUICK)
    with pytest.raises(KeyboardInterrupt):
        train_aspects(toy_sentences(), tmp_path / "run", observer=Interrupting(after), device="cpu", **QUICK)
    with pytest.raises(InputError, match="resume"):
        load_finder(tmp_path / "run")
    finish_run(tmp_path / "run")
    assert contents(tmp_path / "run") == contents(whole)
    before = contents(whole)
    assert finish_run(whole) == whole
    assert contents(whole) == before


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 3])
def test_an_encoder_is_resumed_with_its_own_weights(tmp_path: Path, after: int) -> None:
    encoder = tmp_path / "encoder"
    tiny = tiny_encoder("bert")
    tiny.save(encoder)
    tiny.body(None, 0.0).save_pretrained(encoder)  # type: ignore[operator]
    chosen: dict[str, Any] = {"encoder": str(encoder), "device": "cpu", "batch_size": 8, "max_epochs": 2}
    whole = train_aspects(toy_sentences(), tmp_path / "whole", **chosen)
    with pytest.raises(KeyboardInterrupt):
        train_aspects(toy_sentences(), tmp_path / "run", observer=Interrupting(after), **chosen)
    moved = encoder.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="encoder"):
        finish_run(tmp_path / "run")
    moved.rename(encoder)
    finish_run(tmp_path / "run")
    assert contents(tmp_path / "run") == contents(whole)
    # A finished tagger needs its encoder no more.
    shutil.rmtree(encoder)
    spans = load_finder(whole).find("The screen is great. " * 80)
    assert spans == tuple(sorted(spans))


@pytest.mark.slow
def test_a_killed_training_ends_with_the_same_weights(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.aspects.made_taggers import toy_tagger;"
        "toy_tagger(Path(sys.argv[1]), epochs=40)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "run")], env=environment)
    checkpoint = tmp_path / "run" / "stages" / "initial" / "checkpoint.safetensors"
    deadline = time.monotonic() + 120
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "run" / "metrics.json").exists()
    finish_run(tmp_path / "run")
    whole = toy_tagger(tmp_path / "whole", epochs=40)
    assert contents(tmp_path / "run") == contents(whole)


def test_nothing_is_written_for_bad_input(tmp_path: Path, tagger: Path) -> None:
    few, empty = toy_sentences()[:9], [AspectSentence.build(f"text {number}", []) for number in range(20)]
    data: Any
    for data, settings, named in (
        (few, {}, "9 sentences"),
        (empty, {}, "aspect"),
        (tmp_path / "missing.xml", {}, "missing.xml"),
        (toy_sentences(), {"encoder": "x", "vectors": "y"}, "vectors"),
        (toy_sentences(), {"vectors": str(tmp_path / "no.txt")}, "no.txt"),
        (toy_sentences(), {"epochs": -1}, "epochs"),
        ([{"text": "The screen."}], {}, "sentences"),
        (toy_sentences(), {"seed": -1}, "seed"),
        (toy_sentences(), {"device": "tpu"}, "tpu"),
        (toy_sentences(), {"speed": 1}, "speed"),
    ):
        with pytest.raises(InputError, match=named):
            train_aspects(data, tmp_path / "run", **settings)
        assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="exists already"):
        train_aspects(toy_sentences(), tagger)


def test_a_tagger_is_no_classifier_and_takes_no_settings_of_one(tmp_path: Path, tagger: Path) -> None:
    settings: dict[str, Any] = {"method": "kt", "labels": ("good", "bad"), "augment": "contrast", "gamma": 1.0}
    for name, value in settings.items():
        with pytest.raises(InputError, match=name):
            train_aspects(toy_sentences(), tmp_path / "run", **{name: value})
    with pytest.raises(InputError, match="dev is not a setting"):
        train_aspects(toy_sentences(), tmp_path / "run", dev=toy_sentences())
    with pytest.raises(InputError, match="train_aspects"):
        pssa.train(toy_sentences(), tmp_path / "run", model="tagger")
    with pytest.raises(InputError, match="aspects_from"):
        pssa.load(tagger)
    with pytest.raises(InputError, match="from_pretrained"):
        train_aspects(toy_sentences(), tmp_path / "run", from_pretrained=str(tagger))
    corpus = embedded.load("train").select(range(20))
    with pytest.raises(InputError, match="labels none"):
        pssa.mine(corpus, tmp_path / "evidence.jsonl", model="tagger", method="aw-as")


def test_directories_that_are_no_taggers_or_are_damaged_are_refused(tmp_path: Path, tagger: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load_finder(tmp_path / "none")
    (tmp_path / "classifier").mkdir()
    (tmp_path / "classifier" / "model.json").write_text("{}")
    with pytest.raises(InputError, match="classifier"):
        load_finder(tmp_path / "classifier")
    known = json.loads((tagger / "model.json").read_text())
    bad: list[tuple[str, Any]] = [("options", []), ("schema", 2), ("dimension", 10**9), ("dimension", 17)]
    bad += [("options", known["options"] | {"hidden": 10**9}), ("options", known["options"] | {"hidden": 90_000})]
    for number, (name, value) in enumerate(bad):
        copy = shutil.copytree(tagger, tmp_path / str(number))
        (copy / "model.json").write_text(json.dumps(known | {name: value}))
        with pytest.raises(InputError, match=str(copy)):
            load_finder(copy)
        # Taggers of earlier versions have another file in place of model.json.
        (copy / "model.json").unlink()
        own = {"encoder": None, "dimension": known["dimension"], "options": known["options"], "schema": 1}
        (copy / "tagger.json").write_text(json.dumps(own))
        text = "The screen is great!"
        assert load_finder(copy).find(text) == load_finder(tagger).find(text)
        (copy / "tagger.json").write_text(json.dumps(own | {name: value}))
        with pytest.raises(InputError, match=str(copy)):
            load_finder(copy)
    copy = shutil.copytree(tagger, tmp_path / "cut")
    (copy / "model.safetensors").write_bytes((tagger / "model.safetensors").read_bytes()[:-100])
    with pytest.raises((InputError, RunError), match=r"model\.safetensors"):
        load_finder(copy)
