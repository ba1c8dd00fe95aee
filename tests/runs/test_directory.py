"""The run directory: never overwritten, one writer at a time, and damage that is named."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from pssa.errors import InputError, RunError
from pssa.runs.directory import FileStore, RunDirectory, read_json, read_tensors, write_json, write_tensors
from pssa.training import Checkpoint, EpochRecord


def test_a_new_directory_is_made_with_its_parents_and_never_appears_unfilled(tmp_path: Path) -> None:
    with RunDirectory.created(tmp_path / "runs" / "one") as part:
        (part.root / "first").touch()
        assert not (tmp_path / "runs" / "one").exists()
    directory = RunDirectory(tmp_path / "runs" / "one")
    assert os.listdir(directory.root) == ["first"]
    assert os.listdir(tmp_path / "runs") == ["one"]
    assert not directory.finished

    def fail() -> None:
        with RunDirectory.created(tmp_path / "run") as part:
            (part.root / "first").touch()
            raise InputError("no")

    with pytest.raises(InputError, match="no"):
        fail()
    assert os.listdir(tmp_path) == ["runs"]


def test_of_two_that_make_the_same_directory_the_slower_is_refused(tmp_path: Path) -> None:
    def make_slowly() -> None:
        with RunDirectory.created(tmp_path / "run") as part:
            (part.root / "first").touch()
            (tmp_path / "run").mkdir()
            (tmp_path / "run" / "theirs").touch()

    with pytest.raises(InputError, match="exists already"):
        make_slowly()
    assert os.listdir(tmp_path / "run") == ["theirs"]


def test_a_directory_that_holds_anything_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"or continue that run with pssa\.resume"), RunDirectory.created(tmp_path):
        pass


@pytest.mark.parametrize("below", [".", "deeper"])
def test_a_file_is_no_directory(tmp_path: Path, below: str) -> None:
    path = tmp_path / "file"
    path.touch()
    expected = "is a file; out must name a new directory"
    with pytest.raises(InputError, match=expected), RunDirectory.created(path / below):
        pass


def test_only_a_directory_with_a_model_or_a_configuration_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has neither model\.json nor config\.toml"):
        RunDirectory.open(tmp_path)
    with pytest.raises(InputError, match="none does not exist"):
        RunDirectory.open(tmp_path / "none")
    (tmp_path / "config.toml").touch()
    with pytest.raises(InputError, match="is a file"):
        RunDirectory.open(tmp_path / "config.toml")
    assert RunDirectory.open(tmp_path).root == tmp_path


def test_a_locked_run_is_refused_to_another_process(tmp_path: Path) -> None:
    # A process that only needs the kernel's lock, so that it starts at once.
    other = (
        "import fcntl, sys\n"
        "with open(sys.argv[1], 'w') as handle:\n"
        "    fcntl.flock(handle, fcntl.LOCK_EX)\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-S", "-c", other, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(RunError, match="is in use by another process"), RunDirectory(tmp_path).locked():
            pass
        process.kill()
    # Killed, not closed: the kernel let go of the lock.
    with RunDirectory(tmp_path).locked():
        pass


CHECKPOINT = Checkpoint(
    {
        "model.weight": torch.tensor([[1.0, 2.0]]),
        "optimizer.0.step": torch.tensor(7.0),
        "model.none": torch.zeros(0, 4),
    },
    (EpochRecord("search", 1, 0.5, 0.0, 0.25, 0.1, 0.2), EpochRecord("search", 2, 0.1, 0.0, 0.75)),
)


def test_a_checkpoint_survives_its_file_and_does_not_follow_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "checkpoint.safetensors")
    assert store.load() is None
    store.save(CHECKPOINT)
    found = store.load()
    assert found is not None
    assert found.history == CHECKPOINT.history
    assert found.tensors.keys() == CHECKPOINT.tensors.keys()
    assert all(torch.equal(found.tensors[name], tensor) for name, tensor in CHECKPOINT.tensors.items())
    found.tensors["model.weight"].add_(1)
    store.save(found)
    assert found.tensors["model.weight"].tolist() == [[2.0, 3.0]]


@pytest.mark.parametrize("keep", [0, 4, 40, -1])
def test_damaged_and_missing_tensors_are_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(InputError, match=r"model\.safetensors is missing"):
        read_tensors(path)
    write_tensors(path, {"weight": torch.ones(100)})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"model\.safetensors is damaged: "):
        read_tensors(path)


def test_tensors_are_written_whatever_their_layout(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    turned = torch.arange(6.0).reshape(2, 3).T
    write_tensors(path, {"turned": turned}, {"made": "here"})
    tensors, metadata = read_tensors(path)
    assert torch.equal(tensors["turned"], turned)
    assert metadata == {"made": "here"}
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_damaged_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "value.json").write_bytes(content)
    with pytest.raises(InputError, match=r"value\.json is damaged: "):
        read_json(tmp_path / "value.json")
    with pytest.raises(InputError, match=r"none\.json cannot be read: No such file"):
        read_json(tmp_path / "none.json")


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_tensors_may_be_read_by_whom_other_files_may(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_tensors(tmp_path / "model.safetensors", {"weight": torch.ones(2)})
        write_json(tmp_path / "model.json", {})
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"model.safetensors": 0o666 & ~mask, "model.json": 0o666 & ~mask}
