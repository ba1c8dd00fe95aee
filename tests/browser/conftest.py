"""A browser, two small runs with evidence, and the service in front of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.browser.server import Server

from pssa.data import embedded
from pssa.data.evidence import flip, stats
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.io import write
from pssa.runs.training_run import write_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
]
_TOKEN = "stays-over-restarts"  # noqa: S105
_PATIENCE = 60_000  # milliseconds; a machine that is slow and busy may need many
_DESKTOP: ViewportSize = {"width": 1200, "height": 900}
_PHONE: ViewportSize = {"width": 360, "height": 740}


@dataclass(frozen=True)
class Files:
    """What a service is started with."""

    corpus: Path
    base: Path
    mined: Path
    frequent: str  # the most frequent active word of its evidence
    second: Path  # evidence that holds this word for the other kind

    @property
    def evidence(self) -> Path:
        """The evidence of the mined run."""
        return self.mined / "evidence.jsonl"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"no browser is here; install one of {', '.join(_NAMES)}")
    playwright.expect.set_options(timeout=_PATIENCE)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Two runs of MN with sixteen values a word, one of them mined so that each sentence gives two words, on 160 instances."""

    folder = tmp_path_factory.mktemp("files")
    corpus = embedded.load("train").select(range(160))
    write(corpus, folder / "train.jsonl")
    settings: dict[str, Any] = {"model": "memnet", "dimension": 16, "epochs": 6, "learning_rate": 0.02, "device": "cpu"}
    base = write_run(corpus, folder / "base", **settings)
    mined = write_run(corpus, folder / "mined", method="pg-as", iterations=2, epsilon=9.0, **settings)
    evidence = read_evidence(mined / "evidence.jsonl")
    frequent = stats(evidence, 1).active_words[0]["word"]
    write_evidence(flip(evidence, frequent), folder / "second.jsonl")
    return Files(folder / "train.jsonl", base, mined, frequent, folder / "second.jsonl")


@pytest.fixture(scope="session")
def server(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Both runs and evidence, for tests that change nothing."""
    server = _serve(files, tmp_path_factory.mktemp("reading"), "--versus", files.mined)
    yield server
    server.stop()


@pytest.fixture
def review_server(files: Files, tmp_path: Path) -> Iterator[Server]:
    """Evidence of this test's own, in `tmp_path`."""
    server = _serve(files, tmp_path, token=_TOKEN)
    yield server
    server.stop()


@pytest.fixture
def drawn_server(files: Files, tmp_path: Path) -> Iterator[Server]:
    """Evidence of this test's own, changed with a token that the service draws."""
    server = _serve(files, tmp_path)
    yield server
    server.stop()


def _serve(files: Files, folder: Path, *words: str | Path, token: str = "") -> Server:
    evidence = shutil.copy(files.evidence, folder)
    chosen = ("--evidence", evidence, "--corpus", files.corpus, "--second", files.second)
    return Server(files.base, *words, *chosen, token=token)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a window of its own, and sees that no script failed and nobody else was asked."""
    faults: list[str] = []
    contexts = []

    def run(address: str, phone: bool = False) -> Page:
        context = browser.new_context(viewport=_PHONE if phone else _DESKTOP, has_touch=phone, accept_downloads=True)
        context.set_default_timeout(_PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"script: {error}"))
        page.on("console", lambda said: _note(faults, said.text))
        page.on(
            "request",
            lambda request: _note_stranger(faults, request.url, address),
        )
        page.goto(address)
        return page

    yield run
    for context in contexts:
        context.close()
    assert faults == []


def _note(faults: list[str], said: str) -> None:
    if "Content Security Policy" in said:
        faults.append(said)


def _note_stranger(faults: list[str], asked: str, address: str) -> None:
    if not asked.startswith("blob:") and urlsplit(asked).netloc != urlsplit(address).netloc:
        faults.append(f"asked {asked}")
