"""An output in the making: one file for each window, what is trusted when a job is resumed, and who may write."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_outputs import CSV, FINGERPRINT, Killed, finish, leave, names, output, result, windows_of

from pssa.errors import InputError, RunError, for_command_line
from pssa.predict import partial_output
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import Summary

OLD_JOB = Path(__file__).parents[1] / "fixtures" / "v0_1" / "unfinished_predict_job"


def test_the_output_appears_when_it_is_complete(tmp_path: Path) -> None:
    made = output(tmp_path)
    with made.opened(FINGERPRINT):
        made.append(result(1, b"bad\n"))
        made.append(result(2))
        assert names(tmp_path) == ["out.csv.part"]
        assert len(windows_of(made)) == 2
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
            made.append(replace(result(1), content=b"", summary=Summary(rejected=1)))
            made.publish()
        assert (tmp_path / "out.csv").read_bytes() == content


def test_a_window_that_was_being_written_is_written_again(tmp_path: Path) -> None:
    made = output(tmp_path)
    leave(made, 2, b"bad\n")
    last = windows_of(made)[-1]
    last.with_name(f".{last.name[:-1]}3.77.part").write_bytes(b'{"half')
    again = output(tmp_path, "resume")
    assert finish(again, 3) == Summary(3, {"positive": 3}, rejected=2)
    assert again.is_complete
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n3\r\n"
    assert made.rejected.read_bytes() == b"bad\nbad\n"
    assert names(tmp_path) == ["out.csv", "out.csv.rejected.jsonl"]


def test_an_unfinished_job_is_neither_lost_nor_begun_again_by_mistake(tmp_path: Path) -> None:
    leave(output(tmp_path), 2)
    with pytest.raises(InputError, match=r"out\.csv\.part holds an unfinished job"):
        finish(output(tmp_path), 3)
    assert len(windows_of(output(tmp_path))) == 2
    finish(output(tmp_path, "replace"), 1)
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"


def test_another_job_is_refused(tmp_path: Path) -> None:
    leave(output(tmp_path), 1)
    another = output(tmp_path, "resume").opened(FINGERPRINT | {"saliency": "attention"})
    with pytest.raises(InputError, match="saliency has changed since the job began") as refusal:
        another.__enter__()
    assert "--explain" in for_command_line(refusal.value)
    assert finish(output(tmp_path, "resume"), 2).rows == 2


def test_windows_of_an_earlier_job_are_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(output(tmp_path), 2)

    def die(self: Any, **given: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:  # killed before it has removed them
        patch.setattr(partial_output.PartialOutput, "_remove", die)
        with pytest.raises(Killed):
            finish(output(tmp_path, "replace"), 1)
    assert len(windows_of(output(tmp_path))) == 2
    assert finish(output(tmp_path, "resume"), 1).rows == 1
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n"
    assert names(tmp_path) == ["out.csv"]


def test_an_output_is_replaced_only_with_permission(tmp_path: Path) -> None:
    made = output(tmp_path)
    made.output.write_text("older")
    for begin in ("new", "resume"):
        with pytest.raises(InputError, match=r"out\.csv already exists; choose another"):
            finish(output(tmp_path, begin), 1)
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


def test_a_damaged_job_is_refused(tmp_path: Path) -> None:
    made = output(tmp_path, "resume")
    leave(made, 3)
    _, second, _ = windows_of(made)
    content = second.read_bytes()
    for damaged in (content[:-1], content + b"x"):
        second.write_bytes(damaged)
        with pytest.raises(InputError, match=r"-00000002: is damaged .*; begin again"):
            finish(output(tmp_path, "resume"), 4)
    second.write_bytes(content)
    second.rename(tmp_path / "away")
    with pytest.raises(InputError, match=r"-00000002: is missing; begin again"):
        finish(output(tmp_path, "resume"), 4)
    (tmp_path / "away").rename(second)
    job = (made.folder / "job.json").read_text()
    for text in ("{}", "", "[1]", "{", "[" * 100_000, job.replace('"scoring"', '"lost"'), job.replace("3", "9", 1)):
        (made.folder / "job.json").write_text(text)
        with pytest.raises(InputError, match=r"job\.json: is damaged|another version of pssa"):
            finish(output(tmp_path, "resume"), 4)
    (made.folder / "job.json").write_text(job)
    assert finish(output(tmp_path, "resume"), 4).rows == 4


def test_a_complete_job_needs_its_last_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(self: Any, target: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(partial_output.PartialOutput, "_join", die)
        with pytest.raises(Killed):
            finish(output(tmp_path), 2)
    windows_of(output(tmp_path))[-1].unlink()
    with pytest.raises(InputError, match=r"-00000002: is missing; begin again"):
        finish(output(tmp_path, "resume"), 2)


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


SUMMARY = {"rows": 1, "labels": {"positive": 1}, "ambiguous": 0, "rejected": 0}


@pytest.mark.parametrize(
    "change",
    [
        {"content": -1},
        {"content": "7"},
        {"end": [0]},
        {"end": {"source": 0}},
        {"end": [True, 0]},
        {"end": [0, 1 << 70]},
        {"schema": "zz"},
        {"summary": {"lost": 1}},
        {"summary": SUMMARY | {"rows": "7"}},
        {"summary": SUMMARY | {"rows": 7}},
        {"summary": SUMMARY | {"labels": ["positive"]}},
        {"summary": SUMMARY | {"labels": {"positive": None}}},
        {"summary": SUMMARY | {"ambiguous": 0.5}},
        {"summary": SUMMARY | {"rejected": None}},
        {"columns": "text"},
        {"columns": [1]},
        {"more": 1},
    ],
)
def test_a_damaged_window_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    made = output(tmp_path, "resume")
    leave(made, 1)
    (window,) = windows_of(made)
    header, _, body = window.read_bytes().partition(b"\n")
    window.write_bytes(json.dumps(json.loads(header) | change).encode() + b"\n" + body)
    with pytest.raises(InputError, match=r"\(.*\); begin again with begin='replace'"):
        finish(output(tmp_path, "resume"), 2)


@pytest.mark.parametrize("begin", ["new", "resume"])
def test_an_unfinished_job_of_the_first_version_is_refused(tmp_path: Path, begin: str) -> None:
    made = output(tmp_path, begin)
    shutil.copytree(OLD_JOB, made.folder)
    with pytest.raises(InputError, match="pssa; begin again with begin='replace'") as refusal:
        finish(made, 1)
    assert "--force" in for_command_line(refusal.value)
    assert names(made.folder) == names(OLD_JOB)
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
        unfit = replace(result(2), content=form.encode([{"n": "two", "label": "a"}], ()), lines=(7,), source="in")
        made.append(made.fit(replace(unfit, summary=Summary(1, {"a": 1}))))
        assert made.summary == Summary(1, {"positive": 1}, rejected=1)
        made.publish()
    assert parquet.read_table(made.output).to_pylist() == [{"n": 1}]
    assert '"line": 7, "reason": "cannot be written as Parquet' in made.rejected.read_text()


def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, write = output(tmp_path), Path.write_bytes

    def fill_up(path: Path, content: bytes) -> int:
        if "-00000002" in path.name:
            write(path, content[:9])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill_up)
    with pytest.raises(OSError, match=r"No space left on device: .*-00000002'$"):
        finish(made, 3)
    assert len(windows_of(made)) == 1
    assert not list(made.folder.glob(".*"))
    monkeypatch.undo()
    finish(output(tmp_path, "resume"), 2)
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n"


def test_a_disk_that_fills_up_at_the_end_costs_no_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = output(tmp_path)

    def fill_up(self: Any, which: str = "content") -> Any:
        yield b"some"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(partial_output.PartialOutput, "contents", fill_up)
        with pytest.raises(OSError, match="No space left on device"):
            finish(made, 2, b"bad\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv.part"]
    finish(output(tmp_path, "resume"), 2)
    assert made.output.read_bytes() == b"n\r\n1\r\n2\r\n"
    assert made.rejected.read_bytes() == b"bad\nbad\n"


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    made = output(tmp_path)
    with made.opened(FINGERPRINT):
        made.append(result(1))
        with pytest.raises(RunError, match=r"out\.csv is in use by another process"):
            finish(output(tmp_path, "resume"), 2)
        made.append(result(2))
        made.publish()
    assert (tmp_path / "out.csv").read_bytes() == b"n\r\n1\r\n2\r\n"


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: .*nowhere does not"):
        finish(output(tmp_path / "nowhere"), 1)
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(InputError, match=r"out\.csv cannot be written: it is a"):
        finish(output(tmp_path, "replace"), 1)
    (tmp_path / "out.csv").rmdir()
    (tmp_path / "out.csv.part").write_text("a file")
    with pytest.raises(InputError, match=r"cannot be written: .*out\.csv\.part"):
        finish(output(tmp_path), 1)


def test_a_file_for_rejected_rows_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, what in (("nowhere/bad", "nowhere does not exist; make the folder"), ("folder", "it is a directory")):
        with pytest.raises(InputError, match=f"cannot be written: .*{what}.*rejected"):
            finish(replace(output(tmp_path, "replace"), rejected=tmp_path / name), 1)
    assert names(tmp_path) == ["folder"]


def test_a_device_is_not_a_file_to_be_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.csv")
    with pytest.raises(InputError, match=r"out\.csv cannot be written: it is a"):
        finish(output(tmp_path, "replace"), 1)


def test_nothing_in_the_folder_is_trusted_before_the_lock_is_held(tmp_path: Path) -> None:
    made = output(tmp_path, "replace")
    leave(made, 2)
    lock = os.open(made.folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(RunError):
        finish(output(tmp_path, "replace"), 1)
    os.close(lock)
    assert len(windows_of(made)) == 2


def test_a_folder_removed_before_it_was_locked_is_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = output(tmp_path)
    monkeypatch.setattr(fcntl, "flock", lambda lock, how: made.folder.rmdir())
    with pytest.raises(RunError, match=r"out\.csv is in use by another process"):
        finish(made, 1)
