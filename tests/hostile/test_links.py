"""Folders from strangers: no link in them leads outside, no pipe blocks, and nothing outside is changed."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hostile.test_runs import write_run

import pssa
from pssa.aspects.find import open_tagger
from pssa.data.files import atomic_path, hold_lock, make_folders, require_contained, write_atomically
from pssa.errors import InputError
from pssa.runs.copies import push_to_hub
from pssa.runs.directory import RunDirectory
from pssa.runs.training_run import resume


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run as somebody else may send it, with its metrics: it counts as finished."""
    folder = write_run(tmp_path / "run")
    (folder / "metrics.json").write_text("{}")
    (folder / "config.toml").write_text("")
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of ours, outside the run, with what a run could delete."""
    folder = tmp_path / "ours"
    (folder / "empty").mkdir(parents=True)
    (folder / "final").mkdir()
    for name in ("notes.txt", "vectors.safetensors", "final/checkpoint.safetensors"):
        (folder / name).write_text("precious")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() if path.is_file() else "" for path in sorted(folder.rglob("*"))}


LINKS = {".lock": "notes.txt", "stages": ".", "encoder": ".", "README.md": "notes.txt", ".metrics.json.1.part": "new"}
OPENERS: dict[str, Callable[[Path], object]] = {
    "load": pssa.load,
    "resume": resume,
    "upload": lambda run: push_to_hub(run, "owner/name"),
}


@pytest.mark.parametrize("opened", OPENERS)
@pytest.mark.parametrize("name", LINKS)
def test_a_link_out_of_a_run_is_refused_and_changes_nothing(run: Path, victim: Path, name: str, opened: str) -> None:
    before = content(victim)
    (run / name).symlink_to(victim / LINKS[name])
    with pytest.raises(InputError, match=f"{name}: is a symbolic link"):
        OPENERS[opened](run)
    assert content(victim) == before


@pytest.mark.parametrize("name", [".lock", "stages", "model.safetensors", "history.jsonl"])
def test_a_pipe_or_a_socket_in_a_run_is_refused_without_waiting(run: Path, name: str) -> None:
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    with pytest.raises(InputError, match=f"{name}: is a pipe"):
        resume(run)
    (run / name).unlink()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(run / name))
        with pytest.raises(InputError, match="a socket"):
            resume(run)


def test_a_link_within_a_run_is_followed(run: Path) -> None:
    (run / "model.safetensors").rename(run / "weights")
    (run / "model.safetensors").symlink_to("weights")
    assert pssa.load(run).labels


def test_links_of_a_hub_cache_lead_to_its_blobs_and_nowhere_else(run: Path, tmp_path: Path, victim: Path) -> None:
    snapshot = tmp_path / "models--owner--name" / "snapshots" / "0123"
    blobs = snapshot.parent.parent / "blobs"
    blobs.mkdir(parents=True)
    snapshot.parent.mkdir()
    run.rename(snapshot)
    (snapshot / "model.safetensors").rename(blobs / "abc")
    (snapshot / "model.safetensors").symlink_to("../../blobs/abc")
    assert pssa.load(snapshot).labels
    (blobs / "away").symlink_to(victim / "notes.txt")
    (snapshot / "history.jsonl").symlink_to("../../blobs/away")
    with pytest.raises(InputError, match=r"history\.jsonl: is a symbolic link"):
        pssa.load(snapshot)


def test_the_folder_of_a_tagger_is_checked_too(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "tagger").mkdir()
    (tmp_path / "tagger" / "tagger.json").write_text("{}")
    (tmp_path / "tagger" / "stages").symlink_to(victim)
    with pytest.raises(InputError, match="stages: is a symbolic link"):
        open_tagger(tmp_path / "tagger")


def test_a_lock_is_never_taken_through_a_link_nor_in_a_pipe(tmp_path: Path, victim: Path) -> None:
    lock = tmp_path / "lock"
    lock.symlink_to(victim / "notes.txt")
    with pytest.raises(InputError, match="is a symbolic link"), hold_lock(lock):
        pass
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(InputError, match="is a pipe"), hold_lock(lock):
        pass
    lock.unlink()
    lock.write_text("kept")
    with hold_lock(lock):
        pass
    assert (lock.read_text(), (victim / "notes.txt").read_text()) == ("kept", "precious")


def test_a_link_under_the_temporary_name_of_a_file_is_not_followed(tmp_path: Path, victim: Path) -> None:
    (tmp_path / f".out.{os.getpid()}.part").symlink_to(victim / "notes.txt")
    write_atomically(tmp_path / "out", b"new")
    assert ((tmp_path / "out").read_bytes(), (victim / "notes.txt").read_text()) == (b"new", "precious")
    assert not (tmp_path / "out").is_symlink()


def test_many_links_in_a_circle_end_in_an_answer(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    require_contained(tmp_path)


def test_every_name_is_on_disk_before_success_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []

    def record(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    monkeypatch.setattr(os, "fsync", record)
    with atomic_path(tmp_path / "file") as part:
        part.write_text("x")
    assert synced == [str(part), str(tmp_path)]
    synced.clear()
    make_folders(tmp_path / "a" / "b")
    assert synced == [str(tmp_path), str(tmp_path / "a")]
    synced.clear()
    with RunDirectory.created(tmp_path / "run") as directory:
        write_atomically(directory.root / "config.toml", b"")
    assert synced[-1] == str(tmp_path)
