"""Two small runs, and the service around them in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import Response
from starlette.testclient import TestClient
from tests.serve.recorder import Recorder

from pssa.data import embedded
from pssa.runs import Classifier, load
from pssa.runs.training_run import write_run
from pssa.serve import batcher as batcher_module
from pssa.serve.access import AccessPolicy
from pssa.serve.app import create_app
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits

_TINY: dict[str, Any] = {"dimension": 8, "epochs": 2, "learning_rate": 0.02, "initial_bound": 0.1, "device": "cpu"}
Start = Callable[..., TestClient]


@dataclass(frozen=True)
class Folders:
    """Finished runs; to be read only."""

    first: Path  # of a model that attends
    versus: Path  # of one that does not


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """MN and TNet, trained on 60 instances of the embedded corpus."""
    root, corpus = tmp_path_factory.mktemp("runs"), embedded.load("train").select(range(60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        first = write_run(corpus, root / "first", model="memnet", **_TINY)
        versus = write_run(corpus, root / "versus", model="tnet", **_TINY)
    return Folders(first, versus)


@pytest.fixture(scope="session")
def classifier(folders: Folders) -> Classifier:
    """The first run, to compare answers with."""
    return load(folders.first)


@pytest.fixture
def start(folders: Folders) -> Iterator[Start]:
    """A client of an application with these limits, this access and these pages; `versus` serves both runs."""
    with ExitStack() as stack:

        def run(
            *,
            versus: bool = False,
            pages: dict[str, Response] | None = None,
            access: AccessPolicy | None = None,
            **sizes: int,
        ) -> TestClient:
            batcher = open_batcher([folders.first, *([folders.versus] if versus else [])], Limits(**sizes))
            app = create_app(batcher, access, pages=pages or {})
            return stack.enter_context(TestClient(app, base_url="http://localhost"))

        yield run


@pytest.fixture(scope="module")
def client(folders: Folders) -> Iterator[TestClient]:
    """A client of an application with everything as it usually is, and both runs."""
    app = create_app(open_batcher([folders.first, folders.versus], Limits()))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """In place of every model: it answers when its gate is open."""
    recorder = Recorder()
    monkeypatch.setattr(batcher_module, "score", recorder)
    yield recorder
    recorder.gate.set()
