"""The looks by name, and each of them once for real, on models that train in a blink."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.experiments.analyses.subjects import write_opinion_words
from tests.experiments.rooms import tiny_resources

from pssa.data import read
from pssa.errors import InputError
from pssa.experiments.analyses import find, names
from pssa.experiments.cells import Look, Mining, Place, Training, settings
from pssa.experiments.engines import open_engine
from pssa.experiments.ledger import Ledger
from pssa.experiments.resources import Resources
from pssa.experiments.schedule import carry_out_all
from pssa.experiments.workspace import Workroom

PLACE = Place("laptop", "memnet", 0)
PLAIN = Training(PLACE)
SUPERVISED = Training(PLACE, evidence=(Mining(PLACE, "pg-as", settings(iterations=2)),))
LOOKS = {
    "agreement": Look(PLAIN, "agreement"),
    "faithfulness": Look(PLAIN, "faithfulness", settings(limit=15)),
    "rare words": Look(SUPERVISED, "rare_words"),
    "heat": Look(PLAIN, "heat", settings(test=(1, 2), train=(3,))),
    "attention": Look(SUPERVISED, "round_attention"),
}


def marked_resources(folder: Path) -> Resources:
    """Tiny resources in which the last word but the full stop of every sentence is marked."""
    resources = tiny_resources(folder)
    source = resources.sources["laptop"]
    words = folder / "opinion_words"
    words.mkdir()
    for part in ("train", "test"):
        corpus = read(getattr(source, part))
        marked = [[word for word in example.words if word.isalpha()][-1:] for example in corpus]
        write_opinion_words(words / f"{part}.tsv", corpus, *marked)
    return replace(resources, sources={"laptop": replace(source, opinion_words=words)})


def test_a_file_is_a_look() -> None:
    assert set(names()) == {"agreement", "faithfulness", "heat", "rare_words", "round_attention"}


def test_an_unknown_look_is_refused() -> None:
    with pytest.raises(InputError, match="unknown look 'glance'; known: "):
        find("glance")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("looks")
    room = Workroom(folder / "out", marked_resources(folder))
    with Ledger.open(folder / "out" / "cells.jsonl") as ledger, open_engine("local", 1) as engine:
        outcome = carry_out_all([*LOOKS.values(), *SUPERVISED.evidence], room, ledger, engine)
        assert not outcome.failures
    # As a later process reads it.
    ledger = Ledger.read(folder / "out" / "cells.jsonl")
    records = {name: ledger.find(room.key(look)) for name, look in LOOKS.items()}
    mined = ledger.find(room.key(SUPERVISED.evidence[0]))
    assert mined is not None
    return {name: record["found"] for name, record in records.items() if record} | {"mined": mined}


@pytest.mark.slow
def test_faithfulness_is_looked_at_for_real(found: dict[str, Any]) -> None:
    assert found["faithfulness"]["instances"] == 15
    assert set(found["faithfulness"]["mask"]) == set(found["faithfulness"]["deletion"]) == {"attention", "gradient"}


@pytest.mark.slow
def test_agreement_is_looked_at_for_real(found: dict[str, Any]) -> None:
    looked = found["agreement"]
    assert [(pair["first"], pair["second"]) for pair in looked["correlation"]] == [("attention", "gradient")]
    assert looked["agreement"]["instances"] + looked["agreement"]["left_out"] == 20
    assert set(looked["agreement"]["saliencies"]) == {"attention", "gradient", "nearest word"}


@pytest.mark.slow
def test_every_marked_test_instance_is_in_a_bucket(found: dict[str, Any]) -> None:
    rows = found["rare words"].values()
    assert sum(row["instances"] for row in rows) == found["agreement"]["agreement"]["instances"]
    assert all(0 <= row["right"] <= row["instances"] and 0 <= row["mass"] <= row["instances"] + 1e-6 for row in rows)


@pytest.mark.slow
def test_sentences_have_shares_that_sum_to_one(found: dict[str, Any]) -> None:
    assert [(each["part"], each["line"]) for each in found["heat"]] == [("test", 1), ("test", 2), ("train", 3)]
    for each in found["heat"]:
        assert sum(each["shares"]) == pytest.approx(1, abs=0.01)
        assert sum(each["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert len(each["shares"]) == len(each["spans"])
    json.dumps(found["heat"], allow_nan=False)


@pytest.mark.slow
def test_attention_is_told_of_every_word_that_was_mined(found: dict[str, Any]) -> None:
    rounds = found["mined"]["rounds"]
    assert set(found["attention"]) == set(rounds)
    for number, row in found["attention"].items():
        for kind in ("active", "misleading"):
            assert row[kind]["words"] == rounds[number][kind]
            assert 0 <= row[kind]["attention"] <= row[kind]["words"]
