"""Runs from end to end: what is in them, where their data comes from, and nothing written on bad input."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest
from tests.runs.interrupted import contents

import pssa
from pssa.data.example import Corpus
from pssa.display import percent
from pssa.errors import InputError
from pssa.runs import Config
from pssa.runs.prepared_data import prepare
from pssa.runs.training_run import write_run

TrainTiny = Callable[..., Path]


def test_a_run_holds_what_it_should_and_nothing_of_where_it_was_made(finished_run: Path) -> None:
    assert {path.name for path in finished_run.iterdir()} == {
        ".lock",
        "README.md",
        "config.toml",
        "history.jsonl",
        "metrics.json",
        "inputs.json",
        "model.json",
        "model.safetensors",
        "stages",
        "vocabulary.json",
    }
    assert not list(finished_run.rglob("checkpoint.safetensors"))
    for name, content in contents(finished_run).items():
        assert str(finished_run).encode() not in content, name


def test_metrics_history_and_card_say_what_happened(finished_run: Path, corpus: Corpus) -> None:
    metrics = json.loads((finished_run / "metrics.json").read_text())
    assert metrics["instances"] == 24
    assert metrics["labels"] == {"positive": 8, "negative": 8, "neutral": 8}
    assert metrics["dropped"] == {"conflict": 2}
    assert metrics["corpus_hash"] == corpus.hash()
    assert (metrics["epochs"], metrics["dev"], metrics["members"]) == (2, None, 1)
    lines = (finished_run / "history.jsonl").read_text().splitlines()
    assert [(json.loads(line)["stage"], json.loads(line)["epoch"]) for line in lines] == [
        ("initial", 1),
        ("initial", 2),
    ]
    card = (finished_run / "README.md").read_text()
    for part in ("# memnet (base)", "positive, negative, neutral", "24 instances", "2 dropped as conflict"):
        assert part in card


def test_the_seed_alone_decides_the_bytes(train_tiny: TrainTiny, finished_run: Path, tmp_path: Path) -> None:
    again, other = train_tiny(tmp_path / "again"), train_tiny(tmp_path / "other", seed=1)
    assert contents(again) == contents(finished_run)
    assert (other / "model.safetensors").read_bytes() != (again / "model.safetensors").read_bytes()


def test_a_search_chooses_the_epochs_and_its_score_is_recorded(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", epochs=0, max_epochs=3, patience=1, smoothing=1)
    metrics = json.loads((run / "metrics.json").read_text())
    records = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    searched = [record for record in records if record["stage"] == "search"]
    best = max(searched, key=lambda record: (record["dev_macro_f1"], -record["epoch"]))
    assert metrics["epochs"] == best["epoch"]
    assert metrics["dev"] == {"accuracy": best["dev_accuracy"], "macro_f1": best["dev_macro_f1"]}
    assert sum(record["stage"] == "initial" for record in records) == best["epoch"]


def test_development_data_never_joins_the_refit(train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path) -> None:
    settings = {"epochs": 0, "max_epochs": 1}
    plain = train_tiny(tmp_path / "plain", **settings)
    with_dev = train_tiny(tmp_path / "with-dev", dev=corpus.select([0, 4, 8]), **settings)
    assert (with_dev / "model.safetensors").read_bytes() == (plain / "model.safetensors").read_bytes()


def test_data_that_the_configuration_names_is_used(corpus: Corpus, tmp_path: Path) -> None:
    train_file, dev_file = tmp_path / "train.jsonl", tmp_path / "dev.jsonl"
    corpus.write(train_file)
    corpus.select([0, 4, 8]).write(dev_file)
    config = Config().updated({"train": str(train_file), "dev": str(dev_file), "from_pretrained": "none"})
    resolved, prepared_data = prepare(None, None, config)
    assert prepared_data.corpus.hash() == corpus.hash()
    assert prepared_data.dev is not None
    assert len(prepared_data.dev) == 3
    assert (resolved.data.train, resolved.data.dev) == (str(train_file), str(dev_file))


def test_data_that_is_given_goes_before_what_the_configuration_names_and_none_is_refused(corpus: Corpus) -> None:
    config = Config().updated({"train": "nowhere.jsonl", "dev": "nowhere.jsonl", "from_pretrained": "none"})
    resolved, prepared_data = prepare(corpus, corpus.select([0, 4, 8]), config)
    assert prepared_data.corpus == corpus
    assert (resolved.data.train, resolved.data.dev) == (None, None)
    with pytest.raises(InputError, match="the training data has 0 instances"):
        prepare(corpus.select([]), None, config.updated({"dev": "", "epochs": 1}))
    with pytest.raises(InputError, match="there is no training data; name a file"):
        prepare(None, None, Config())


def test_files_are_recorded_by_their_full_names_and_datasets_by_their_own(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vectors.txt").write_text("screen 3 2 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pssa.runs.prepared_data.read_with", lambda options, source: corpus)
    config = Config().updated({"vectors": "vectors.txt"})
    resolved, _ = prepare("hf:owner/name", "dev.jsonl", config)
    assert (resolved.data.train, resolved.data.dev) == ("hf:owner/name", str(tmp_path / "dev.jsonl"))
    assert (resolved.data.vectors, resolved.supervision.evidence) == (str(tmp_path / "vectors.txt"), None)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"model": "lstm"}, "unknown model"),
        ({"method": "magic"}, "unknown method 'magic'; known: base, kt"),
        ({"device": "tpu"}, "device is 'tpu'"),
        ({"vectors": "nowhere.txt"}, "nowhere.txt"),
        ({"config": Config(options={"hidden": 3})}, "unknown option 'hidden' of model memnet"),
    ],
)
def test_bad_input_writes_nothing(train_tiny: TrainTiny, tmp_path: Path, settings: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        train_tiny(tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("settings", [{}, {"epochs": 1, "method": "pg-as"}, {"method": "consensus"}])
def test_one_instance_is_too_few_for_anything(corpus: Corpus, tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="data has 1 instance; at least 10 are"):
        write_run(corpus.select([0]), tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_too_few_sentences_for_a_search_write_nothing(train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path) -> None:
    alike = Corpus(tuple(replace(example, sentence_id="one") for example in corpus))
    with pytest.raises(InputError, match="1 different sentences cannot be split"):
        write_run(alike, tmp_path / "run", model="memnet", dimension=8, min_steps=0)
    assert not (tmp_path / "run").exists()
    # Neither a given number of epochs nor development data of its own needs a part of train.
    prepare(alike, None, Config().updated({"epochs": 1, "from_pretrained": "none"}))
    prepare(alike, corpus, Config().updated({"from_pretrained": "none"}))


def test_an_existing_run_is_refused_at_once_and_not_overwritten(train_tiny: TrainTiny, finished_run: Path) -> None:
    with pytest.raises(InputError, match="exists already; choose another path for"):
        train_tiny(finished_run, vectors="nowhere.txt")
    before = contents(finished_run)
    with pytest.raises(InputError, match="exists already; choose another path for"):
        train_tiny(finished_run)
    assert contents(finished_run) == before


TINY: dict[str, Any] = {"model": "memnet", "dimension": 8, "batch_size": 8, "learning_rate": 0.01, "device": "cpu"}


def test_a_training_without_a_folder_returns_a_classifier_that_can_be_saved(corpus: Corpus, tmp_path: Path) -> None:
    classifier = pssa.train(corpus, epochs=2, progress=False, **TINY)
    assert classifier.folder is not None
    folder, text = classifier.folder, corpus[0].text
    assert classifier.save(tmp_path / "saved") == tmp_path / "saved"
    assert pssa.load(tmp_path / "saved").predict(text, "screen") == classifier.predict(text, "screen")
    with pytest.raises(InputError, match="saved exists already"):
        classifier.save(tmp_path / "saved")
    copy = classifier.abstaining(threshold=0.9)
    del classifier
    gc.collect()
    assert copy.folder == folder
    assert folder.is_dir()
    del copy
    gc.collect()
    assert not folder.exists()


def test_the_data_of_a_training_may_be_a_file_a_frame_dicts_or_examples(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    corpus.write(path)
    rows = [{"text": each.text, "aspect": each.aspect_text, "label": each.label} for each in corpus]
    found = [
        pssa.train(data, epochs=1, progress=False, **TINY).predict(corpus[0].text, "screen").probabilities
        for data in (corpus, path, pandas.DataFrame(rows), rows, list(corpus))
    ]
    assert found == [found[0]] * 5


def test_held_out_scores_are_printed_and_kept(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    classifier = pssa.train(corpus, tmp_path / "run", max_epochs=2, **TINY)
    held_out = classifier.held_out
    assert held_out is not None
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert held_out.scores.accuracy == metrics["dev"]["accuracy"]
    assert held_out.majority.instances == held_out.scores.instances == metrics["held_out"]["instances"]
    printed = capsys.readouterr().err
    assert f"accuracy {percent(held_out.scores.accuracy)}" in printed
    assert f"accuracy {percent(held_out.majority.accuracy)}" in printed


def test_a_training_that_holds_nothing_out_says_so(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    classifier = pssa.train(corpus, epochs=1, **TINY)
    assert classifier.held_out is None
    assert "no score" in capsys.readouterr().err
    assert classifier.evaluate(corpus).scores.instances == len(corpus)


def test_processes_that_train_together_need_a_folder(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match="out"):
        pssa.train(corpus, **TINY)
