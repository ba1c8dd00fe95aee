"""Runs from end to end: every method and model, interrupted and resumed, and nothing written on bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pssa
from pssa import models
from pssa.data.example import Corpus
from pssa.errors import InputError, RunError
from pssa.runs import Config, methods, resume, train
from pssa.runs.directory import RunDirectory
from pssa.runs.training_run import prepare
from pssa.training import EpochRecord, Silent

TrainTiny = Callable[..., Path]


class Interrupting(Silent):
    """An observer that counts the epochs of all stages and presses Ctrl-C after so many, if it is told how many."""

    def __init__(self, after: int | None = None) -> None:
        self.seen = 0
        self.after = after

    def on_epoch(self, record: EpochRecord) -> None:
        self.seen += 1
        if self.seen == self.after:
            raise KeyboardInterrupt


def contents(run: Path) -> dict[str, bytes]:
    """Every file of a run by its place in it; the lock is not part of the result."""
    files = (path for path in run.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


def interrupt_and_resume(train_tiny: TrainTiny, run: Path, after: int, **settings: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        train_tiny(run, observer=Interrupting(after), **settings)
    assert not RunDirectory.open(run).finished
    resume(run)


def test_a_run_holds_what_it_should_and_no_more(finished_run: Path) -> None:
    assert {path.name for path in finished_run.iterdir()} == {
        ".lock",
        "README.md",
        "config.toml",
        "history.jsonl",
        "metrics.json",
        "model.json",
        "model.safetensors",
        "stages",
        "vocabulary.json",
    }
    assert not list(finished_run.rglob("checkpoint.safetensors"))


def test_metrics_and_history_say_what_happened(finished_run: Path, corpus: Corpus) -> None:
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


def test_the_configuration_of_a_run_is_resolved(finished_run: Path) -> None:
    config = Config.from_toml(finished_run / "config.toml")
    assert (config.model, config.epochs, config.data.dimension) == ("memnet", 2, 8)
    assert config.options["initial_bound"] == 0.1
    assert config.options["dropout"] == models.option_defaults("memnet")["dropout"]


@pytest.mark.parametrize("vectors", [False, True])
def test_embeddings_are_trained_where_there_are_no_vectors(
    train_tiny: TrainTiny, tmp_path: Path, vectors: bool
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("screen 1 2 3\n")
    given = {"vectors": str(path)} if vectors else {}
    run = train_tiny(tmp_path / "run", model="tnet_att", hidden=3, epochs=1, **given)
    rows = pssa.load(run).model.get_parameter("encoder.words")
    assert (len(rows) == 0) == vectors


def test_the_card_names_model_method_and_labels(finished_run: Path) -> None:
    card = (finished_run / "README.md").read_text()
    for part in ("# memnet (base)", "positive, negative, neutral", "24 instances", "2 dropped as conflict"):
        assert part in card


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.names())
def test_every_method_ends_with_a_classifier(train_tiny: TrainTiny, tmp_path: Path, method: str) -> None:
    run = train_tiny(tmp_path / "run", method=method)
    answer = pssa.load(run).predict("the screen is great", "screen")
    assert answer.label in ("positive", "negative", "neutral")
    assert sum(answer.probabilities.values()) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.names())
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_an_interrupted_method_ends_with_the_same_files(
    train_tiny: TrainTiny, tmp_path: Path, method: str, share: float
) -> None:
    settings = {"method": method, "epochs": 0, "max_epochs": 2}
    watch = Interrupting()
    train_tiny(tmp_path / "undisturbed", observer=watch, **settings)
    after = max(1, int(share * watch.seen))
    interrupt_and_resume(train_tiny, tmp_path / "interrupted", after, **settings)
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


@pytest.mark.slow
@pytest.mark.parametrize("model", models.names())
def test_an_interrupted_model_ends_with_the_same_files(train_tiny: TrainTiny, tmp_path: Path, model: str) -> None:
    settings = {"model": model, "hidden": 3} if "hidden" in models.option_defaults(model) else {"model": model}
    train_tiny(tmp_path / "undisturbed", **settings)
    interrupt_and_resume(train_tiny, tmp_path / "interrupted", 1, **settings)
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


def test_an_interrupted_run_loads_as_far_as_it_came(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("unheard 1 2 3\nscreen 3 2 1\n")
    settings = {"vectors": str(vectors)}
    train_tiny(tmp_path / "one-epoch", epochs=1, **settings)
    with pytest.raises(KeyboardInterrupt):
        train_tiny(tmp_path / "interrupted", epochs=3, observer=Interrupting(1), **settings)
    expected, found = (pssa.load(tmp_path / name) for name in ("one-epoch", "interrupted"))
    assert found.probabilities(corpus).tolist() == expected.probabilities(corpus).tolist()
    answers = [run.predict("an unheard screen", "screen").probabilities for run in (expected, found)]
    assert answers[0] == answers[1]


def test_a_run_may_be_interrupted_again_and_again(train_tiny: TrainTiny, tmp_path: Path) -> None:
    train_tiny(tmp_path / "undisturbed", epochs=4)
    with pytest.raises(KeyboardInterrupt):
        train_tiny(tmp_path / "interrupted", epochs=4, observer=Interrupting(1))
    for epochs in (2, 3):  # an observer is told of finished epochs too
        with pytest.raises(KeyboardInterrupt):
            resume(tmp_path / "interrupted", Interrupting(epochs))
    resume(tmp_path / "interrupted")
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


def test_a_resumed_run_does_not_need_the_users_files(train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path) -> None:
    train_file, vectors = tmp_path / "train.jsonl", tmp_path / "vectors.txt"
    pssa.write(corpus, train_file)
    vectors.write_text("screen 3 2 1\n")
    settings: dict[str, Any] = {"model": "memnet", "vectors": str(vectors), "epochs": 2, "device": "cpu"}
    train(train_file, tmp_path / "undisturbed", **settings)
    with pytest.raises(KeyboardInterrupt):
        train(train_file, tmp_path / "interrupted", observer=Interrupting(1), **settings)
    train_file.unlink()
    vectors.unlink()
    resume(tmp_path / "interrupted")
    assert contents(tmp_path / "interrupted") == contents(tmp_path / "undisturbed")


def test_resuming_a_finished_run_changes_nothing(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run")
    before = contents(run)
    assert resume(run) == run
    assert contents(run) == before


def test_resuming_a_run_that_was_killed_before_it_tidied_up_does_so(
    train_tiny: TrainTiny, finished_run: Path, tmp_path: Path
) -> None:
    run = train_tiny(tmp_path / "run")
    (run / "stages" / "initial").mkdir()
    (run / "stages" / "initial" / "checkpoint.safetensors").touch()
    (run / "stages" / "vectors.safetensors").touch()
    resume(run)
    assert contents(run) == contents(finished_run)
    assert not (run / "stages" / "initial").exists()


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(
    train_tiny: TrainTiny, finished_run: Path, tmp_path: Path
) -> None:
    again, other = train_tiny(tmp_path / "again"), train_tiny(tmp_path / "other", seed=1)
    assert contents(again) == contents(finished_run)
    assert (other / "model.safetensors").read_bytes() != (again / "model.safetensors").read_bytes()


def test_a_run_says_nothing_of_where_it_was_made(finished_run: Path) -> None:
    for name, content in contents(finished_run).items():
        assert str(finished_run).encode() not in content, name


def test_a_search_chooses_the_epochs_and_its_score_is_recorded(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = train_tiny(tmp_path / "run", epochs=0, max_epochs=3, patience=1, smoothing=1)
    metrics = json.loads((run / "metrics.json").read_text())
    records = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    searched = [record for record in records if record["stage"] == "search"]
    best = max(searched, key=lambda record: (record["dev_macro_f1"], -record["epoch"]))
    assert metrics["epochs"] == best["epoch"]
    assert metrics["dev"] == {"accuracy": best["dev_accuracy"], "macro_f1": best["dev_macro_f1"]}
    assert sum(record["stage"] == "initial" for record in records) == best["epoch"]


def test_development_data_of_its_own_never_joins_the_refit(
    train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path
) -> None:
    settings = {"epochs": 0, "max_epochs": 1}
    plain = train_tiny(tmp_path / "plain", **settings)
    with_dev = train_tiny(tmp_path / "with-dev", dev=corpus.select([0, 4, 8]), **settings)
    assert (with_dev / "model.safetensors").read_bytes() == (plain / "model.safetensors").read_bytes()


def test_a_run_trained_from_a_file_equals_one_trained_from_its_corpus(
    train_tiny: TrainTiny, finished_run: Path, corpus: Corpus, tmp_path: Path
) -> None:
    path = tmp_path / "train.jsonl"
    pssa.write(corpus, path)
    config = Config.from_toml(finished_run / "config.toml")
    run = train(path, tmp_path / "run", config=config)
    assert (run / "model.safetensors").read_bytes() == (finished_run / "model.safetensors").read_bytes()
    assert Config.from_toml(run / "config.toml").data.train == str(path)


def test_data_that_the_configuration_names_is_used(corpus: Corpus, tmp_path: Path) -> None:
    train_file, dev_file = tmp_path / "train.jsonl", tmp_path / "dev.jsonl"
    pssa.write(corpus, train_file)
    pssa.write(corpus.select([0, 4, 8]), dev_file)
    config = Config().updated({"train": str(train_file), "dev": str(dev_file)})
    resolved, materials = prepare(None, None, config)
    assert materials.corpus.hash() == corpus.hash()
    assert materials.dev is not None
    assert len(materials.dev) == 3
    assert (resolved.data.train, resolved.data.dev) == (str(train_file), str(dev_file))


def test_data_that_is_given_goes_before_what_the_configuration_names(corpus: Corpus) -> None:
    config = Config().updated({"train": "nowhere.jsonl", "dev": "nowhere.jsonl"})
    resolved, materials = prepare(corpus, corpus.select([0, 4, 8]), config)
    assert materials.corpus == corpus
    assert (resolved.data.train, resolved.data.dev) == ("", "")
    with pytest.raises(InputError, match="the training data has 0 instances"):
        prepare(corpus.select([]), None, config.updated({"dev": "", "epochs": 1}))


def test_a_training_without_data_is_refused() -> None:
    with pytest.raises(InputError, match="no training data is given; name a file with --train"):
        prepare(None, None, Config())


def test_files_are_recorded_by_their_full_names_and_datasets_by_their_own(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vectors.txt").write_text("screen 3 2 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pssa.runs.training_run.read", lambda source, **how: corpus)
    config = Config().updated({"vectors": "vectors.txt"})
    resolved, _ = prepare("hf:owner/name", "dev.jsonl", config)
    assert (resolved.data.train, resolved.data.dev) == ("hf:owner/name", str(tmp_path / "dev.jsonl"))
    assert (resolved.data.vectors, resolved.supervision.evidence) == (str(tmp_path / "vectors.txt"), "")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"model": "lstm"}, "unknown model"),
        ({"method": "magic"}, "unknown method 'magic'; known: base, kt"),
        ({"device": "tpu"}, "device is 'tpu'"),
        ({"speed": 1}, "unknown setting 'speed'"),
        ({"vectors": "nowhere.txt"}, "nowhere.txt"),
        ({"patience": 0}, "patience is 0"),
        ({"model": "tnet", "gating": "loss"}, "gating is 'loss'"),
        ({"config": Config(options={"hidden": 3})}, "unknown option 'hidden' of model memnet"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    train_tiny: TrainTiny, tmp_path: Path, settings: dict[str, Any], what: str
) -> None:
    with pytest.raises(InputError, match=what):
        train_tiny(tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_a_corpus_that_is_too_small_writes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 3 instances"):
        train(corpus.select(range(3)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_too_few_sentences_for_a_search_write_nothing(train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path) -> None:
    alike = Corpus(tuple(replace(example, sentence_id="one") for example in corpus))
    with pytest.raises(InputError, match="1 different sentences cannot be cut into 2 parts"):
        train(alike, tmp_path / "run", model="memnet", dimension=8)
    assert not (tmp_path / "run").exists()
    # Neither a given number of epochs nor development data of its own needs a part of train.
    prepare(alike, None, Config(epochs=1))
    prepare(alike, corpus, Config())


def test_a_taken_place_is_refused_before_vectors_are_read(train_tiny: TrainTiny, finished_run: Path) -> None:
    with pytest.raises(InputError, match="exists already; choose another --out"):
        train_tiny(finished_run, vectors="nowhere.txt")


def test_an_existing_run_is_not_overwritten(train_tiny: TrainTiny, finished_run: Path) -> None:
    before = contents(finished_run)
    with pytest.raises(InputError, match="exists already; choose another --out"):
        train_tiny(finished_run)
    assert contents(finished_run) == before


def test_a_run_in_progress_cannot_be_resumed_by_another(train_tiny: TrainTiny, tmp_path: Path) -> None:
    class Meddling(Silent):
        def on_epoch(self, record: EpochRecord) -> None:
            with pytest.raises(RunError, match="is in use by another process"):
                resume(tmp_path / "run")

    train_tiny(tmp_path / "run", observer=Meddling())


def test_what_is_no_run_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        resume(tmp_path)
    (tmp_path / "model.json").touch()
    with pytest.raises(InputError, match=r"has no config\.toml, so it was stopped before it began"):
        resume(tmp_path)


def test_a_damaged_checkpoint_is_named(train_tiny: TrainTiny, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train_tiny(run, observer=Interrupting(1))
    (path,) = run.rglob("checkpoint.safetensors")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged"):
        resume(run)
