"""A folder of windows that becomes the output file.

The folder `<output>.part` has everything that a job needs to continue after it was killed:

    job.json                     the job's ID and fingerprint, and its state
    window-ID-00000001, ...      one file for each window: a line of JSON, the output's bytes, the bytes of rejected rows
    output-ID                    all windows joined

Each file is written whole under a temporary name and renamed. A job resumes after the windows that exist, and publishes the
joined file when all are there. Files with the ID of an earlier job are never used. The process that writes locks the folder.
"""

from __future__ import annotations

import errno
import filecmp
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pssa.data.files import (
    acquire_lock,
    atomic_path,
    make_folder,
    read_bounded,
    require_contained,
    sync_folder,
    write_atomically,
)
from pssa.data.validation import format_error
from pssa.errors import InputError, RunError, setting
from pssa.predict import parquet_schema
from pssa.predict.fingerprint import BEGIN_AGAIN, REPLACE, RESUME, find_difference
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import Summary
from pssa.predict.window import START, Position, Window

_JOB, _LAYOUT = "job.json", 3
_MAX_JOB_BYTES = 1 << 28  # job.json names every input
_MAX_HEADER_BYTES = 1 << 24
_DAMAGE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_VERSION_1_FILES = ("journal.json", "data", "rejected", "joined")
_OUR_FILES = re.compile(rf"(window|output)-[0-9a-f]{{8}}(-\d+)?|job\.json|{'|'.join(map(re.escape, _VERSION_1_FILES))}")
# Errors of file systems that do not have hard links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.\d+\.part")


