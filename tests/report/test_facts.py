"""What the run is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.documents import parse

from pssa import __version__
from pssa.report.facts import describe, unusual_settings
from pssa.report.subject import Subject
from pssa.runs import Config
from pssa.runs.defaults import resolve


def rows_of(source: str) -> dict[str, str]:
    return {row.children[0].text: row.children[1].text for row in parse(source).all("table")[0].all("tr")}


def test_the_facts_are_those_of_the_run(run: Path) -> None:
    found = rows_of(describe(Subject.open(run)).body.source)
    counts = Subject.open(run).metrics or {}
    assert (found["model"], found["method"], found["seed"]) == ("memnet", "aw-as", "0")
    assert found["labels"] == "positive, negative, neutral"
    assert found["training data"].startswith("60 instances (")
    assert found["data digest"] == counts["corpus_hash"][:16]
    assert found["epochs"] == "2 (given, not searched)"
    assert found["written by"] == f"pssa {__version__}"


@pytest.mark.parametrize(
    ("config", "dev", "epochs", "score"),
    [
        (Config(epochs=3), None, "3 (given, not searched)", None),
        (Config(model="bertabsa_att"), None, "3 (usual for encoders)", None),
        (Config(method="base"), {"accuracy": 0.5, "macro_f1": 0.25}, "3", "accuracy 50.00, macro-F1 25.00;"),
        (
            Config(method="pg-as"),
            {"accuracy": 0.5, "macro_f1": 0.25},
            "3",
            "accuracy 50.00, macro-F1 25.00, before mining;",
        ),
        (
            Config(method="pg-as").updated({"evidence": "e.jsonl"}),
            {"accuracy": 0.5, "macro_f1": 0.25},
            "3",
            "accuracy 50.00, macro-F1 25.00;",
        ),
    ],
)
def test_what_chose_the_epochs_and_when_is_said_as_it_was(
    run: Path, config: Config, dev: dict[str, float] | None, epochs: str, score: str | None
) -> None:
    subject = Subject.open(run)
    assert subject.metrics is not None
    measured = replace(subject, config=config, metrics=subject.metrics | {"dev": dev, "epochs": 3})
    found = rows_of(describe(measured).body.source)
    assert found["epochs"] == epochs
    assert found.get("development score") == (score and f"{score} it chose the number of epochs")


def test_only_what_somebody_chose_is_listed(run: Path) -> None:
    config = Subject.open(run).config
    assert config is not None
    assert dict(unusual_settings(config)) == {
        "device": "cpu",
        "epochs": "2",
        "data.dimension": "8",
        "options.initial_bound": "0.1",
        "training.learning_rate": "0.02",
        "training.batch_size": "16",
        "mining.epsilon": "9.0",
        "mining.iterations": "2",
        "supervision.gamma": "20.0",
    }


@pytest.mark.parametrize("model", ["memnet", "tnet", "tnet_att", "bertabsa_att"])
def test_a_run_with_the_defaults_has_nothing_to_list(model: str) -> None:
    assert unusual_settings(resolve(Config(model=model, method="base", seed=7))) == []


def test_files_are_named_without_their_folders() -> None:
    config = Config(model="memnet").updated({"train": "/home/me/secret/train.csv", "vectors": "/big/glove.txt"})
    assert dict(unusual_settings(config)) == {"data.train": "train.csv", "data.vectors": "glove.txt"}


def test_columns_are_listed_as_they_are_given() -> None:
    config = Config(model="memnet").updated({"columns": {"text": "review", "aspect": "term"}})
    assert unusual_settings(config) == [("data.columns", "text=review, aspect=term")]


def test_without_vectors_trained_embeddings_are_nothing_special() -> None:
    learned = Config(model="tnet_att", options={"train_embeddings": True})
    assert unusual_settings(learned) == []
    given = learned.updated({"vectors": "v.txt"})
    assert dict(unusual_settings(given)) == {"data.vectors": "v.txt", "options.train_embeddings": "True"}


def test_a_model_without_a_run_around_it_is_described_as_far_as_it_is_known(run: Path) -> None:
    found = rows_of(describe(Subject.open(run / "stages" / "initial")).body.source)
    assert set(found) == {"fact", "model", "labels", "written by"}
