"""How an output in the making comes to its end, whatever disks and power do."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.made_parts import ASKED, CSV, Killed, destination, go_on, names, result

from pssa.bulk.destination import Destination
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.part import is_settled, opened_part
from pssa.bulk.work import Tally
from pssa.errors import InputError


def test_rejected_rows_may_lie_on_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, rename = tmp_path / "elsewhere", Path.replace
    elsewhere.mkdir()

    def within_a_disk(path: Path, target: Path) -> Path:
        if (elsewhere in path.parents) != (elsewhere in Path(target).parents):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", within_a_disk)
    where = replace(destination(tmp_path), side=elsewhere / "bad.jsonl")
    go_on(where, 2, b"bad\n")
    assert where.side.read_bytes() == b"bad\nbad\n"
    assert names(tmp_path) == ["elsewhere", "out.csv"]


def test_names_are_on_the_disk_before_the_part_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, kept = destination(tmp_path), list[tuple[bool, bool]]()

    def keep(opened: int) -> None:
        if os.path.samestat(os.fstat(opened), tmp_path.stat()):
            kept.append((where.output.exists(), (where.folder / "journal.json").exists()))

    monkeypatch.setattr(os, "fsync", keep)
    go_on(where, 1)
    assert kept == [(True, True)]


def test_a_full_disk_is_told_once_and_not_again_when_files_are_closed(tmp_path: Path) -> None:
    class Full(FileIO):
        def write(self, content: Any, /) -> int:
            if len(content) > 2:
                return super().write(content[:2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill_up(where: Destination) -> None:
        with opened_part(where, ASKED) as part:
            part.append(result(1))
            assert all(isinstance(file, FileIO) for file in part.files)  # which keep nothing back
            with Full(where.folder / "data", "ab") as full:
                part.files = (full, part.files[1])
                part.append(result(2))

    where = destination(tmp_path)
    with pytest.raises(OSError, match=r"No space left on device: .*/data'$"):
        fill_up(where)
    assert (where.folder / "data").read_bytes() == b"n\r\n1\r\n2\r"
    go_on(destination(tmp_path, "resume"), 2)
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n"


def test_an_output_without_rows_can_be_read(tmp_path: Path) -> None:
    for form, content in (
        (CSV, b"n\r\n"),
        (OutputFormat("json_lines", ".gz"), OutputFormat("json_lines", ".gz").empty(())),
    ):
        with opened_part(destination(tmp_path, "replace", form), ASKED) as part:
            part.append(replace(result(1), content=b"", tally=Tally(rejected=1)))
            part.finish()
        assert (tmp_path / "out.csv").read_bytes() == content


def deadly(patch: pytest.MonkeyPatch, moment: float) -> Iterator[int]:
    """Kill whoever makes one more change to a folder, or has one kept, after so many; they are counted."""
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


DEADLY = ((Path, "replace"), (Path, "unlink"), (Path, "rmdir"), (os, "link"), (os, "fsync"), (shutil, "copyfile"))


def finish(where: Destination, moment: float) -> int:
    """A job of one window that is killed while it gives out names; after how many changes."""
    window = replace(result(1, b"bad\n"), content=where.form.encode([{"n": 1}], ("n",)))
    with opened_part(where, ASKED) as part:
        part.append(window)
        with pytest.MonkeyPatch.context() as patch:
            made = deadly(patch, moment)
            with nullcontext() if moment == math.inf else pytest.raises(Killed):
                part.finish()
    return next(made)


@pytest.mark.parametrize("begin", ["new", "replace"])
@pytest.mark.parametrize("form", [CSV, OutputFormat("parquet")])
def test_killed_while_it_gives_out_names_it_can_be_resumed(tmp_path: Path, form: OutputFormat, begin: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "undisturbed").mkdir()
    moments = finish(destination(tmp_path / "undisturbed", begin, form), math.inf)
    assert moments > 15
    for moment in range(moments):
        folder = tmp_path / str(moment)
        folder.mkdir()
        finish(destination(folder, begin, form), moment)
        check_resumed(folder, form, parquet)


def check_resumed(tmp_path: Path, form: OutputFormat, parquet: Any) -> None:
    where = destination(tmp_path, "resume", form)
    if not is_settled(where):
        with opened_part(where, ASKED) as part:
            assert part.journal.tally.rows == 1
            part.finish()
    assert names(tmp_path) == ["out.csv", "out.csv.rejected.jsonl"]
    assert where.side.read_bytes() == b"bad\n"
    found = parquet.read_table(where.output).to_pylist() if form != CSV else where.output.read_bytes()
    assert found in (b"n\r\n1\r\n", [{"n": 1}])


def test_an_empty_part_beside_an_output_is_no_job(tmp_path: Path) -> None:
    where = destination(tmp_path, "resume")
    where.folder.mkdir()
    assert not is_settled(where)
    where.output.write_text("complete")
    assert not is_settled(destination(tmp_path))
    assert is_settled(where)
    assert names(tmp_path) == ["out.csv"]


def test_a_job_that_was_to_replace_its_output_and_wrote_nothing_yet_is_begun_again(tmp_path: Path) -> None:
    where = destination(tmp_path, "replace")
    where.output.write_text("older")
    where.folder.mkdir()
    (where.folder / "job.json").write_text(json.dumps({"replaces": True, "asked": ASKED}))
    for moment in range(1, 5):  # killed again and again just as it begins
        assert not is_settled(destination(tmp_path, "resume"))
        with pytest.MonkeyPatch.context() as patch:
            deadly(patch, moment)
            with pytest.raises(Killed):
                go_on(destination(tmp_path, "resume"), 1)
    go_on(destination(tmp_path, "resume"), 1)
    assert where.output.read_bytes() == b"n\r\n1\r\n"


def finish_late(where: Destination, meanwhile: Path) -> None:
    """A job beside which somebody writes a file."""
    with opened_part(where, ASKED) as part:
        part.append(result(1, b"bad\n"))
        meanwhile.write_text("somebody else's")
        part.finish()


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("name", ["out.csv", "out.csv.rejected.jsonl"])
def test_a_file_that_appears_during_a_job_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, links: bool
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(
        InputError, match=rf"{name} has appeared since the job was begun; move it away, then go on with .*--resume"
    ):
        finish_late(destination(tmp_path), tmp_path / name)
    assert (tmp_path / name).read_text() == "somebody else's"
    (tmp_path / name).rename(tmp_path / "moved")
    go_on(destination(tmp_path, "resume"), 1)
    assert names(tmp_path) == ["moved", "out.csv", "out.csv.rejected.jsonl"]
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"
    assert (tmp_path / "out.csv.rejected.jsonl").read_bytes() == b"bad\n"


def test_a_side_file_of_somebody_else_stays_where_no_row_was_rejected(tmp_path: Path) -> None:
    with opened_part(destination(tmp_path), ASKED) as part:
        part.append(result(1))
        part.destination.side.write_text("somebody else's")
        part.finish()
    assert part.destination.side.read_text() == "somebody else's"


def test_what_may_be_replaced_is_also_where_it_appears_late(tmp_path: Path) -> None:
    finish_late(destination(tmp_path, "replace"), tmp_path / "out.csv.rejected.jsonl")
    assert (tmp_path / "out.csv.rejected.jsonl").read_bytes() == b"bad\n"
