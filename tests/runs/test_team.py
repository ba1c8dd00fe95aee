"""A run by two processes, started as a user would start it: the same evidence and weights as by one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from pssa.data.example import Corpus
from pssa.data.io import write

SETTINGS = ["dimension=8", "dropout=0.0", "embedding_dropout=0.0", "initial_bound=0.5", "device=cpu"]
OPTIONS = ["--model", "memnet", "--method", "pg-as", "--iterations", "2", "--epochs", "2", "--batch-size", "8"]


def pssa(launcher: list[str], *arguments: str) -> str:
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    command = [sys.executable, *launcher, "-m", "pssa", *arguments, *settings]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=900).stdout


@pytest.mark.slow
def test_two_processes_make_the_run_that_one_makes(corpus: Corpus, tmp_path: Path) -> None:
    write(corpus, tmp_path / "train.jsonl")
    # Standalone: at a port that is free, where else it is one and the same for all of a machine.
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    data = ["train", "--train", str(tmp_path / "train.jsonl"), *OPTIONS]
    alone = pssa([], *data, "--out", str(tmp_path / "one"))
    together = pssa(launcher, *data, "--out", str(tmp_path / "two"))
    assert together.replace("/two", "/one") == alone  # said once
    assert (tmp_path / "two" / "evidence.jsonl").read_text().count("\n") == len(corpus) + 1
    assert {path.name for path in (tmp_path / "two").iterdir()} == {path.name for path in (tmp_path / "one").iterdir()}
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    for name, tensor in one.items():
        torch.testing.assert_close(two[name], tensor, rtol=0, atol=1e-5)
