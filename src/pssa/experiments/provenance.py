"""Provenance of numbers: the command, the code, the libraries, the machine and the files; never the user or a path.

Every record names the environment that made it, so one ledger can hold records of several machines and versions.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pssa import __version__
from pssa.experiments.ledger import Record

_PACKAGE = Path(__file__).parents[1]
# Rooms that only show, serve or use a run and cannot change an outcome.
_OUTSIDE = ("aspects", "bulk", "cli", "serve", "report", "studies")
_LIBRARIES = ("torch", "transformers", "numpy")
_UNKNOWN = "unknown"
Contribution = dict[str, Any]  # an environment, and the number of its cells and their seconds


@dataclass(frozen=True)
class Environment:
    """The code, library and device that executed a cell."""

    sources: str  # digest of the code
    commit: str | None = None
    torch: str | None = None
    device: str | None = None


@dataclass(frozen=True)
class Provenance:
    """Command, environment and input files of a reproduction."""

    command: str
    environment: Environment
    files: Mapping[str, str]  # fingerprints
    seeds: Sequence[int]
    seconds: float | None  # of the wall clock; None: nothing was executed, only shown

    def as_dict(self, made: Sequence[Contribution]) -> dict[str, Any]:
        """Return values for JSON.

        :param made: what each environment contributed to the records that are shown.
        """
        return {
            "command": self.command,
            "version": __version__,
            "commit": self.environment.commit,
            "sources": self.environment.sources,
            "versions": versions(),
            "device": self.environment.device,
            "files": dict(self.files),
            "seeds": list(self.seeds),
            "wall_seconds": None if self.seconds is None else round(self.seconds, 3),
            "made_by": list(made),
        }

    def paragraph(self, made: Sequence[Contribution]) -> str:
        """Return the same as text, without times, so that the same records always give the same text."""
        files = ", ".join(f"{name} `{digest}`" for name, digest in self.files.items())
        count = len(self.seeds)
        sentences = [f"{self._made_by()}; {count} {'seed' if count == 1 else 'seeds'} at most."]
        if made:
            sentences.append(f"Outcomes: {'; '.join(_describe(share) for share in made)}.")
        return " ".join([*sentences, f"Files, by the beginning of their SHA-256: {files}."])

    def _made_by(self) -> str:
        command = f"`{self.command}`, " if self.command else ""
        if self.seconds is None:
            # The installed libraries computed nothing.
            return f"Shown by {command}pssa {__version__}"
        known = versions()
        libraries = (f"{name} {known[name]}" for name in ("python", *_LIBRARIES) if known[name])
        return ", ".join([f"Made by {command}pssa {__version__}", *libraries])


def _describe(made: Contribution) -> str:
    commit = f"commit `{made['commit']}`, " if made["commit"] else ""
    library = f", torch {made['torch']}" if made["torch"] else ""
    where = f" on {made['device']}" if made["device"] else ""
    return f"{made['cells']} {'cell' if made['cells'] == 1 else 'cells'} by {commit}sources `{made['sources']}`{library}{where}"


def this_environment(device: str) -> Environment:
    """Return the environment of this process, on a device of this name."""
    return Environment(source_digest(), commit(), versions()["torch"], device)


def is_from_this_code(record: Record) -> bool:
    """Return whether the sources of this installation made a record."""
    return _environment_of(record).sources == source_digest()


def contributions(records: Iterable[Record]) -> list[Contribution]:
    """Return what each environment contributed, most cells first."""
    found: dict[Environment, list[float]] = {}
    for record in records:
        found.setdefault(_environment_of(record), []).append(float(record.get("seconds", 0.0)))
    made = [{**asdict(by), "cells": len(each), "seconds": round(sum(each), 3)} for by, each in found.items()]
    return sorted(made, key=lambda each: (-each["cells"], each["sources"], each["torch"] or "", each["device"] or ""))


def _environment_of(record: Record) -> Environment:
    made = record.get("made")
    known = made if isinstance(made, dict) else {}
    return Environment(
        str(known.get("sources", _UNKNOWN)), *(known.get(name) for name in ("commit", "torch", "device"))
    )


@cache
def source_digest() -> str:
    """Return a digest of all code that can change an outcome."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        if not name.startswith(tuple(f"{room}/" for room in _OUTSIDE)):
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@cache
def commit() -> str | None:
    """Return the commit of the package, and whether it has changes; None outside a repository of its own."""
    # An installed package may lie, untracked, in somebody else's repository.
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
    """Return the versions of Python and of the libraries that compute."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _LIBRARIES}}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def device_name(device: str) -> str:
    """Return the product name of the device that `auto`, `cpu` or `cuda` selects."""
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
