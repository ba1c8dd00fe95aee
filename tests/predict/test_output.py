"""Outputs in the making: what a killed job keeps, what is trusted when it is resumed, who may write; and standard output."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_outputs import CSV, FINGERPRINT, Killed, finish, leave, names, output, result

from pssa.errors import InputError, RunError, for_command_line
from pssa.predict.output import PartialOutput, open_standard_output
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import Summary, WrittenRow

OLD_JOB = Path(__file__).parents[1] / "fixtures" / "v0_1" / "unfinished_predict_job"


def die(*_: Any, **__: Any) -> Any:
    raise Killed


def disk_full(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_output_appears_when_it_is_complete(tmp_path: Path) -> None:
    made = output(tmp_path)
    with made.opened(FINGERPRINT):
        made.append(result(1, b"bad\n"))
        made.append(result(2))
        assert names(tmp_path) == ["out.csv.part"]
        made.publish()
    assert names(tmp_path) == ["out.csv", "out.csv.rejected.jsonl"]
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n"
    assert made.rejected.read_bytes() == b"bad\n"


def test_a_job_without_windows_leaves_nothing_and_one_without_rows_a_readable_file(tmp_path: Path) -> None:
    leave(output(tmp_path), 0)
    assert names(tmp_path) == []
    packed = OutputFormat("json_lines", ".gz")
    for begin, form, content in (("resume", CSV, b"n\r\n"), ("replace", packed, packed.empty(()))):
        made = output(tmp_path, begin, form)
        with made.opened(FINGERPRINT):
            made.append(result(1, rows=0))
            made.publish()
        assert (tmp_path / "out.csv").read_bytes() == content


def test_what_was_written_after_the_last_window_is_written_again(tmp_path: Path) -> None:
    made = output(tmp_path)
    leave(made, 2, b"bad\n")
    for name in ("rows", "rejected", ".progress.json.77.part"):
        with (made.folder / name).open("ab") as file:
            file.write(b"half of a win")
    again = output(tmp_path, "resume")
    assert finish(again, 3, b"bad\n") == Summary(3, {"positive": 3}, rejected=3)
    assert again.is_complete
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n3\r\n"
    assert made.rejected.read_bytes() == b"bad\n" * 3
    assert names(tmp_path) == ["out.csv", "out.csv.rejected.jsonl"]


def test_an_unfinished_job_is_neither_lost_nor_begun_again_by_mistake(tmp_path: Path) -> None:
    leave(output(tmp_path), 2)
    with pytest.raises(InputError, match=r"out\.csv\.part holds an unfinished job with 2 rows"):
        finish(output(tmp_path), 3)
    another = output(tmp_path, "resume").opened(FINGERPRINT | {"saliency": "attention"})
    with pytest.raises(InputError, match="saliency has changed since the job began") as refusal:
        another.__enter__()
    assert "--explain" in for_command_line(refusal.value)
    assert finish(output(tmp_path, "resume"), 3).rows == 3
    leave(output(tmp_path, "replace"), 2)
    finish(output(tmp_path, "replace"), 1)
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"


@pytest.mark.parametrize("where", ["_remove", "_open"])
def test_rows_of_an_earlier_job_are_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    leave(output(tmp_path), 2)
    with monkeypatch.context() as patch:
        patch.setattr(PartialOutput, where, die)
        patch.setattr(PartialOutput, "clear", lambda self: None)  # which a killed process does not do
        with pytest.raises(Killed):
            finish(output(tmp_path, "replace"), 1)
    assert finish(output(tmp_path, "resume"), 1).rows == 1
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"
    assert names(tmp_path) == ["out.csv"]


def test_an_output_is_replaced_only_with_permission(tmp_path: Path) -> None:
    made = output(tmp_path)
    made.output.write_text("older")
    with pytest.raises(InputError, match=r"out\.csv already exists; choose another"):
        finish(output(tmp_path), 1)
    with output(tmp_path, "resume").opened(FINGERPRINT) as settled:
        assert settled.is_settled
    assert names(tmp_path) == ["out.csv"]
    leave(output(tmp_path, "replace"), 1)
    assert made.output.read_text() == "older"
    finish(output(tmp_path, "resume"), 2)
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n"


def test_rejected_rows_of_an_earlier_job_are_not_taken_for_new_ones(tmp_path: Path) -> None:
    made = output(tmp_path)
    made.rejected.write_text("older")
    with pytest.raises(InputError, match=r"out\.csv\.rejected\.jsonl already exists"):
        finish(made, 1)
    finish(output(tmp_path, "replace"), 1)
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.rejected.jsonl"])
def test_a_file_that_appeared_in_between_is_not_replaced(tmp_path: Path, name: str) -> None:
    leave(output(tmp_path), 1)
    (tmp_path / name).write_text("somebody else's")
    with pytest.raises(InputError, match=rf"{name} has appeared since the job began"):
        finish(output(tmp_path, "resume"), 2)
    assert (tmp_path / name).read_text() == "somebody else's"


def test_permission_to_replace_is_not_inherited_by_a_new_job(tmp_path: Path) -> None:
    made = output(tmp_path, "replace")
    made.output.write_text("older")
    with suppress(Killed), made.opened(FINGERPRINT):
        shutil.copytree(made.folder, tmp_path / "copy")
        raise Killed
    (tmp_path / "copy").rename(made.folder)  # as a kill leaves it
    with pytest.raises(InputError, match=r"out\.csv already exists"):
        finish(output(tmp_path), 1)
    assert made.output.read_text() == "older"


def test_a_damaged_job_is_refused(tmp_path: Path) -> None:
    made = output(tmp_path, "resume")
    leave(made, 3, b"bad\n")
    for name in ("rows", "rejected"):
        content = (made.folder / name).read_bytes()
        (made.folder / name).write_bytes(content[:-1])
        with pytest.raises(InputError, match=rf"part/{name}: is damaged .*; begin again"):
            finish(output(tmp_path, "resume"), 4)
        (made.folder / name).write_bytes(content)
    for name in ("job.json", "progress.json"):
        record = (made.folder / name).read_text()
        changed = json.dumps(json.loads(record) | {"layout": 9, "n_bytes": 1})
        for text in ("{}", "", "[1]", "{", "[" * 100_000, changed, record.replace("3", "9", 1), record[:-1]):
            (made.folder / name).write_text(text)
            with pytest.raises(InputError, match=rf"{name}: is damaged \(.*\); begin again with begin='replace'"):
                finish(output(tmp_path, "resume"), 4)
        (made.folder / name).write_text(record)
    assert finish(output(tmp_path, "resume"), 4).rows == 4


def test_a_complete_job_needs_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(PartialOutput, "_publish_rejected", die)
        with pytest.raises(Killed):
            finish(output(tmp_path), 2)
    (output(tmp_path).folder / "rows").unlink()
    with pytest.raises(InputError, match=r"rows: is damaged .*; begin again"):
        finish(output(tmp_path, "resume"), 2)


@pytest.mark.parametrize("begin", ["new", "resume"])
def test_an_unfinished_job_of_the_first_version_is_refused(tmp_path: Path, begin: str) -> None:
    made = output(tmp_path, begin)
    shutil.copytree(OLD_JOB, made.folder)
    (made.folder / "job.json").unlink()
    with pytest.raises(InputError, match="pssa; begin again with begin='replace'") as refusal:
        finish(made, 1)
    assert "--force" in for_command_line(refusal.value)
    finish(output(tmp_path, "replace"), 1)
    assert names(tmp_path) == ["out.csv"]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    made = output(tmp_path)
    made.folder.mkdir()
    (made.folder / "mine.txt").write_text("mine")
    finish(made, 1)
    assert names(tmp_path) == ["out.csv", "out.csv.part"]
    assert names(made.folder) == ["mine.txt"]


def test_columns_of_parquet_are_checked_window_by_window(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    form, made = OutputFormat("parquet"), output(tmp_path, form=OutputFormat("parquet"))
    with made.opened(FINGERPRINT):
        made.append(made.fit(replace(result(1), content=form.encode([{"n": 1}], ()))))
        unfit = replace(result(2), content=form.encode([{"n": "two"}], ()), written=(WrittenRow(7, "a"),))
        made.append(made.fit(unfit))
        assert made.summary == Summary(1, {"positive": 1}, rejected=1)
        made.publish()
    assert parquet.read_table(made.output).to_pylist() == [{"n": 1}]
    assert '"line": 7, "reason": "cannot be written as Parquet' in made.rejected.read_text()


def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, made_again = output(tmp_path), output(tmp_path, "resume")
    leave(made, 1)
    with made_again.opened(FINGERPRINT), monkeypatch.context() as patch:
        patch.setattr(os, "fsync", disk_full)
        with pytest.raises(OSError, match=r"No space left on device: .*/rows'$"):
            made_again.append(result(2))
        assert made_again.n_kept == 1
    finish(output(tmp_path, "resume"), 2)
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n"


def test_a_full_disk_is_reported_once(tmp_path: Path) -> None:
    made = output(tmp_path)

    def fill() -> None:
        with made.opened(FINGERPRINT):
            for number in range(1, 9):
                made.append(replace(result(number), content=b"n" * 2000))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: .*/rows'$"):
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert made.n_kept == 4


def test_a_disk_that_fills_up_at_the_end_costs_no_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = output(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", disk_full)
        with pytest.raises(OSError, match="No space left on device"):
            finish(made, 2, b"bad\n")
    assert names(tmp_path) == ["out.csv.part"]
    finish(output(tmp_path, "resume"), 2)
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n"
    assert made.rejected.read_bytes() == b"bad\nbad\n"


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    made = output(tmp_path)
    with made.opened(FINGERPRINT):
        made.append(result(1))
        for begin in ("resume", "replace"):  # nothing is trusted or removed before the lock is held
            with pytest.raises(RunError, match=r"out\.csv is in use by another process"):
                finish(output(tmp_path, begin), 2)
        made.append(result(2))
        made.publish()
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n2\r\n"


def test_a_folder_removed_before_it_was_locked_is_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = output(tmp_path)
    monkeypatch.setattr(fcntl, "flock", lambda lock, how: made.folder.rmdir())
    with pytest.raises(RunError, match=r"out\.csv is in use by another process"):
        finish(made, 1)


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: .*nowhere does not"):
        finish(output(tmp_path / "nowhere"), 1)
    for make, remove in ((Path.mkdir, Path.rmdir), (os.mkfifo, Path.unlink)):
        make(tmp_path / "out.csv")
        with pytest.raises(InputError, match=r"out\.csv cannot be written: it is a"):
            finish(output(tmp_path, "replace"), 1)
        remove(tmp_path / "out.csv")
    (tmp_path / "out.csv.part").write_text("a file")
    with pytest.raises(InputError, match=r"cannot be written: .*out\.csv\.part"):
        finish(output(tmp_path), 1)


def test_a_file_for_rejected_rows_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, what in (("nowhere/bad", "nowhere does not exist; make the folder"), ("folder", "it is a directory")):
        with pytest.raises(InputError, match=f"cannot be written: .*{what}.*rejected"):
            finish(output(tmp_path, "replace", rejected=tmp_path / name), 1)
    assert names(tmp_path) == ["folder"]


def test_standard_output_gets_windows_as_they_come(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    side = tmp_path / "bad.jsonl"
    with open_standard_output(CSV, side, "new") as standard:
        standard.append(result(1, b"bad\n"))
        assert capsysbinary.readouterr().out == b"n\r\n1\r\n"
        standard.append(result(2, b"bad\n"))
        assert capsysbinary.readouterr().out == b"2\r\n"
        standard.publish()
    assert side.read_bytes() == b"bad\nbad\n"
    assert standard.summary == Summary(2, {"positive": 2}, 0, 2)
    with open_standard_output(CSV, None, "new") as standard:
        standard.append(result(1, rows=0))
        standard.publish()
    assert capsysbinary.readouterr().out == b"n\r\n"


def test_where_nothing_is_rejected_or_the_job_fails_there_is_no_file(tmp_path: Path) -> None:
    with open_standard_output(CSV, tmp_path / "bad.jsonl", "new") as standard:
        standard.append(result(1))
    assert names(tmp_path) == []
    with suppress(Killed), open_standard_output(CSV, tmp_path / "bad.jsonl", "new") as standard:
        standard.append(result(1, b"bad\n"))
        raise Killed
    assert names(tmp_path) == []


def test_a_file_of_rejected_rows_is_not_replaced_unasked(tmp_path: Path) -> None:
    side = tmp_path / "bad.jsonl"
    side.write_text("older")
    with pytest.raises(InputError, match=r"bad\.jsonl already exists; choose"):
        open_standard_output(CSV, side, "new").__enter__()
    with pytest.raises(InputError, match="cannot be written: No such file"):
        open_standard_output(CSV, tmp_path / "nowhere" / "bad.jsonl", "new").__enter__()
    with suppress(Killed), open_standard_output(CSV, side, "replace") as standard:
        standard.append(result(1, b"bad\n"))
        raise Killed
    assert side.read_text() == "older"
    with open_standard_output(CSV, side, "replace") as standard:
        standard.append(result(1, b"bad\n"))
    assert side.read_bytes() == b"bad\n"
    with open_standard_output(CSV, side, "replace") as standard:
        standard.append(result(1))
    assert names(tmp_path) == []


def test_a_file_of_rejected_rows_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    side = tmp_path / "bad.jsonl"

    def write() -> None:
        with open_standard_output(CSV, side, "new") as standard:
            side.write_text("another's")
            standard.append(result(1, b"bad\n"))

    with pytest.raises(InputError, match=r"bad\.jsonl has appeared since .*; the rejected rows are in"):
        write()
    assert side.read_text() == "another's"
    assert [path.read_bytes() for path in tmp_path.glob("bad.jsonl.*")] == [b"bad\n"]
