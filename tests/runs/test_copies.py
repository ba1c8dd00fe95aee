"""Copies of runs: on a model hub, here a stub of the library's client, and compact ones."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.aspects.made_taggers import toy_sentences, toy_tagger
from tests.runs.hub_stub import TOKEN, Hub, Repository

import pssa
from pssa.aspects import load_finder
from pssa.data.example import Corpus
from pssa.errors import InputError, MissingExtra
from pssa.runs.copies import push_to_hub, write_compact
from pssa.runs.directory import read_tensors
from pssa.runs.training_run import write_run

library = pytest.importorskip("huggingface_hub")


def test_a_run_comes_back_as_it_was_and_needs_no_network(hub: Hub, finished_run: Path, corpus: Corpus) -> None:
    assert push_to_hub(finished_run, "owner/model") == f"{hub.endpoint}/owner/model"
    expected = pssa.load(finished_run).torch.probabilities(corpus)
    assert pssa.load("hf:owner/model").torch.probabilities(corpus).equal(expected)
    hub.online = False
    assert pssa.load("hf:owner/model").torch.probabilities(corpus).equal(expected)
    with pytest.raises(InputError, match="other: not in the cache, and the hub"):
        pssa.load("hf:owner/other")
    with pytest.raises(InputError, match=r"model: the hub cannot be reached \(.*\)"):
        push_to_hub(finished_run, "owner/model")


@pytest.mark.slow
def test_a_run_with_an_encoder_comes_back_without_the_encoders_folder(hub: Hub, corpus: Corpus, tmp_path: Path) -> None:
    encoders = pytest.importorskip("tests.models.encoders")
    folder = tmp_path / "small-bert"
    encoders.tiny_encoder().body(None, 0.1).save_pretrained(folder)
    encoders.tiny_encoder().tokenizer.save_pretrained(folder)
    run = write_run(corpus, tmp_path / "run", model="bertabsa_att", encoder=str(folder), epochs=1, device="cpu")
    push_to_hub(run, "owner/model")
    assert tomllib.loads(hub.files("owner/model")["config.toml"].decode())["data"]["encoder"] == "small-bert"
    assert not any(str(tmp_path).encode() in content for content in hub.files("owner/model").values())
    expected = pssa.load(run).torch.probabilities(corpus)
    shutil.rmtree(folder)
    assert pssa.load("hf:owner/model").torch.probabilities(corpus).equal(expected)


@pytest.mark.slow
def test_a_branch_holds_another_run(hub: Hub, copied_run: Path, corpus: Corpus) -> None:
    push_to_hub(copied_run, "owner/model")
    (copied_run / "evidence.jsonl").write_text("{}")
    for _ in range(2):  # the second time the branch is there
        address = push_to_hub(copied_run, "owner/model", revision="mined")
    assert address == f"{hub.endpoint}/owner/model/tree/mined"
    assert "evidence.jsonl" in hub.files("owner/model", "mined")
    assert "evidence.jsonl" not in hub.files("owner/model")
    assert pssa.load("hf:owner/model@mined").labels == pssa.load(copied_run).labels
    with pytest.raises(InputError, match=r"owner/model: has no revision mine$"):
        pssa.load("hf:owner/model@mine")


def test_a_private_repository_is_not_seen(hub: Hub, finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    push_to_hub(finished_run, "owner/model", private=True)
    assert hub.repositories["owner/model"].private
    pssa.load("hf:owner/model")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(InputError, match="owner/model: no such repository"):
        pssa.load("hf:owner/model")
    with pytest.raises(InputError, match="owner/nothing: no such repository"):
        pssa.load("hf:owner/nothing")


def test_nothing_private_goes_into_a_public_repository(hub: Hub, finished_run: Path) -> None:
    hub.repositories["owner/model"] = Repository(branches={"main": {}})
    with pytest.raises(InputError, match="owner/model exists already and is public"):
        push_to_hub(finished_run, "owner/model", private=True)
    assert hub.files("owner/model") == {}


@pytest.mark.parametrize(("name", "token"), [("owner/model", ""), ("owner/model", "hf_wrong"), ("other/model", TOKEN)])
def test_a_push_without_permission_is_refused(
    hub: Hub, finished_run: Path, monkeypatch: pytest.MonkeyPatch, name: str, token: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(InputError, match=f"{name}: the hub refuses access"):
        push_to_hub(finished_run, name)


@pytest.mark.parametrize("name", ["a/b/c", "", "../model", "owner/mo del"])
def test_what_is_no_name_is_told(hub: Hub, finished_run: Path, name: str) -> None:
    for call in (lambda: push_to_hub(finished_run, name), lambda: pssa.load(f"hf:{name}")):
        with pytest.raises(InputError, match="not the name of a repository; expected"):
            call()
    assert hub.requests == []


def test_a_repository_without_a_run_is_refused_before_its_weights_are_fetched(hub: Hub) -> None:
    tree = {"model.safetensors": b"somebody else's", "config.json": b"{}"}
    hub.repositories["owner/other"] = Repository(branches={"main": tree})
    with pytest.raises(InputError, match="owner/other: not a run: it has no"):
        pssa.load("hf:owner/other")
    assert not any("safetensors" in request for request in hub.requests)


def test_what_is_no_finished_run_is_refused_before_the_hub_is_asked(hub: Hub, copied_run: Path, tmp_path: Path) -> None:
    (copied_run / "metrics.json").unlink()
    with pytest.raises(InputError, match="is not a finished run"):
        push_to_hub(copied_run, "owner/model")
    with pytest.raises(InputError, match=r"is not a run: it has neither model.json"):
        push_to_hub(tmp_path, "owner/model")
    assert hub.requests == []


def test_a_missing_library_is_named_with_its_extra(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for call in (lambda: push_to_hub(finished_run, "owner/model"), lambda: pssa.load("hf:owner/model")):
        with pytest.raises(MissingExtra, match="huggingface_hub is not installed; get it"):
            call()


FILES = {
    "README.md",
    "config.toml",
    "history.jsonl",
    "metrics.json",
    "inputs.json",
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


def test_no_path_of_this_machine_goes_with_the_run(hub: Hub, corpus: Corpus, tmp_path: Path) -> None:
    train, dev, vectors = tmp_path / "train.jsonl", tmp_path / "dev.jsonl", tmp_path / "vectors.txt"
    corpus.write(train)
    corpus.write(dev)
    vectors.write_text("great 1 0\npoor 0 1\n")
    evidence = tmp_path / "evidence.jsonl"
    pssa.mine(corpus, evidence, model="memnet", method="pg-as", dimension=2, epochs=1, iterations=1)
    files = {"data.train": str(train), "data.dev": str(dev), "data.vectors": str(vectors)}
    config = pssa.Config().updated({"model": "memnet", "epochs": 1, "supervision.evidence": str(evidence), **files})
    run = write_run(None, tmp_path / "run", config=config)
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
    assert 'classifier = pssa.load("hf:owner/model")' in body
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
    assert set(hub.files("owner/model")) == {*FILES, "evidence.jsonl", THEIRS}
    hub.files("owner/model")["picture.png"] = b"theirs"
    (copied_run / "evidence.jsonl").unlink()
    push_to_hub(copied_run, "owner/model", message="second")
    assert hub.repositories["owner/model"].messages == ["first", "second"]
    assert set(hub.files("owner/model")) == {*FILES, THEIRS, "picture.png"}


def test_a_push_beside_a_model_that_is_no_run_deletes_none_of_its_files(hub: Hub, copied_run: Path) -> None:
    theirs = {"config.json": b"{}", "tokenizer.json": b"{}"}
    hub.repositories["owner/other"] = Repository(branches={"main": dict(theirs)})
    push_to_hub(copied_run, "owner/other")
    assert theirs.items() <= hub.files("owner/other").items()


TEXT = "The screen is great and the battery life is poor."


@pytest.fixture(scope="module")
def vectors(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vector for every word of the corpora of classifier and tagger, and for two more."""
    texts = [*(example.text for example in corpus), *(sentence.text for sentence in toy_sentences())]
    words = dict.fromkeys([*re.findall(r"\w+|[^\w\s]", " ".join(texts)), "hotel", "room"])
    generator = torch.Generator().manual_seed(0)
    rows = (f"{word} {' '.join(map(str, torch.randn(8, generator=generator).tolist()))}" for word in words)
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def whole(train_tiny: Callable[..., Path], vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on word vectors, with mined evidence and a tagger."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    train_tiny(run, model="tnet_att", method="aw-as", iterations=1, hidden=4, vectors=str(vectors), calibrate="none")
    toy_tagger(run / "aspects", vectors=str(vectors), epochs=1)
    return run


@pytest.fixture(scope="module")
def compact(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compact copy of it."""
    return write_compact(whole, tmp_path_factory.mktemp("runs") / "compact")


def test_a_compact_copy_and_its_copy_answer_as_the_run_does(whole: Path, compact: Path, tmp_path: Path) -> None:
    was, now = (pssa.load(run).predict(TEXT, "battery life") for run in (whole, compact))
    assert now.probabilities == pytest.approx(was.probabilities, abs=2e-3)
    assert load_finder(compact).find(TEXT) == load_finder(whole).find(TEXT)
    assert {tensor.dtype for tensor in pssa.load(compact).torch.model.state_dict().values()} == {torch.float32}
    again = write_compact(compact, tmp_path / "again")
    was, now = (pssa.load(run).predict(TEXT, "battery life") for run in (compact, again))
    assert now == was
    assert load_finder(again).find(TEXT) == load_finder(compact).find(TEXT)


def test_it_holds_no_training_data_and_no_path_of_this_machine(whole: Path, compact: Path, corpus: Corpus) -> None:
    kept = {path.relative_to(compact).as_posix() for path in compact.rglob("*") if path.is_file()}
    assert {"model.safetensors", "aspects/model.safetensors", "README.md"} <= kept
    assert not {name for name in kept if "stages" in name or "evidence" in name}
    content = b"".join((compact / name).read_bytes() for name in kept)
    assert corpus[0].text.encode() not in content
    assert str(whole.parent.parent).encode() not in content


def test_weights_are_stored_in_half_precision(compact: Path) -> None:
    for folder in (compact, compact / "aspects"):
        tensors, _ = read_tensors(folder / "model.safetensors")
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}


def test_an_ensemble_is_copied_with_its_members(tmp_path: Path) -> None:
    ensemble = Path(__file__).parents[1] / "fixtures" / "v0_1" / "runs" / "adaboost"
    copied = pssa.load(write_compact(ensemble, tmp_path / "few"))
    assert len(copied.torch.members) == len(pssa.load(ensemble).torch.members) > 1
    assert copied.predict(TEXT, "screen").label == pssa.load(ensemble).predict(TEXT, "screen").label


def test_an_exported_run_is_copied_and_pushed_whole(hub: Hub, tmp_path: Path) -> None:
    copied = pssa.load(write_compact("starter", tmp_path / "copy"))
    push_to_hub(tmp_path / "copy", "owner/model")
    expected = pssa.load("starter").predict(TEXT)
    assert copied.predict(TEXT) == pssa.load("hf:owner/model").predict(TEXT) == expected
