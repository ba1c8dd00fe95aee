"""Rows to standard output."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pssa.errors import InputError
from pssa.predict.output_format import OutputFormat
from pssa.predict.rows import Summary
from pssa.predict.standard_output import open_standard_output
from pssa.predict.window import Window


def result(number: int) -> Window:
    content = f"{number}\r\n".encode()
    return Window("in", (0, number), 0, (), ("n",), "", content, b"bad\n", Summary(1, {"positive": 1}, 0, 1))


def test_windows_are_seen_as_they_come(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    side = tmp_path / "bad.jsonl"
    with open_standard_output(OutputFormat("csv"), side, "new") as standard:
        standard.append(result(1))
        assert capsysbinary.readouterr().out == b"n\r\n1\r\n"
        standard.append(result(2))
        assert capsysbinary.readouterr().out == b"2\r\n"
        standard.publish()
        assert not side.exists()
    assert side.read_bytes() == b"bad\nbad\n"
    assert standard.summary == Summary(2, {"positive": 2}, 0, 2)


def test_where_nothing_is_rejected_or_the_job_fails_there_is_no_file(tmp_path: Path) -> None:
    with open_standard_output(OutputFormat("json_lines"), tmp_path / "bad.jsonl", "new") as standard:
        standard.append(replace(result(1), rejected=b"", summary=Summary(1)))
    assert list(tmp_path.iterdir()) == []
    with suppress(InputError), open_standard_output(OutputFormat("csv"), tmp_path / "bad.jsonl", "new") as standard:
        standard.append(result(1))
        raise InputError("a bad row")
    assert list(tmp_path.iterdir()) == []


def test_without_rows_there_is_still_what_packing_or_a_table_needs(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_standard_output(OutputFormat("csv"), None, "new") as standard:
        standard.append(replace(result(1), content=b"", summary=Summary(0, rejected=1)))
        standard.publish()
    assert capsysbinary.readouterr().out == b"n\r\n"


def test_a_file_of_rejected_rows_is_not_replaced_unasked(tmp_path: Path) -> None:
    side = tmp_path / "bad.jsonl"
    side.write_text("older")
    with pytest.raises(InputError, match=r"bad\.jsonl already exists; choose"):
        open_standard_output(OutputFormat("csv"), side, "new").__enter__()
    with pytest.raises(InputError, match="cannot be written: No such file"):
        open_standard_output(OutputFormat("csv"), tmp_path / "nowhere" / "bad.jsonl", "new").__enter__()
    with open_standard_output(OutputFormat("csv"), side, "replace") as standard:
        standard.append(result(1))
    assert side.read_bytes() == b"bad\n"


def test_a_file_of_rejected_rows_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    side = tmp_path / "bad.jsonl"

    def meanwhile() -> None:
        with open_standard_output(OutputFormat("csv"), side, "new") as standard:
            standard.append(result(1))
            side.write_text("somebody else's")

    with pytest.raises(InputError, match=r"bad\.jsonl has appeared since .*; the"):
        meanwhile()
    assert side.read_text() == "somebody else's"
    (copy,) = tmp_path.glob(".bad.jsonl.*.part")
    assert copy.read_bytes() == b"bad\n"
