"""The run directory on disk: its files, its lock, and its restart points.

    RUN/  config.toml  model.json  vocabulary.json  model.safetensors  history.jsonl  evidence.jsonl  metrics.json  README.md
          stages/   what a resumed run needs: the corpus, the vectors, and a folder per stage
          members/  the models of an ensemble
          aspects/  a tagger that finds aspects in raw text (`pssa.aspects.run`)

Every file is written under a temporary name and renamed. `metrics.json` is written last: a run that has it is finished.
A run may come from a stranger: it is refused if anything in it leads outside.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pssa.data.files import (
    atomic_path,
    hold_lock,
    make_folder,
    make_folders,
    read_bounded,
    require_contained,
    require_regular,
    sync_folder,
    write_atomically,
)
from pssa.data.validation import format_error
from pssa.errors import InputError, RunError, setting

if TYPE_CHECKING:
    from torch import Tensor

    from pssa.training import Checkpoint

_T = TypeVar("_T")
_MAX_BYTES = 1 << 24  # of a JSON file
_TEMPORARY = (".*.part", ".tmp*")  # ours, and those of safetensors
_VANISHED = "{root} has vanished while it was written; start the run again"


class TemporaryFolder:
    """A folder that is deleted with the last object that holds it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="pssa-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class RunDirectory:
    """The folder of one run."""

    root: Path

    @classmethod
    @contextlib.contextmanager
    def created(cls, root: Path) -> Iterator[RunDirectory]:
        """Make the directory, which holds from its first moment what the block writes into the one that it is given.

        :raises InputError: if `root` holds anything already; it is never overwritten.
        """
        part = cls(root.with_name(f".{root.name}.{os.getpid()}.part"))
        try:
            cls.refuse_taken(root)
            shutil.rmtree(part.root, ignore_errors=True)
            make_folders(part.root)
            yield part
            # Fails where another process was faster and the directory is no longer empty.
            part.root.replace(root)
            sync_folder(root.parent)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                raise _taken(root) from error
            if isinstance(error, (FileExistsError, NotADirectoryError)):
                raise _not_a_directory(root) from error
            raise InputError(f"{root} cannot be made: {error.strerror or error}") from error
        finally:
            shutil.rmtree(part.root, ignore_errors=True)

    @staticmethod
    def refuse_taken(root: Path) -> None:
        """Refuse a path that is taken; an empty directory is not."""
        if root.is_file():
            raise _not_a_directory(root)
        if root.is_dir() and any(root.iterdir()):
            raise _taken(root)

    @classmethod
    def open(cls, root: Path) -> RunDirectory:
        """Find an existing run.

        :raises InputError: if there is none, or a link in it leads outside.
        """
        if (root / "model.json").is_file() or (root / "config.toml").is_file():
            require_contained(root)
            return cls(root)
        what = "is not a run: it has neither model.json nor config.toml" if root.is_dir() else "does not exist"
        what = "is a file" if root.is_file() else what
        raise InputError(f"{root} {what}; expected a run directory created by `pssa train --out`")

    @property
    def finished(self) -> bool:
        """Whether the run was carried through."""
        return (self.root / "metrics.json").is_file()

    def require_finished(self) -> None:
        """Refuse a run that was not carried through: a part of it would pass for the whole."""
        if not self.finished:
            raise InputError(f"{self.root} is not a finished run: it has no metrics.json; {resume_hint(self.root)}")

    def require_whole(self) -> None:
        """Refuse to call a run finished whose folder was emptied while it was written."""
        if not (self.root / "config.toml").is_file():
            raise RunError(_VANISHED.format(root=self.root))

    def stage_folder(self, name: str) -> Path:
        """Return the folder of the stage `name`, made on first use."""
        if not self.root.is_dir():
            raise RunError(_VANISHED.format(root=self.root))
        folder = self.root / "stages" / name
        make_folder(folder.parent)
        make_folder(folder)
        return folder

    def prune(self) -> None:
        """Delete what only an unfinished run needs: optimiser states, and the vectors and weights that it started with."""
        stages = self.root / "stages"
        copies = [stages / f"{name}.safetensors" for name in ("vectors", "start")]
        for path in [*stages.glob("*/checkpoint.safetensors"), *copies]:
            path.unlink(missing_ok=True)
        for folder in (path for path in stages.glob("*") if path.is_dir() and not any(path.iterdir())):
            folder.rmdir()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run while this process writes, and delete the temporary files of a killed one.

        :raises RunError: if another process holds the lock, or nothing can be written there.
        """
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(hold_lock(self.root / ".lock", self.root))
            except OSError as error:
                raise RunError(f"{self.root} cannot be written: {error.strerror}") from error
            for pattern in _TEMPORARY:
                for path in self.root.rglob(pattern):
                    path.unlink(missing_ok=True)
            yield


@dataclass(frozen=True)
class FileStore:
    """A checkpoint store that is one safetensors file with the history in its header: an epoch is there whole or not at all."""

    path: Path

    def load(self) -> Checkpoint | None:
        """Return the newest checkpoint, if there is one."""
        from pssa.training import Checkpoint, EpochRecord

        if not self.path.is_file():
            return None
        tensors, metadata = read_tensors(self.path)
        with naming_damage(self.path, KeyError, TypeError, ValueError, RecursionError):
            history = tuple(EpochRecord(**record) for record in json.loads(metadata["history"]))
        return Checkpoint(tensors, history)

    def save(self, checkpoint: Checkpoint) -> None:
        """Replace the newest checkpoint."""
        history = json.dumps([record.as_dict() for record in checkpoint.history])
        write_tensors(self.path, checkpoint.tensors, {"history": history})


def resume_hint(root: Path) -> str:
    """Return how to finish an interrupted run, for an error."""
    return f"finish it with {setting(f'pssa.resume({str(root)!r})', option=f'pssa train --resume {root}')}"


def _taken(root: Path) -> InputError:
    other, resume = setting("out"), setting(f"pssa.resume({str(root)!r})", option=f"--resume {root}")
    return InputError(f"{root} exists already; choose another path for {other}, or continue that run with {resume}")


def _not_a_directory(root: Path) -> InputError:
    return InputError(f"{root} is a file; {setting('out')} must name a new directory")


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors from any device, so that any device can load them."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        with atomic_path(path) as part:
            mode = part.stat().st_mode  # what the umask leaves; safetensors makes a file that only its owner reads
            save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, part, metadata)
            part.chmod(mode)
    except (SafetensorError, OSError) as error:
        raise RunError(f"{path} cannot be written: {format_error(error)}") from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and the header's metadata."""
    from safetensors import SafetensorError, safe_open

    kinds = (SafetensorError, OSError, AttributeError, KeyError, RuntimeError, TypeError, ValueError)
    with naming_damage(path, *kinds):
        require_regular(path)
        with safe_open(path, framework="pt") as handle:
            return {name: handle.get_tensor(name) for name in handle.keys()}, handle.metadata() or {}  # noqa: SIM118


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON."""
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def read_schema(path: Path, schema: int, parse: Callable[[dict[str, Any]], _T]) -> _T | None:
    """Read a JSON object of a run whose `schema` is known; None if there is no such file, as in runs of earlier versions.

    :param parse: turns the other fields into a value.
    """
    if not path.is_file():
        return None
    found = read_json(path)
    with naming_damage(path):
        if not isinstance(found, dict) or found.pop("schema", None) != schema:
            raise InputError(f"it has another schema than {schema}")
        return parse(found)


def read_json(path: Path) -> Any:
    """Read a JSON file of a run."""
    try:
        content = read_bounded(path, _MAX_BYTES)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    with naming_damage(path, ValueError, RecursionError):
        return json.loads(content.decode())


@contextlib.contextmanager
def naming_damage(path: Path, *errors: type[Exception], advice: str = "copy or train the run again") -> Iterator[None]:
    """Turn errors about what a file holds, beside our own, into one that names the file and says what to do."""
    kinds: tuple[type[Exception], ...] = (InputError, *errors)
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing; {advice}") from error
    except kinds as error:
        reason = error.message if isinstance(error, InputError) else format_error(error)
        raise InputError(f"{path} is damaged: {reason}; {advice}") from error
