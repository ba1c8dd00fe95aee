"""Compact copies of runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.aspects.made_taggers import toy_sentences, toy_tagger

import pssa
from pssa.aspects import load_finder
from pssa.data.example import Corpus
from pssa.runs.copies import write_compact
from pssa.runs.directory import read_tensors

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
