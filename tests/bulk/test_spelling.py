"""Names of CSV columns in an output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.bulk.made_jobs import Stopping
from tests.bulk.made_rows import read_rows

from pssa.bulk import Job, LocalEngine, predict
from pssa.bulk.spelling import respelled
from pssa.data.read import Problem, Row
from pssa.errors import RunError

SHARES = "probability_positive,probability_negative,probability_neutral"


def header_of(output: str) -> str:
    return Path(output).read_text().splitlines()[0]


def test_a_table_keeps_the_names_of_its_header(job: Job, tmp_path: Path) -> None:
    source = tmp_path / "theirs.csv"
    source.write_text("Review ID,Review Text,Aspect,Label\n7,a huge screen,screen,positive\n")
    theirs = replace(job, inputs=(str(source),), columns="text=review text")
    predict(theirs, LocalEngine())
    (row,) = read_rows(Path(job.output))
    assert list(row) == ["Review ID", "Review Text", "Aspect", "gold", "label", "probabilities"]
    predict(replace(theirs, output=str(tmp_path / "out.csv")), LocalEngine())
    assert header_of(str(tmp_path / "out.csv")) == f"Review ID,Review Text,Aspect,gold,label,{SHARES}"
    again = replace(theirs, inputs=(str(tmp_path / "out.csv"),), output=str(tmp_path / "again.csv"))
    predict(again, LocalEngine())
    assert header_of(again.output) == header_of(str(tmp_path / "out.csv"))


@pytest.mark.usefixtures("small_windows")
def test_tables_that_differ_in_case_only_make_one_also_when_resumed(job: Job, tmp_path: Path) -> None:
    inputs = []
    for name, header in (("a.csv", "No,Text,aspect"), ("b.csv", "NO,text,Aspect")):
        inputs.append(str(tmp_path / name))
        Path(inputs[-1]).write_text(f"{header}\n" + "1,a huge screen,screen\n" * 5)
    whole, stopped = (replace(job, inputs=tuple(inputs), output=str(tmp_path / name)) for name in ("w.csv", "s.csv"))
    assert predict(whole, LocalEngine()).rows == 10
    assert header_of(whole.output) == f"No,Text,aspect,label,{SHARES}"
    with pytest.raises(RunError, match=r"go on with .*--resume"):
        predict(stopped, Stopping(1, OSError("disk full")))
    predict(replace(stopped, begin="resume"), LocalEngine())
    assert Path(stopped.output).read_bytes() == Path(whole.output).read_bytes()


def test_two_columns_stay_two() -> None:
    row, bad = Row(2, {"Note": 1, "NOTE": 2, "GOLD": 3, "Other": 4}), Problem(3, "bad")
    respelt, same = respelled([row, bad], ["note"])
    assert isinstance(respelt, Row)
    assert respelt.given == {"note": 1, "NOTE": 2, "gold": 3, "Other": 4}
    assert (respelt.fields, same) == (row.fields, bad)
    assert respelled([bad], ["note"]) == (bad,)
