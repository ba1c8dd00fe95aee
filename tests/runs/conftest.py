"""A corpus that trains in a blink, and the settings that go with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.models.encoders import write_encoder
from tests.runs.hub_stub import Hub, open_hub

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.runs.training_run import write_run

_OPINIONS = {"positive": "great", "negative": "poor", "neutral": "usual"}
_ASPECTS = ("screen", "battery life", "price")
_TINY: dict[str, Any] = {
    "model": "memnet",
    "dimension": 8,
    "epochs": 2,
    "batch_size": 8,
    "learning_rate": 0.01,
    "initial_bound": 0.1,
    "device": "cpu",
}
# Settings above that mean nothing to a model with an encoder.
_OF_WORDS = ("dimension", "initial_bound")


def _example(number: int) -> Example:
    label, aspect = DEFAULT_LABELS[number % 3], _ASPECTS[number // 3 % 3]
    text = f"{'so ' * (number % 4)}the {aspect} of number {number} is {_OPINIONS[label]}."
    start = text.index(aspect)
    tags = ("odd",) if number % 2 else ()
    example = Example.from_text(text, (start, start + len(aspect)), label=label, id=f"n{number}")
    return replace(example, tags=tags)


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """24 instances, eight of each label, half of them tagged; two conflicts were dropped on reading."""
    return Corpus(tuple(_example(number) for number in range(24)), dropped={"conflict": 2})


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pretrained encoder, two layers of sixteen values a piece."""
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder, "bert")
    return folder


@pytest.fixture(scope="session")
def train_tiny(corpus: Corpus, encoder: Path) -> Callable[..., Path]:
    """`train` on the small corpus: MN of eight values a word, two epochs; settings and arguments by name."""

    def run(out: Path, **changes: Any) -> Path:
        settings = _TINY | changes
        if models.uses_encoder(settings["model"]):
            settings = {"encoder": str(encoder), **{key: settings[key] for key in settings if key not in _OF_WORDS}}
        return write_run(corpus, out, **settings)

    return run


@pytest.fixture(scope="session")
def finished_run(train_tiny: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was carried through; to be read only."""
    return train_tiny(tmp_path_factory.mktemp("runs") / "finished")


@pytest.fixture
def copied_run(finished_run: Path, tmp_path: Path) -> Path:
    """A finished run that may be changed."""
    return shutil.copytree(finished_run, tmp_path / "copied")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """An empty hub, an empty cache, and the token of `owner`."""
    with open_hub(tmp_path / "cache", monkeypatch) as hub:
        yield hub