@dataclass
class PartialOutput:
    """An output that grows by windows and appears under its name when it is complete."""

    output: Path
    rejected: Path  # the file of rejected rows
    format: OutputFormat
    begin: str = "new"  # or "resume", or "replace" what exists
    replaces: bool = False  # whether existing files may be replaced, now or when the job began
    position: Position = START
    read: int = 0  # bytes of the source at `position`
    columns: tuple[str, ...] = ()
    schema: bytes = b""  # of Parquet
    summary: Summary = field(default_factory=Summary)
    n_windows: int = 0
    is_complete: bool = False  # whether every row is written
    _job: dict[str, Any] = field(default_factory=dict)  # the content of job.json

    @property
    def folder(self) -> Path:
        """The folder of windows."""
        return self.output.with_name(f"{self.output.name}.part")

    @property
    def n_kept(self) -> int:
        """Rows after which the job can be resumed; 0 if somebody has removed the folder."""
        return 0 if self.is_removed else self.summary.rows

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed the folder of an unfinished job."""
        return not (self.folder / _JOB).exists()

    def is_settled(self) -> bool:
        """Return whether a job to be resumed has its output and nothing left to do; remove what a kill at its very end left.

        :raises RunError: if another process is writing it.
        """
        if self.begin != "resume" or not self.output.is_file():
            return False
        if not self.folder.exists():
            return True
        with self._locked():
            self._job = self._load_job()
            is_settled: bool = self._job.get("state", "published") == "published"
            if self._job.get("state") == "scoring":  # and no window: somebody else has written the output
                is_settled = not self._job["replaces"] and not self._window_paths()
            if is_settled:
                self.clear()
        return is_settled

    @contextmanager
    def opened(self, fingerprint: Mapping[str, Any]) -> Iterator[PartialOutput]:
        """Begin or resume the job. Its windows are kept whatever happens.

        :raises InputError: if a file exists that must not be replaced, or the folder holds another job.
        :raises RunError: if another process is writing it.
        """
        with self._locked():
            # Whoever replaces an unfinished job need not be able to read it.
            self._job = {} if self.begin == "replace" else self._load_job()
            paths = self._window_paths()
            is_unfinished = self._job.get("state") == "complete" or (bool(paths) and self._job["state"] == "scoring")
            if is_unfinished and self.begin == "new":
                n_rows = sum(_read_header(path)["summary"]["rows"] for path in paths)
                advice = f"resume it with {RESUME}, or {BEGIN_AGAIN}"
                raise InputError(f"{self.folder} holds an unfinished job with {n_rows} rows; {advice}")
            # Whoever resumes a job may replace what it was allowed to replace when it began.
            self.replaces = self.begin == "replace" or (self.begin == "resume" and self._job.get("replaces", False))
            try:
                if is_unfinished:
                    self._resume(paths, fingerprint)
                else:
                    self._begin(fingerprint)
                yield self
            except BaseException:
                if not self._window_paths():
                    self._rejected_copy.unlink(missing_ok=True)
                    self.clear()
                raise

    def fit(self, result: Window) -> Window:
        """Return the window without rows that cannot stand beside earlier ones: a column of Parquet has one type."""
        if not result.content or self.format.name != "parquet" or result.schema is not None:
            return result
        return parquet_schema.fit(result, self.schema, self.contents)

    def append(self, result: Window) -> None:
        """Write a window, which must fit, to disk."""
        self.schema = self.schema if result.schema is None else result.schema
        header = {
            "end": result.end,
            "read": result.read,
            "columns": result.columns,
            "schema": self.schema.hex(),
            "summary": result.summary.as_dict(),
            "content": len(result.content),
            "rejected": len(result.rejected),
        }
        write_atomically(self._window_path(self.n_windows + 1), _seal(header) + result.content + result.rejected)
        self._advance(header)

    def publish(self, write: Callable[[Path], None] | None = None) -> None:
        """Join the windows and give everything its own name; a job that is killed while it does so can be resumed.

        :param write: writes a file of its own from the windows, instead of joining them.
        """
        if not self.is_complete:
            self._save_job("complete")
            self.is_complete = True
        joined = self.folder / f"output-{self._job['id']}"
        if write or not joined.exists():
            with atomic_path(joined) as part:
                (write or self._join)(part)
        self._publish_rejected()
        # Last: whoever sees the output sees a complete job.
        publish_file(joined, self.output, self.replaces)
        sync_folder(self.output.parent)
        self._save_job("published")  # from here on windows may be missing
        self.clear()

    def _begin(self, fingerprint: Mapping[str, Any]) -> None:
        for name, path in (("output", self.output), ("rejected", self.rejected)):
            if path.exists() and not self.replaces:
                raise InputError(f"{path} already exists; choose another {setting(name)}, or replace it with {REPLACE}")
        self._job = {
            "layout": _LAYOUT,
            "id": secrets.token_hex(4),
            "replaces": self.replaces,
            "fingerprint": dict(fingerprint),
        }
        self._save_job("scoring")
        self._remove(keep=(_JOB,))
        self._rejected_copy.unlink(missing_ok=True)

    def _resume(self, paths: list[Path], fingerprint: Mapping[str, Any]) -> None:
        if changed := find_difference(self._job["fingerprint"], json.loads(json.dumps(fingerprint))):
            raise InputError(changed)
        self.is_complete = self._job["state"] == "complete"
        for number in range(1, max(len(paths), self._job["n_windows"]) + 1):
            if self._window_path(number) not in paths[number - 1 : number]:
                raise InputError.at(self._window_path(number), None, f"is missing; {BEGIN_AGAIN}")
            self._advance(_read_header(self._window_path(number)))
        for path in (self.output, self.rejected):
            if path.exists() and not (self.replaces or self.is_complete):
                raise _appeared(path)

    def _advance(self, header: Mapping[str, Any]) -> None:
        """Take note of a window that is written."""
        source, n_events = header["end"]
        self.position, self.read = (source, n_events), header["read"]
        self.columns, self.schema = tuple(header["columns"]), bytes.fromhex(header["schema"])
        self.summary += Summary(**header["summary"])
        self.n_windows += 1

    def contents(self, which: str = "content") -> Iterator[bytes]:
        """Yield the bytes of each window for the output, or for the file of `rejected` rows."""
        for number in range(1, self.n_windows + 1):
            header, _, body = self._window_path(number).read_bytes().partition(b"\n")
            n_bytes = json.loads(header)["content"]
            yield body[:n_bytes] if which == "content" else body[n_bytes:]

    def _join(self, target: Path) -> None:
        if self.format.name == "parquet":
            try:
                parquet_schema.join(self.contents(), target, self.schema)
            except InputError as error:
                kept = f"the scored rows are kept in {self.folder}"
                raise InputError(f"{self.output} {error.message}; {kept}") from error
            return
        is_empty = True
        with target.open("wb") as file:
            for content in filter(None, self.contents()):
                file.write(self.format.header(self.columns) + content if is_empty else content)
                is_empty = False
            if is_empty:
                file.write(self.format.empty(self.columns))

    def _publish_rejected(self) -> None:
        copy = self._rejected_copy
        if self.summary.rejected:
            copy.unlink(missing_ok=True)
            try:
                with copy.open("xb") as file:
                    file.writelines(self.contents("rejected"))
                    file.flush()
                    os.fsync(file.fileno())
            except OSError:
                copy.unlink(missing_ok=True)
                raise
            publish_file(copy, self.rejected, self.replaces)
            sync_folder(self.rejected.parent)
        elif self.replaces:
            self.rejected.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)

    @property
    def _rejected_copy(self) -> Path:
        """A name beside the file of rejected rows, which may lie on another disk; no other output has the same."""
        key = hashlib.sha256(str(self.output.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return self.rejected.with_name(f".{self.rejected.name}.{key}.part")

    def _window_path(self, number: int) -> Path:
        return self.folder / f"window-{self._job['id']}-{number:08}"

    def _window_paths(self) -> list[Path]:
        return sorted(self.folder.glob(f"window-{self._job['id']}-*")) if self._job else []

    def _save_job(self, state: str) -> None:
        self._job |= {"state": state, "n_windows": self.n_windows}
        write_atomically(self.folder / _JOB, _seal(self._job))

    def _load_job(self) -> dict[str, Any]:
        """Return the content of job.json; empty if there is no job.

        :raises InputError: if it is damaged, or another version of pssa began the job.
        """
        path = self.folder / _JOB
        if not path.exists() and not (self.folder / _VERSION_1_FILES[0]).exists():
            return {}
        try:
            content = read_bounded(path, _MAX_JOB_BYTES) if path.exists() else b"{}"
            if json.loads(content).get("layout") == _LAYOUT:
                return _unseal(content)
        except _DAMAGE as error:
            raise InputError.at(path, None, f"is damaged ({format_error(error)}); {BEGIN_AGAIN}") from error
        raise InputError(f"{self.folder} holds an unfinished job of another version of pssa; {BEGIN_AGAIN}")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Make the folder, and be the one who writes there."""
        for name, path in (("output", self.output), ("rejected", self.rejected)):
            if not path.parent.is_dir():
                advice = f"make the folder, or choose another {setting(name)}"
                raise InputError(f"{path} cannot be written: {path.parent} does not exist; {advice}")
            if path.exists() and not path.is_file():
                reason = "it is a directory or a device"
                raise InputError(f"{path} cannot be written: {reason}; name a file with {setting(name)}")
        try:
            make_folder(self.folder)
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            reason = f"{self.output} cannot be written: {self.folder}: {error.strerror}"
            raise InputError(f"{reason}; name a file elsewhere with {setting('output')}") from error
        try:
            require_contained(self.folder)
            acquire_lock(handle, self.output)
            is_held = False
            with suppress(FileNotFoundError):  # its last holder may have finished the job and removed the folder
                is_held = os.path.samestat(os.fstat(handle), self.folder.stat())
            if not is_held:
                raise RunError(f"{self.output} is in use by another process; wait for it, or stop it first")
            yield
        finally:
            os.close(handle)

    def clear(self) -> None:
        """Remove the job: job.json last, and the folder if nobody else has put files there."""
        self._remove(keep=(_JOB,))
        self._remove()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _remove(self, keep: tuple[str, ...] = ()) -> None:
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            temporary = _TEMPORARY.fullmatch(path.name)
            if path.name not in keep and _OUR_FILES.fullmatch(temporary["name"] if temporary else path.name):
                path.unlink(missing_ok=True)


