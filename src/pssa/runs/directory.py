"""The run directory on disk: where each file is, who may write, and restart points.

    RUN/  config.toml  model.json  vocabulary.json  model.safetensors  history.jsonl  evidence.jsonl  metrics.json  README.md
          stages/   what a resumed run needs: the corpus, the vectors, and a folder per stage
          members/  the models of an ensemble

Every file is written under a temporary name and renamed. `metrics.json` is written last: a run that has it is finished.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from pssa.data.files import atomic_path, read_bounded, require_regular, write_atomically
from pssa.data.validation import format_error
from pssa.errors import InputError, RunError, setting
from pssa.training.checkpoint import Checkpoint, EpochRecord

_MOST_BYTES = 1 << 24  # of a JSON file
_BEGUN = (".*.part", ".tmp*")  # ours, and what safetensors writes before it
_VANISHED = "{root} has vanished while it was written; start the run again"


@dataclass(frozen=True)
class RunDirectory:
    """Paths inside one run."""

    root: Path

    @classmethod
    def create(cls, root: Path, fill: Callable[[RunDirectory], None]) -> RunDirectory:
        """Make the directory, with what `fill` puts there inside from its first moment.

        :raises InputError: if `root` holds anything already; it is never overwritten.
        """
        part = cls(root.with_name(f".{root.name}.{os.getpid()}.part"))
        try:
            cls.refuse_taken(root)
            shutil.rmtree(part.root, ignore_errors=True)
            part.root.mkdir(parents=True)
            fill(part)
            # Fails where another process was faster and the directory is no longer empty.
            part.root.replace(root)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                raise _taken(root) from error
            if isinstance(error, (FileExistsError, NotADirectoryError)):
                raise InputError(f"{root} is a file; {setting('out')} must name a new directory") from error
            raise InputError(f"{root} cannot be made: {error.strerror or error}") from error
        finally:
            shutil.rmtree(part.root, ignore_errors=True)
        return cls(root)

    @staticmethod
    def refuse_taken(root: Path) -> None:
        """Refuse a path that is no room for a new run; an empty directory is."""
        if root.is_file():
            raise InputError(f"{root} is a file; {setting('out')} must name a new directory")
        if root.is_dir() and any(root.iterdir()):
            raise _taken(root)

    @classmethod
    def open(cls, root: Path) -> RunDirectory:
        """Find an existing run."""
        if not root.is_dir():
            what = "is a file" if root.exists() else "does not exist"
            raise InputError(f"{root} {what}; expected the directory of a run, as `pssa train --out` makes one")
        if not (root / "model.json").is_file() and not (root / "config.toml").is_file():
            raise InputError(f"{root} is not a run: it has neither model.json nor config.toml")
        return cls(root)

    @property
    def finished(self) -> bool:
        """Whether the run was carried through."""
        return (self.root / "metrics.json").is_file()

    def require_finished(self) -> None:
        """Refuse a run that was not carried through, where what it holds so far would pass for the whole."""
        if not self.finished:
            raise InputError(f"{self.root} is not a finished run: it has no metrics.json; {resume_hint(self.root)}")

    def require_whole(self) -> None:
        """Refuse to call a run finished whose folder was emptied while it was written."""
        if not (self.root / "config.toml").is_file():
            raise RunError(_VANISHED.format(root=self.root))

    def stage(self, name: str) -> Stage:
        """The restart point `name`, made on first use."""
        if not self.root.is_dir():
            raise RunError(_VANISHED.format(root=self.root))
        stages = self.root / "stages"
        stages.mkdir(exist_ok=True)
        (stages / name).mkdir(exist_ok=True)
        return Stage(stages / name)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out while this one writes; the kernel lets go of the lock even after a kill.

        What a killed process had begun to write is cleared away.

        :raises RunError: if another process has the lock, or nothing can be written there.
        """
        try:
            handle = (self.root / ".lock").open("w")
        except OSError as error:
            raise RunError(f"{self.root} cannot be written: {error.strerror}") from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunError(f"{self.root} is in use by another process; wait for it, or stop it first") from error
            for pattern in _BEGUN:
                for path in self.root.rglob(pattern):
                    path.unlink(missing_ok=True)
            yield


@dataclass(frozen=True)
class Stage:
    """A part of a run that is done once: a folder with its checkpoint, and its model where one is kept."""

    folder: Path

    @property
    def store(self) -> FileStore:
        """Where the epochs of this stage are kept."""
        return FileStore(self.folder / "checkpoint.safetensors")


@dataclass(frozen=True)
class FileStore:
    """A checkpoint as one safetensors file, its history in the header, so that an epoch is all there or not at all."""

    path: Path

    def load(self) -> Checkpoint | None:
        """The newest checkpoint, if there is one."""
        if not self.path.is_file():
            return None
        tensors, metadata = read_tensors(self.path)
        try:
            history = tuple(EpochRecord(**record) for record in json.loads(metadata["history"]))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{self.path} is damaged: its header has no history") from error
        return Checkpoint(tensors, history)

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the newest checkpoint."""
        history = json.dumps([record.as_dict() for record in checkpoint.history])
        write_tensors(self.path, checkpoint.tensors, {"history": history})


def resume_hint(root: Path) -> str:
    """Return how to finish an interrupted run, to be made part of an error."""
    return f"finish it with {setting(f'pssa.resume({str(root)!r})', option=f'pssa train --resume {root}')}"


def _taken(root: Path) -> InputError:
    other, resume = setting("out"), setting(f"pssa.resume({str(root)!r})", option=f"--resume {root}")
    return InputError(f"{root} exists already; choose another path for {other}, or continue that run with {resume}")


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors, wherever they live, so that any device can load them."""
    with atomic_path(path) as part:
        try:
            part.touch()
            mode = part.stat().st_mode  # what the umask leaves; safetensors makes a file that only its owner reads
            save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, part, metadata)
            part.chmod(mode)
        except (SafetensorError, OSError) as error:  # of the disk, the one in other words than Python's
            raise RunError(f"{path} cannot be written: {format_error(error)}") from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and the header's metadata."""
    try:
        require_regular(path)
        with safe_open(path, framework="pt") as handle:
            return {name: handle.get_tensor(name) for name in handle.keys()}, handle.metadata() or {}  # noqa: SIM118
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing") from error
    except (SafetensorError, OSError, AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {format_error(error)}") from error


def write_json(path: Path, value: Any) -> None:
    """Write `value` for people and programs."""
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def read_json(path: Path) -> Any:
    """Read a JSON file of a run."""
    try:
        return json.loads(read_bounded(path, _MOST_BYTES).decode())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {format_error(error)}") from error
