"""Fixtures that every test may use: the real data sets, where this machine has them; and what holds for all of them."""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_SHARED = Path(__file__).resolve().parents[2] / "shared"

# Toys are too small for two threads, and tests run in two processes. Set before torch is imported, for children too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same cases each time, on a machine however slow. `--hypothesis-profile searching` looks for others.
settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", settings.get_profile("searching"), derandomize=True)
settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: looking among them for what may be thrown away took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    _let_loggers_propagate()


def pytest_sessionfinish() -> None:
    """Report what tests left open once; pytest looks twice more, and what tests imported makes each look long."""
    gc.collect()
    gc.freeze()


def _let_loggers_propagate() -> None:
    """Let pytest listen at the root alone: torch has sixty loggers of its own, and pytest would join each six times a test."""
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True


def _resource(variable: str, default: Path) -> Path:
    path = Path(os.environ.get(variable, default))
    if not path.exists():
        pytest.skip(f"{path} is not here; set {variable} to the real files")
    return path


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """No test cuts the power, so none need wait until its files would survive that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="module")
def one_ray_cluster() -> Iterator[None]:
    """Wait until no other test of this user has a Ray cluster: they would find each other's, and share two cores.

    By a lock, since pytest 9.2 numbers its tests so that pytest-xdist 3.8 knows no groups of them.
    """
    with (Path(tempfile.gettempdir()) / f"pssa-tests-ray-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with laptop/, rest/ and twitter/."""
    return _resource("PSSA_DATA", _SHARED / "data")


@pytest.fixture(scope="session")
def shared_vectors() -> Path:
    """A GloVe text file with the words of the three data sets."""
    return _resource("PSSA_VECTORS", _SHARED / "vectors" / "glove.840B.300d.subset.txt.gz")


@pytest.fixture(scope="session")
def shared_encoders() -> Path:
    """A folder with real pretrained encoders: minilm/."""
    return _resource("PSSA_ENCODERS", _SHARED / "encoders")