def _seal(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON with a digest, by which damage is noticed."""
    return json.dumps({**record, "digest": _digest(record)}).encode() + b"\n"


def _unseal(line: bytes) -> dict[str, Any]:
    """Return the record in a line that `_seal` made.

    :raises ValueError: if it is damaged.
    """
    record: dict[str, Any] = json.loads(line)
    if record.pop("digest") != _digest(record):
        raise ValueError("its digest is wrong")
    return record


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record).encode()).hexdigest()


def _read_header(path: Path) -> dict[str, Any]:
    """Return the first line of a window file.

    :raises InputError: if the file is damaged.
    """
    try:
        with path.open("rb") as file:
            line = file.readline(_MAX_HEADER_BYTES)
        header = _unseal(line)
        if path.stat().st_size != len(line) + header["content"] + header["rejected"]:
            raise ValueError("its size is wrong")
    except _DAMAGE as error:
        raise InputError.at(path, None, f"is damaged ({format_error(error)}); {BEGIN_AGAIN}") from error
    return header


def publish_file(ready: Path, target: Path, replaces: bool) -> None:
    """Give a file, which lies on the same disk, its own name; doing it again after a kill changes nothing.

    :raises InputError: if another file has the name and must not be replaced.
    """
    if replaces:
        ready.replace(target)
        return
    try:
        os.link(ready, target)
    except FileExistsError as error:
        if not _is_same(ready, target):
            raise _appeared(target) from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without links, checking and renaming are two steps: a file that appears between them is replaced.
        if target.exists() and not _is_same(ready, target):
            raise _appeared(target) from error
        ready.replace(target)


def _appeared(target: Path) -> InputError:
    """Return the error about a file that the job would have to replace without permission."""
    return InputError(f"{target} has appeared since the job began; move it away, then resume with {RESUME}")


def _is_same(ready: Path, target: Path) -> bool:
    return target.is_file() and (ready.samefile(target) or filecmp.cmp(ready, target, shallow=False))
