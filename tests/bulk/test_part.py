"""An output in the making."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pssa.bulk import part as part_module
from pssa.bulk.form import Form
from pssa.bulk.journal import Journal
from pssa.bulk.part import Place, opened_part
from pssa.bulk.window import Position
from pssa.bulk.work import Result, Tally
from pssa.errors import InputError, RunError

ASKED = {"the run": "ab", "--explain": None}
CSV = Form("csv")


def result(number: int, rejected: bytes = b"") -> Result:
    content = CSV.encode([{"n": number}], ("n",))
    return Result(Position(0, number), number, ("n",), content, rejected, Tally(1, {"positive": 1}), "", "")


class Killed(BaseException):
    """The end of a process, as far as a test can have it in its own."""


def place(folder: Path, begin: str = "new", form: Form = CSV) -> Place:
    return Place(folder / "out.csv", folder / "out.csv.rejected.jsonl", form, begin)


def leave(where: Place, windows: int, rejected: bytes = b"") -> None:
    """A part with so many windows."""
    with suppress(Killed), opened_part(where, ASKED) as part:
        for number in range(1, windows + 1):
            part.append(result(number, rejected))
        raise Killed


def go_on(where: Place, upto: int, rejected: bytes = b"") -> Journal:
    with opened_part(where, ASKED) as part:
        for number in range(part.journal.position.events + 1, upto + 1):
            part.append(result(number, rejected))
        if part.journal.position.events:
            part.finish()
        return part.journal


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_output_appears_when_it_is_complete(tmp_path: Path) -> None:
    where = place(tmp_path)
    with opened_part(where, ASKED) as part:
        part.append(result(1, b"bad\n"))
        part.append(result(2))
        assert names(tmp_path) == ["out.csv.part"]
        part.finish()
    assert names(tmp_path) == ["out.csv", "out.csv.rejected.jsonl"]
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n"
    assert where.side.read_bytes() == b"bad\n"


def test_what_was_written_after_the_journal_is_cut_off(tmp_path: Path) -> None:
    where = place(tmp_path)
    leave(where, 2, b"bad\n")
    for name in ("data", "rejected"):
        with (where.folder / name).open("ab") as file:
            file.write(b"half a line")
    journal = go_on(place(tmp_path, "resume"), 3)
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n3\r\n"
    assert where.side.read_bytes() == b"bad\nbad\n"
    assert journal.tally == Tally(3, {"positive": 3})
    assert journal.complete


def test_a_job_that_was_left_is_neither_lost_nor_begun_again_by_mistake(tmp_path: Path) -> None:
    leave(place(tmp_path), 2)
    with pytest.raises(
        InputError, match=r"out\.csv\.part holds a job that was not finished, 2 rows; go on with --resume"
    ):
        go_on(place(tmp_path), 3)
    go_on(place(tmp_path, "replace"), 1)
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"


def test_a_job_that_has_written_nothing_leaves_nothing(tmp_path: Path) -> None:
    leave(place(tmp_path), 0)
    assert names(tmp_path) == []


def test_a_job_that_nobody_can_resume_leaves_nothing(tmp_path: Path) -> None:
    with suppress(Killed), opened_part(place(tmp_path), None) as part:
        part.append(result(1))
        raise Killed
    assert names(tmp_path) == []


def test_without_a_part_resuming_is_beginning(tmp_path: Path) -> None:
    assert go_on(place(tmp_path, "resume"), 1).tally.rows == 1


def test_another_job_is_refused(tmp_path: Path) -> None:
    leave(place(tmp_path), 1)
    another = opened_part(place(tmp_path, "resume"), ASKED | {"--explain": "attention"})
    with pytest.raises(InputError, match="--explain is not what it was when the job was begun"):
        another.__enter__()
    assert go_on(place(tmp_path, "resume"), 2).tally.rows == 2


def test_an_output_is_replaced_only_where_that_is_asked_for(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.output.write_text("older")
    for begin in ("new", "resume"):
        with pytest.raises(InputError, match=r"out\.csv exists already; choose another --output"):
            go_on(place(tmp_path, begin), 1)
    assert names(tmp_path) == ["out.csv"]
    leave(place(tmp_path, "replace"), 1)
    assert where.output.read_text() == "older"
    go_on(place(tmp_path, "resume"), 2)
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n"


def test_a_side_file_of_before_is_not_taken_for_that_of_now(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.side.write_text("older")
    with pytest.raises(InputError, match=r"out\.csv\.rejected\.jsonl exists already"):
        go_on(where, 1)
    go_on(place(tmp_path, "replace"), 1)
    assert names(tmp_path) == ["out.csv"]


def test_an_output_that_appeared_in_between_is_not_replaced(tmp_path: Path) -> None:
    leave(place(tmp_path), 1)
    (tmp_path / "out.csv").write_text("somebody else's")
    with pytest.raises(InputError, match=r"out\.csv has appeared since the job was begun"):
        go_on(place(tmp_path, "resume"), 2)
    assert (tmp_path / "out.csv").read_text() == "somebody else's"


def deadly(patch: pytest.MonkeyPatch, moment: int) -> None:
    """Kill whoever makes one more change to a folder after so many."""
    made = count()

    def die_at(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **more: Any) -> Any:
            if next(made) >= moment:
                raise Killed
            return change(*given, **more)

        return changed

    for name in ("replace", "unlink", "rmdir"):
        patch.setattr(Path, name, die_at(getattr(Path, name)))


@pytest.mark.parametrize("form", [CSV, Form("parquet")])
@pytest.mark.parametrize("moment", range(16))
def test_killed_while_it_gives_out_names_it_can_be_resumed(tmp_path: Path, moment: int, form: Form) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    where = place(tmp_path, form=form)
    window = replace(result(1, b"bad\n"), content=form.encode([{"n": 1}], ("n",)))
    with opened_part(where, ASKED) as part:
        part.append(window)
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            deadly(patch, moment)
            part.finish()
    # Where one of the two is gone, the last traces of a complete job were being removed.
    if all((where.folder / name).exists() for name in ("job.json", "journal.json")):
        with opened_part(place(tmp_path, "resume", form), ASKED) as part:
            assert part.journal.tally.rows == 1
            part.finish()
    assert where.side.read_bytes() == b"bad\n"
    found = parquet.read_table(where.output).to_pylist() if form != CSV else where.output.read_bytes()
    assert found in (b"n\r\n1\r\n", [{"n": 1}])


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with opened_part(place(tmp_path), ASKED) as part:
        part.append(result(1))
        with pytest.raises(RunError, match=r"out\.csv is being written by another process"):
            go_on(place(tmp_path, "resume"), 2)
        part.append(result(2))
        part.finish()
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n2\r\n"


def test_a_damaged_part_is_refused(tmp_path: Path) -> None:
    where = place(tmp_path, "resume")
    leave(where, 2)
    data = (where.folder / "data").read_bytes()
    (where.folder / "data").write_bytes(data[:-1])
    with pytest.raises(InputError, match=r"data: is shorter than the journal says; begin again with --force"):
        go_on(where, 3)
    (where.folder / "data").write_bytes(data)
    (where.folder / "job.json").write_text("{}")
    with pytest.raises(InputError, match=r"job\.json: is damaged"):
        go_on(where, 3)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    where = place(tmp_path)
    where.folder.mkdir()
    (where.folder / "mine.txt").write_text("mine")
    go_on(where, 1)
    assert names(tmp_path) == ["out.csv", "out.csv.part"]
    assert names(where.folder) == ["mine.txt"]


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: .*nowhere does not exist"):
        go_on(place(tmp_path / "nowhere"), 1)
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(InputError, match=r"out\.csv cannot be written: it is a directory"):
        go_on(place(tmp_path, "replace"), 1)
    (tmp_path / "out.csv").rmdir()
    (tmp_path / "out.csv.part").write_text("a file")
    with pytest.raises(InputError, match=r"out\.csv cannot be written: File exists"):
        go_on(place(tmp_path), 1)


def test_columns_of_parquet_are_checked_window_by_window(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    form = Form("parquet")
    with opened_part(place(tmp_path, form=form), ASKED) as part:
        part.append(replace(result(1), content=form.encode([{"n": 1}], ())))
        with pytest.raises(InputError, match="cannot be written as Parquet"):
            part.append(replace(result(2), content=form.encode([{"n": "two"}], ())))
        assert part.journal.tally.rows == 1


def test_nothing_of_the_part_is_trusted_before_the_lock_is_held(tmp_path: Path) -> None:
    where = place(tmp_path, "replace")
    leave(where, 2)
    lock = os.open(where.folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(RunError):
        go_on(where, 1)
    os.close(lock)
    assert json.loads((where.folder / "journal.json").read_text())["tally"]["rows"] == 2


def test_a_folder_that_was_removed_before_the_lock_was_had_is_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = place(tmp_path)
    monkeypatch.setattr(fcntl, "flock", lambda lock, how: where.folder.rmdir())
    with pytest.raises(RunError, match=r"out\.csv is being written by another process"):
        go_on(where, 1)


def test_the_names_in_a_part_are_those_that_are_told() -> None:
    said = part_module.__doc__ or ""
    assert all(name in said for name in ("job.json", "journal.json", "data", "rejected"))
