"""The sources of an outcome, which are the package and this room: the digest that identifies them in records, and their commit.

A copy of the sources outside a repository has a digest and no commit. `find_commits` reads the history of the repository for
commits with the same sources, so that the code behind a record can be checked out.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]  # of the repository
_PACKAGE, _PAPER = "src/pssa", "paper/experiments"
# Rooms of the package that only show, serve or use a run and cannot change an outcome. Digests of records and commits depend on
# these lists: the first is that of commits in which this room was part of the package.
_OUTSIDE_BEFORE = ("aspects", "bulk", "cli", "serve", "report", "studies")
_OUTSIDE = (*_OUTSIDE_BEFORE, "insights", "joint", "predict")
_LENGTH = 12  # of a commit's name


@cache
def source_digest() -> str:
    """Return a digest of all code that can change an outcome."""
    paths = (path for folder in (_PACKAGE, _PAPER) for path in (_ROOT / folder).rglob("*.py"))
    files = ((path.relative_to(_ROOT).as_posix(), path.read_bytes()) for path in paths)
    return _digest({name: hashlib.sha256(content).hexdigest() for name, content in files})


def _digest(files: Mapping[str, str]) -> str:
    """Return the digest of files, given their SHA-256 by path in the repository."""
    digest = hashlib.sha256()
    outside = _OUTSIDE if any(path.startswith(f"{_PAPER}/") for path in files) else _OUTSIDE_BEFORE
    # This room has the names that it had within the package.
    known = {path.removeprefix(f"{_PACKAGE}/").removeprefix("paper/"): content for path, content in files.items()}
    for name in sorted(known, key=lambda name: name.split("/")):
        if name.endswith(".py") and not name.startswith(tuple(f"{room}/" for room in outside)):
            digest.update(f"{name}\0{known[name]}\n".encode())
    return digest.hexdigest()[:16]


@cache
def commit() -> str | None:
    """Return the commit of the package, and whether it has changes; None outside a repository of its own."""
    # An installed package may lie, untracked, in somebody else's repository.
    if _git("ls-files", "--error-unmatch", f"{_PACKAGE}/__init__.py") is None:
        return None
    found = (_git("rev-parse", f"--short={_LENGTH}", "HEAD") or b"").decode().strip()
    return f"{found} with changes" if found and _git("status", "--porcelain", "--", _PACKAGE, _PAPER) else found or None


def find_commits(digests: Collection[str]) -> dict[str, str]:
    """Return the first commit that has the sources of each digest, as far as the package's own repository has one."""
    if not digests or commit() is None:
        return {}
    history = list(_history())
    contents = _contents({blob for _, files in history for blob in files.values()})
    found: dict[str, str] = {}
    for name, files in history:
        if contents.keys() >= set(files.values()):  # a partial clone lacks some
            digest = _digest({path: contents[blob] for path, blob in files.items()})
            if digest in digests:
                found.setdefault(digest, name)
    return found


def _history() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the commits that changed the package, oldest first, each with the blobs of its Python files."""
    how = (
        "--first-parent",
        "-m",
        "--reverse",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--relative",
        "-z",
        "--format=%H",
    )
    output = (_git("log", *how, "--", _PACKAGE, _PAPER) or b"").decode("utf-8", "replace")
    words = map(str.strip, output.split("\0"))
    name, files = "", dict[str, str]()
    for word in words:
        if word.startswith(":"):
            path, (*_, blob, kind) = next(words), word.split()
            files.pop(path, None)
            if kind != "D" and path.endswith(".py"):
                files[path] = blob
        elif word:
            if name:
                yield name, dict(files)
            name = word[:_LENGTH]
    if name:
        yield name, dict(files)


def _contents(blobs: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each blob's content."""
    output, place, found = _git("cat-file", "--batch", given="\n".join(sorted(blobs)).encode()) or b"", 0, {}
    while place < len(output):
        line = output[place : output.index(b"\n", place)]
        blob, kind, *size = line.decode().split()
        place += len(line) + 1
        if kind == "blob":  # not "missing"
            content = output[place : place + int(size[0])]
            found[blob] = hashlib.sha256(content).hexdigest()
            place += len(content) + 1
    return found


def _git(*words: str, given: bytes = b"") -> bytes | None:
    """Return what git prints in the repository; None if it fails."""
    command = ["git", "-C", str(_ROOT), *words]
    try:
        # Nothing of the command comes from outside.
        done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
