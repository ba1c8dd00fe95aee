"""How a job ends, whatever disks, power and other people do: each file gets its name, and none of somebody else's is lost."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_outputs import CSV, FINGERPRINT, Killed, finish, names, output, result

from pssa.errors import InputError
from pssa.predict.output import PartialOutput, _seal
from pssa.predict.output_format import OutputFormat


def test_rejected_rows_may_lie_on_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, rename = tmp_path / "elsewhere", Path.replace
    elsewhere.mkdir()

    def within_a_disk(path: Path, target: Path) -> Path:
        if (elsewhere in path.parents) != (elsewhere in Path(target).parents):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", within_a_disk)
    made = output(tmp_path, rejected=elsewhere / "bad.jsonl")
    finish(made, 2, b"bad\n")
    assert made.rejected.read_bytes() == b"bad\nbad\n"
    assert names(tmp_path) == ["elsewhere", "out.csv"]


# Everything that changes a folder or writes it to disk.
DEADLY = (
    *((Path, name) for name in ("replace", "unlink", "rmdir", "mkdir", "open")),
    (os, "fsync"),
    (os, "fdopen"),
)


def deadly(patch: pytest.MonkeyPatch, moment: float) -> Iterator[int]:
    """Kill whoever makes one more change to a folder, or syncs one, after so many; they are counted."""
    made = count()

    def die_at(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **more: Any) -> Any:
            if next(made) >= moment:
                raise Killed
            return change(*given, **more)

        return changed

    for owner, name in DEADLY:
        patch.setattr(owner, name, die_at(getattr(owner, name)))
    return made


def work_and_die(made: PartialOutput, moment: float) -> int:
    """A job of two windows that is killed at one of its changes; after how many it ends."""
    with pytest.MonkeyPatch.context() as patch:
        changes = deadly(patch, moment)
        with nullcontext() if moment == math.inf else pytest.raises(Killed):
            work(made)
    return next(changes)


def work(made: PartialOutput) -> None:
    with made.opened(FINGERPRINT):
        if made.is_settled:
            return
        for number in range(made.position[1] + 1, 3):
            window = replace(result(number, b"bad\n"), content=made.format.encode([{"n": number}], ("n",)))
            made.append(made.fit(window))
        made.publish()


def test_names_are_on_disk_before_the_windows_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, synced = output(tmp_path), list[tuple[bool, bool]]()

    def sync(handle: int) -> None:
        if os.path.samestat(os.fstat(handle), tmp_path.stat()):
            synced.append((made.output.exists(), (made.folder / "progress.json").exists()))

    monkeypatch.setattr(os, "fsync", sync)
    finish(made, 1)
    assert synced[-1] == (True, True)  # before that, the name of the folder of windows


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["new", "replace"])
@pytest.mark.parametrize("form", [CSV, OutputFormat("csv", ".gz"), OutputFormat("parquet")])
def test_killed_at_any_change_it_can_be_resumed_to_the_same_bytes(
    tmp_path: Path, form: OutputFormat, begin: str
) -> None:
    pytest.importorskip("pyarrow")
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    moments = work_and_die(output(undisturbed, begin, form), math.inf)
    assert moments > 30
    for moment in range(moments):
        folder = tmp_path / str(moment)
        folder.mkdir()
        work_and_die(output(folder, begin, form), moment)
        work(output(folder, "resume", form))
        assert names(folder) == names(undisturbed) == ["out.csv", "out.csv.rejected.jsonl"]
        for name in names(folder):
            assert (folder / name).read_bytes() == (undisturbed / name).read_bytes()


def test_an_empty_folder_beside_an_output_is_no_job(tmp_path: Path) -> None:
    made = output(tmp_path, "resume")
    made.folder.mkdir()
    with made.opened(FINGERPRINT):
        assert not made.is_settled
    made.output.write_text("complete")
    with made.opened(FINGERPRINT):
        assert made.is_settled
    assert names(tmp_path) == ["out.csv"]


def test_a_job_that_was_to_replace_its_output_and_wrote_nothing_yet_is_begun_again(tmp_path: Path) -> None:
    made = output(tmp_path, "replace")
    made.output.write_text("older")
    made.folder.mkdir()
    (made.folder / "job.json").write_bytes(_seal({"layout": 4, "replaces": True, "fingerprint": FINGERPRINT}))
    for moment in range(1, 5):  # killed again and again just as it begins
        with pytest.MonkeyPatch.context() as patch:
            deadly(patch, moment)
            with pytest.raises(Killed):
                finish(output(tmp_path, "resume"), 1)
    finish(output(tmp_path, "resume"), 1)
    assert made.output.read_bytes() == b"n\r\n1\r\n"


def finish_late(made: PartialOutput, meanwhile: Path) -> None:
    """A job beside which somebody writes a file."""
    with made.opened(FINGERPRINT):
        made.append(result(1, b"bad\n"))
        meanwhile.write_text("somebody else's")
        made.publish()


@pytest.mark.parametrize("name", ["out.csv", "out.csv.rejected.jsonl"])
def test_a_new_file_is_not_replaced(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name} has appeared since the job began"):
        finish_late(output(tmp_path), tmp_path / name)
    assert (tmp_path / name).read_text() == "somebody else's"
    (tmp_path / name).rename(tmp_path / "moved")
    finish(output(tmp_path, "resume"), 1)
    assert names(tmp_path) == ["moved", "out.csv", "out.csv.rejected.jsonl"]
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"
    assert (tmp_path / "out.csv.rejected.jsonl").read_bytes() == b"bad\n"


def test_a_file_of_somebody_else_stays_if_no_row_was_rejected(tmp_path: Path) -> None:
    made = output(tmp_path)
    with made.opened(FINGERPRINT):
        made.append(result(1))
        made.rejected.write_text("somebody else's")
        made.publish()
    assert made.rejected.read_text() == "somebody else's"
