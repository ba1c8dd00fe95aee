"""What goes into a model hub with a run, and what stays here."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runs.hub_server import Hub

import pssa
from pssa.data.example import Corpus
from pssa.runs.hub import push_to_hub

# The library's own way of sending a large file.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

FILES = {
    "README.md",
    "config.toml",
    "history.jsonl",
    "metrics.json",
    "model.json",
    "model.safetensors",
    "vocabulary.json",
}
THEIRS = ".gitattributes"  # every repository of the hub begins with it


def test_what_resuming_needs_and_what_is_half_written_stays_here(hub: Hub, copied_run: Path) -> None:
    (copied_run / ".model.json.7.part").write_text("half")
    (copied_run / "notes.txt").write_text("mine")
    assert (copied_run / "stages" / "corpus.jsonl").is_file()
    push_to_hub(copied_run, "owner/model")
    assert set(hub.files("owner/model")) == {*FILES, THEIRS}


def test_evidence_goes_with_the_run(hub: Hub, copied_run: Path) -> None:
    (copied_run / "evidence.jsonl").write_text("{}")
    push_to_hub(copied_run, "owner/model")
    assert set(hub.files("owner/model")) == {*FILES, "evidence.jsonl", THEIRS}


def test_no_path_of_this_machine_goes_with_the_run(hub: Hub, corpus: Corpus, tmp_path: Path) -> None:
    train, dev, vectors = tmp_path / "train.jsonl", tmp_path / "dev.jsonl", tmp_path / "vectors.txt"
    pssa.write(corpus, train)
    pssa.write(corpus, dev)
    vectors.write_text("great 1 0\npoor 0 1\n")
    evidence = tmp_path / "evidence.jsonl"
    pssa.mine(corpus, evidence, model="memnet", method="pg-as", dimension=2, epochs=1, iterations=1)
    files = {"data.train": str(train), "data.dev": str(dev), "data.vectors": str(vectors)}
    config = pssa.Config().updated({"model": "memnet", "epochs": 1, "supervision.evidence": str(evidence), **files})
    run = pssa.train(None, tmp_path / "run", config=config)
    before = (run / "config.toml").read_bytes()
    push_to_hub(run, "owner/model")
    here, there = tomllib.loads(before.decode()), tomllib.loads(hub.files("owner/model")["config.toml"].decode())
    assert (run / "config.toml").read_bytes() == before
    assert here["data"]["train"] == str(train)
    assert not {"train", "dev", "vectors"} & set(there["data"])
    assert "evidence" not in there["supervision"]
    assert there["mining"] == here["mining"]
    assert not any(str(tmp_path).encode() in content for content in hub.files("owner/model").values())


@pytest.mark.parametrize(
    ("given", "expected"), [("/home/me/encoders/bert-tiny", "bert-tiny"), ("google/bert-base", "google/bert-base")]
)
def test_an_encoders_folder_is_told_by_its_name_alone(hub: Hub, copied_run: Path, given: str, expected: str) -> None:
    config = pssa.Config.from_toml(copied_run / "config.toml")
    named = replace(config, data=replace(config.data, encoder=given))
    (copied_run / "config.toml").write_text(named.to_toml())
    (copied_run / "encoder").mkdir()
    (copied_run / "encoder" / "config.json").write_text(json.dumps({"_name_or_path": given, "hidden_size": 8}))
    (copied_run / "encoder" / "tokenizer.json").write_text('{"model":\n{}}')
    push_to_hub(copied_run, "owner/model")
    files = hub.files("owner/model")
    assert tomllib.loads(files["config.toml"].decode())["data"]["encoder"] == expected
    assert json.loads(files["encoder/config.json"]) == {"_name_or_path": expected, "hidden_size": 8}
    assert files["encoder/tokenizer.json"] == b'{"model":\n{}}'


def test_the_card_has_what_the_hub_wants_and_the_runs_own_stays_as_it_is(hub: Hub, copied_run: Path) -> None:
    path = copied_run / "README.md"
    path.write_text(path.read_text().replace("library_name: pssa\n", "library_name: pssa\nlicense: mit\n"))
    before = path.read_text()
    push_to_hub(copied_run, "owner/model")
    card = hub.files("owner/model")["README.md"].decode()
    _, head, body = card.split("---\n", 2)
    assert head.splitlines() == [
        "library_name: pssa",
        "license: mit",
        "tags: [aspect-based-sentiment-analysis]",
        "pipeline_tag: text-classification",
    ]
    assert 'classifier = pssa.from_pretrained("owner/model")' in body
    assert "path/to" not in body
    assert path.read_text() == before


@pytest.mark.parametrize("text", [None, "# mine\n---\nnot a head\n---\n"])
def test_a_card_without_a_head_gets_one(hub: Hub, copied_run: Path, text: str | None) -> None:
    path = copied_run / "README.md"
    path.unlink() if text is None else path.write_text(text)
    push_to_hub(copied_run, "owner/model")
    card = hub.files("owner/model")["README.md"].decode()
    assert card.startswith("---\nlibrary_name: pssa\npipeline_tag: text-classification\ntags: ")
    assert card.endswith(f"]\n---\n{text or ''}")


def test_a_second_push_replaces_the_run_and_leaves_other_files(hub: Hub, copied_run: Path) -> None:
    (copied_run / "evidence.jsonl").write_text("{}")
    push_to_hub(copied_run, "owner/model", message="first")
    hub.files("owner/model")["picture.png"] = b"theirs"
    (copied_run / "evidence.jsonl").unlink()
    push_to_hub(copied_run, "owner/model", message="second")
    assert hub.repositories["owner/model"].messages[1:] == ["first", "second"]
    assert set(hub.files("owner/model")) == {*FILES, THEIRS, "picture.png"}
