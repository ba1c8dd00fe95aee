"""The command in this process, a small file to train on, and a run made of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import TIMEOUT_MAX

import pytest
from tests.cli.command import Command, Result

from pssa.cli import main
from pssa.data import embedded
from pssa.data.example import Corpus

TINY = [
    "--model",
    "memnet",
    "--epochs",
    "2",
    "--set",
    "dimension=8",
    "--batch-size",
    "16",
    "--lr",
    "0.01",
    "--device",
    "cpu",
]


@pytest.fixture(scope="session", autouse=True)
def _no_lines_of_progress() -> Iterator[None]:
    """What a busy machine makes slow says no more than another."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("QUIET_SECONDS", "SHORT_SECONDS"):
            patch.setattr(f"pssa.training.progress.{name}", TIMEOUT_MAX)
            patch.setattr(f"pssa.progress.{name}", TIMEOUT_MAX)
        yield


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`pssa` with these words."""

    def run(*words: str | Path) -> Result:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:  # argparse ends by itself
            code = int(end.code or 0)
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The first 60 instances of the embedded corpus."""
    return embedded.load("train").select(range(60))


@pytest.fixture(scope="session")
def train_file(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as a file."""
    path = tmp_path_factory.mktemp("data") / "train.jsonl"
    corpus.write(path)
    return path


@pytest.fixture(scope="session")
def held_out() -> Corpus:
    """The first 40 instances of the embedded test part."""
    return embedded.load("test").select(range(40))


@pytest.fixture(scope="session")
def data(held_out: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    path = tmp_path_factory.mktemp("data") / "test.jsonl"
    held_out.write(path)
    return path


@pytest.fixture(scope="session")
def tiny(train_file: Path) -> tuple[str, ...]:
    """Options for a training that takes a blink: MN of eight values a word, two epochs."""
    return ("--train", str(train_file), *TINY)


@pytest.fixture(scope="session")
def run(tiny: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; to be read only."""
    out = tmp_path_factory.mktemp("runs") / "run"
    assert main(["train", *tiny, "--out", str(out)]) == 0
    return out
