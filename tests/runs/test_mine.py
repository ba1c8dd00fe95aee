"""Mining without the final training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus
from pssa.errors import InputError
from pssa.runs import Config
from pssa.runs.training_run import mine
from pssa.training import Observer

SETTINGS: dict[str, Any] = {"model": "memnet", "dimension": 8, "epochs": 2, "batch_size": 8, "device": "cpu"}
NO_GATE = 9.0  # bits, more than any sentence here can have


@pytest.mark.slow
@pytest.mark.parametrize("method", ["aw-as", "pg-as", "rm-as", "consensus"])
def test_mining_alone_finds_the_same(
    train_tiny: Callable[..., Path], corpus: Corpus, tmp_path: Path, method: str
) -> None:
    run = train_tiny(tmp_path / "run", method=method)
    config = Config.from_toml(run / "config.toml")
    mine(corpus, tmp_path / "evidence.jsonl", config=config)
    assert (tmp_path / "evidence.jsonl").read_bytes() == (run / "evidence.jsonl").read_bytes()


def test_the_evidence_is_returned_and_written_with_its_provenance(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    evidence = mine(corpus, path, **SETTINGS, method="pg-as", iterations=3, epsilon=NO_GATE, seed=4)
    assert read_evidence(path) == evidence
    header = evidence.header
    assert (header.model, header.saliency, header.method) == ("memnet", "gradient", "pg-as")
    assert (header.epsilon, header.iterations, header.seed) == (NO_GATE, 3, 4)
    assert header.corpus_hash == corpus.hash()
    assert [report.iteration for report in header.rounds] == [1, 2, 3]
    # No gate is closed, and every sentence has more than three candidates.
    assert all(len(example.findings) == 3 for example in evidence.examples)
    assert sum(report.active + report.misleading for report in header.rounds) == 3 * len(corpus)


def test_cross_fitted_mining_finds_other_words(corpus: Corpus, tmp_path: Path) -> None:
    settings = SETTINGS | {"method": "aw-as", "iterations": 1, "epsilon": NO_GATE}
    plain = mine(corpus, tmp_path / "plain.jsonl", **settings)
    folded = mine(corpus, tmp_path / "folded.jsonl", **settings, folds=3)
    assert len(folded.examples) == len(plain.examples) == len(corpus)
    assert folded.examples != plain.examples


def test_a_place_that_takes_no_new_file_is_refused_before_anything_is_trained(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    path.write_text("mine")
    with pytest.raises(InputError, match=r"evidence\.jsonl exists already; choose"):
        mine(corpus, path, **SETTINGS, method="pg-as")
    assert path.read_text() == "mine"
    with pytest.raises(InputError, match="nowhere is not a directory; out must"):
        mine(replace(corpus, examples=()), tmp_path / "nowhere" / "evidence.jsonl", method="aw-as")
    with pytest.raises(InputError, match=r"/proc/evidence\.jsonl cannot be written"):
        mine(corpus, "/proc/evidence.jsonl", **SETTINGS, method="pg-as")


class Stages(Observer):
    """An observer that notes which trainings there were."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_stage(self, stage: str, steps: int) -> None:
        self.seen.append(stage)


@pytest.mark.slow
def test_cross_fitted_mining_trains_what_it_uses(
    train_tiny: Callable[..., Path], corpus: Corpus, tmp_path: Path
) -> None:
    run = train_tiny(tmp_path / "run", method="aw-as", folds=2, iterations=2)
    stages = Stages()
    mine(corpus, tmp_path / "evidence.jsonl", config=Config.from_toml(run / "config.toml"), observer=stages)
    assert stages.seen == ["initial-fold-1", "initial-fold-2", "round-2-fold-1", "round-2-fold-2"]
    assert (tmp_path / "evidence.jsonl").read_bytes() == (run / "evidence.jsonl").read_bytes()


def test_each_way_of_starting_a_round_finds_its_words(corpus: Corpus, tmp_path: Path) -> None:
    settings = SETTINGS | {"method": "aw-as", "iterations": 2, "epsilon": NO_GATE}
    found = [mine(corpus, tmp_path / f"{start}.jsonl", **settings, start=start) for start in ("continue", "restart")]
    first, second = ([example.findings[0] for example in evidence.examples] for evidence in found)
    assert first == second, "round 1 looks at the initial model in both"
    assert found[0].examples != found[1].examples


@pytest.mark.parametrize("method", ["base", "kt"])
def test_a_method_that_does_not_mine_is_refused(corpus: Corpus, tmp_path: Path, method: str) -> None:
    with pytest.raises(InputError, match=f"method {method} does not mine; use aw-as"):
        mine(corpus, tmp_path / "evidence.jsonl", **SETTINGS, method=method)
    assert not list(tmp_path.iterdir())


def test_evidence_to_train_with_is_no_setting_of_mining(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"evidence is old\.jsonl; it is for"):
        mine(corpus, tmp_path / "evidence.jsonl", config=Config().updated({"method": "aw-as", "evidence": "old.jsonl"}))
    with pytest.raises(InputError, match="gamma is a setting of the final training"):
        mine(corpus, tmp_path / "evidence.jsonl", **SETTINGS, method="aw-as", gamma=2)
