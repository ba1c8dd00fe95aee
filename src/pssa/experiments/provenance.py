"""Where numbers come from: the command, the code, the libraries, the machine and the files. Nothing tells who ran it, or where.

Every record says what made it, so that outcomes of several sittings and machines stay told apart in one ledger.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pssa import __version__
from pssa.experiments.engines import Engine
from pssa.experiments.ledger import Ledger, Record
from pssa.experiments.work import Job

__all__ = [
    "FreshLedger",
    "Maker",
    "Provenance",
    "Share",
    "Signing",
    "commit",
    "device_name",
    "maker_here",
    "shares",
    "source_digest",
    "versions",
    "was_made_here",
]

_PACKAGE = Path(__file__).parents[1]
# Rooms that only show, serve, ask or use a run: what they do decides no outcome.
_OUTSIDE = ("bulk", "cli", "serve", "report", "studies")
_LIBRARIES = ("torch", "transformers", "numpy")
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Maker:
    """What carried out a cell."""

    sources: str  # digest of the code
    commit: str | None = None
    torch: str | None = None
    device: str | None = None


@dataclass(frozen=True)
class Share:
    """What one maker contributed."""

    maker: Maker
    cells: int
    seconds: float


@dataclass(frozen=True)
class Provenance:
    """What was asked, and with what it was answered."""

    command: str
    maker: Maker
    files: Mapping[str, str]  # fingerprints
    seeds: Sequence[int]
    seconds: float | None  # of the wall clock; None: nothing was carried out, all was only shown

    def plain(self, made: Sequence[Share]) -> dict[str, Any]:
        """Values for JSON.

        :param made: who made the outcomes that are shown.
        """
        return {
            "command": self.command,
            "version": __version__,
            "commit": self.maker.commit,
            "sources": self.maker.sources,
            "versions": versions(),
            "device": self.maker.device,
            "files": dict(self.files),
            "seeds": list(self.seeds),
            "wall_seconds": None if self.seconds is None else round(self.seconds, 3),
            "made_by": [{**asdict(share.maker), "cells": share.cells, "seconds": share.seconds} for share in made],
        }

    def paragraph(self, made: Sequence[Share]) -> str:
        """The same in words, without times, so that the same outcomes always give the same text."""
        files = ", ".join(f"{name} `{digest}`" for name, digest in self.files.items())
        count = len(self.seeds)
        asked = f"`{self.command}`, " if self.command else ""
        told = [f"{self._done_by(asked)}; {count} {'seed' if count == 1 else 'seeds'} at most."]
        if made:
            told.append(f"Outcomes: {'; '.join(_told(share) for share in made)}.")
        return " ".join([*told, f"Files, by the beginning of their SHA-256: {files}."])

    def _done_by(self, asked: str) -> str:
        if self.seconds is None:
            # The libraries that are here computed nothing.
            return f"Shown by {asked}pssa {__version__}"
        known = versions()
        libraries = (f"{name} {known[name]}" for name in ("python", *_LIBRARIES) if known[name])
        return ", ".join([f"Made by {asked}pssa {__version__}", *libraries])


def _told(share: Share) -> str:
    maker = share.maker
    code = f"commit `{maker.commit}`, sources `{maker.sources}`" if maker.commit else f"sources `{maker.sources}`"
    library = f", torch {maker.torch}" if maker.torch else ""
    where = f" on {maker.device}" if maker.device else ""
    return f"{share.cells} {'cell' if share.cells == 1 else 'cells'} by {code}{library}{where}"


def maker_here(device: str) -> Maker:
    """What carries out cells now, on a device of this name."""
    return Maker(source_digest(), commit(), versions()["torch"], device)


def was_made_here(record: Record) -> bool:
    """Whether a record was made by the sources that are here."""
    return _maker_of(record).sources == source_digest()


def shares(records: Iterable[Record]) -> list[Share]:
    """Who made the records, the most busy first."""
    found: dict[Maker, list[float]] = {}
    for record in records:
        found.setdefault(_maker_of(record), []).append(float(record.get("seconds", 0.0)))
    made = [Share(maker, len(seconds), round(sum(seconds), 3)) for maker, seconds in found.items()]
    return sorted(
        made, key=lambda share: (-share.cells, share.maker.sources, share.maker.torch or "", share.maker.device or "")
    )


def _maker_of(record: Record) -> Maker:
    made = record.get("made")
    known = made if isinstance(made, dict) else {}
    return Maker(str(known.get("sources", _UNKNOWN)), *(known.get(name) for name in ("commit", "torch", "device")))


class Signing:
    """An engine whose records say what made them."""

    def __init__(self, engine: Engine, maker: Maker) -> None:
        self._engine, self._maker = engine, maker
        self.workers = engine.workers

    def submit(self, job: Job) -> Future[Record]:
        """Begin a job; its record is signed once it is there."""
        signed: Future[Record] = Future()

        def sign(done: Future[Record]) -> None:
            if done.cancelled():
                signed.cancel()
            elif error := done.exception():
                signed.set_exception(error)
            else:
                signed.set_result({**done.result(), "made": asdict(self._maker)})

        self._engine.submit(job).add_done_callback(sign)
        return signed


class FreshLedger(Ledger):
    """A ledger that knows only what the sources here have made; what others made stays in its file."""

    def find(self, key: str) -> Record | None:
        """The record of a cell, if these sources carried it out."""
        record = super().find(key)
        return record if record is not None and was_made_here(record) else None


@cache
def source_digest() -> str:
    """Of all code that can decide an outcome."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        if not name.startswith(tuple(f"{room}/" for room in _OUTSIDE)):
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@cache
def commit() -> str | None:
    """The commit that the package is of, and whether it was changed since; none where it is not in a repository of its own."""
    # An installed package may lie in a repository that is somebody else's, and is not tracked there.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    found = _git("rev-parse", "--short=12", "HEAD")
    return f"{found} with changes" if found and _git("status", "--porcelain", "--", ".") else found


def _git(*words: str) -> str | None:
    command = ["git", "-C", str(_PACKAGE), *words]
    try:
        # Nothing of the command comes from outside.
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@cache
def versions() -> dict[str, str | None]:
    """Of Python and the libraries that compute."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _LIBRARIES}}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def device_name(device: str) -> str:
    """What computes where `auto`, `cpu` or `cuda` is asked for, by its maker's name."""
    import torch

    from pssa.runs.defaults import choose_device

    if choose_device(device).type == "cuda":
        return str(torch.cuda.get_device_name())
    return f"{_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
