"""An output in the making."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bulk.made_parts import ASKED, Killed, destination, go_on, leave, names, result

from pssa.bulk import part as part_module
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.part import opened_part
from pssa.bulk.work import Tally
from pssa.errors import InputError


def test_the_output_appears_when_it_is_complete(tmp_path: Path) -> None:
    where = destination(tmp_path)
    with opened_part(where, ASKED) as part:
        part.append(result(1, b"bad\n"))
        part.append(result(2))
        assert names(tmp_path) == ["out.csv.part"]
        part.finish()
    assert names(tmp_path) == ["out.csv", "out.csv.rejected.jsonl"]
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n"
    assert where.side.read_bytes() == b"bad\n"


def test_what_was_written_after_the_journal_is_cut_off(tmp_path: Path) -> None:
    where = destination(tmp_path)
    leave(where, 2, b"bad\n")
    for name in ("data", "rejected"):
        with (where.folder / name).open("ab") as file:
            file.write(b"half a line")
    journal = go_on(destination(tmp_path, "resume"), 3)
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n3\r\n"
    assert where.side.read_bytes() == b"bad\nbad\n"
    assert journal.tally == Tally(3, {"positive": 3})
    assert journal.complete


def test_a_job_that_was_left_is_neither_lost_nor_begun_again_by_mistake(tmp_path: Path) -> None:
    leave(destination(tmp_path), 2)
    with pytest.raises(
        InputError, match=r"out\.csv\.part holds a job that was not finished, 2 rows; go on with .*--resume"
    ):
        go_on(destination(tmp_path), 3)
    with pytest.raises(InputError, match="holds a job that was not finished"):
        opened_part(destination(tmp_path, "replace"), None).__enter__()
    assert json.loads((destination(tmp_path).folder / "journal.json").read_text())["tally"]["rows"] == 2
    go_on(destination(tmp_path, "replace"), 1)
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"


def test_a_job_that_has_written_nothing_leaves_nothing(tmp_path: Path) -> None:
    leave(destination(tmp_path), 0)
    assert names(tmp_path) == []


def test_a_job_that_nobody_can_resume_leaves_nothing(tmp_path: Path) -> None:
    with suppress(Killed), opened_part(destination(tmp_path), None) as part:
        part.append(result(1))
        raise Killed
    assert names(tmp_path) == []


def test_without_a_part_resuming_is_beginning(tmp_path: Path) -> None:
    assert go_on(destination(tmp_path, "resume"), 1).tally.rows == 1


def test_another_job_is_refused(tmp_path: Path) -> None:
    leave(destination(tmp_path), 1)
    another = opened_part(destination(tmp_path, "resume"), ASKED | {"the saliency": "attention"})
    with pytest.raises(InputError, match="the saliency is not what it was when the job was begun"):
        another.__enter__()
    assert go_on(destination(tmp_path, "resume"), 2).tally.rows == 2


def test_an_output_is_replaced_only_where_that_is_asked_for(tmp_path: Path) -> None:
    where = destination(tmp_path)
    where.output.write_text("older")
    for begin in ("new", "resume"):
        with pytest.raises(InputError, match=r"out\.csv exists already; choose another .*--output"):
            go_on(destination(tmp_path, begin), 1)
    assert names(tmp_path) == ["out.csv"]
    leave(destination(tmp_path, "replace"), 1)
    assert where.output.read_text() == "older"
    go_on(destination(tmp_path, "resume"), 2)
    assert where.output.read_bytes() == b"n\r\n1\r\n2\r\n"


def test_a_side_file_of_before_is_not_taken_for_that_of_now(tmp_path: Path) -> None:
    where = destination(tmp_path)
    where.side.write_text("older")
    with pytest.raises(InputError, match=r"out\.csv\.rejected\.jsonl exists already; choose another .*--rejected"):
        go_on(where, 1)
    go_on(destination(tmp_path, "replace"), 1)
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.rejected.jsonl"])
def test_a_file_that_appeared_in_between_is_not_replaced(tmp_path: Path, name: str) -> None:
    leave(destination(tmp_path), 1)
    (tmp_path / name).write_text("somebody else's")
    with pytest.raises(InputError, match=rf"{name} has appeared since the job was begun"):
        go_on(destination(tmp_path, "resume"), 2)
    assert (tmp_path / name).read_text() == "somebody else's"


def test_a_damaged_part_is_refused(tmp_path: Path) -> None:
    where = destination(tmp_path, "resume")
    leave(where, 2)
    data = (where.folder / "data").read_bytes()
    (where.folder / "data").write_bytes(data[:-1])
    with pytest.raises(InputError, match=r"data: is shorter than the journal says; begin again with .*--force"):
        go_on(where, 3)
    (where.folder / "data").write_bytes(data)
    (where.folder / "job.json").write_text("{}")
    with pytest.raises(InputError, match=r"job\.json: is damaged"):
        go_on(where, 3)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    where = destination(tmp_path)
    where.folder.mkdir()
    (where.folder / "mine.txt").write_text("mine")
    go_on(where, 1)
    assert names(tmp_path) == ["out.csv", "out.csv.part"]
    assert names(where.folder) == ["mine.txt"]


def test_columns_of_parquet_are_checked_window_by_window(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    form, where = OutputFormat("parquet"), destination(tmp_path, form=OutputFormat("parquet"))
    with opened_part(where, ASKED) as part:
        part.append(replace(result(1), content=form.encode([{"n": 1}], ())))
        said = replace(result(2), content=form.encode([{"n": "two", "label": "a"}], ()), lines=(7,), source="in")
        part.append(replace(said, tally=Tally(1, {"a": 1})))
        assert part.journal.tally == Tally(1, {"positive": 1}, rejected=1)
        part.finish()
    assert parquet.read_table(where.output).to_pylist() == [{"n": 1}]
    assert '"line": 7, "reason": "cannot be written as Parquet' in where.side.read_text()


def test_the_names_in_a_part_are_those_that_are_told() -> None:
    said = part_module.__doc__ or ""
    told = (part_module._JOB, part_module._JOURNAL, part_module._DATA, part_module._REJECTED)
    assert re.findall(r"^    (\S+)  ", said, re.MULTILINE) == list(told)
