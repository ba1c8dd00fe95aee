"""Jobs: what they may be, and whole ones on this machine."""

from __future__ import annotations

import gzip
import io
import sys
import warnings
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.predict.made_jobs import BAD, names
from tests.predict.made_rows import read_rows, sentences, write_rows

import pssa
from pssa.data.example import Example
from pssa.data.fields import example_from_fields
from pssa.data.io import stream, write
from pssa.errors import InputError
from pssa.predict import Job, LocalEngine, Progress, predict
from pssa.predict.engines import ScoringTask
from pssa.predict.window import Window

pytestmark = pytest.mark.usefixtures("small_windows")

RUN = Path("run")


@pytest.mark.parametrize(
    ("output", "options", "what"),
    [
        ("out.csv", {"errors": "ignore"}, "errors is 'ignore'; it can be fail or skip"),
        ("out.csv", {"begin": "Resume"}, "begin is 'Resume'; it can be new, resume, replace"),
        ("-", {"begin": "resume"}, "cannot be resumed; name a file with output"),
        ("-", {"errors": "skip"}, "name one with rejected"),
    ],
)
def test_what_cannot_be_is_refused(output: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        Job(RUN, ("in.jsonl",), output, **options)


def test_rows_keep_their_order_and_get_what_the_classifier_says(job: Job) -> None:
    summary = predict(job, LocalEngine())
    rows, classifier = read_rows(Path(job.output)), pssa.load(job.run)
    assert [row["key"] for row in rows] == list(range(10))
    for row in rows:
        expected = classifier.predict(row["text"], "screen").probabilities
        assert row["probabilities"] == pytest.approx(expected, abs=1e-6)
    assert (summary.rows, sum(summary.labels.values()), summary.rejected) == (10, 10, 0)
    assert list(summary.labels) == list(classifier.labels)
    assert names(job) == ["in.jsonl", "out.jsonl"]


def test_rows_are_read_from_and_written_to_any_form(job: Job, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    chain = ["out.jsonl", "out.csv.gz", "out.parquet", "again.jsonl"]
    source = job.inputs[0]
    for name in chain:
        predict(replace(job, inputs=(source,), output=str(tmp_path / name)), LocalEngine())
        source = str(tmp_path / name)
    first, last = read_rows(tmp_path / "out.jsonl"), read_rows(tmp_path / "again.jsonl")
    assert [row["label"] for row in last] == [row["label"] for row in first]
    assert [row["probabilities"] for row in last] == [row["probabilities"] for row in first]
    # A table holds text; what another model said before has become gold, and gold stays.
    assert [(row["key"], row["gold"]) for row in last] == [(str(row["key"]), row["label"]) for row in first]
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == 10


def test_several_inputs_make_one_output_in_their_order(job: Job, tmp_path: Path) -> None:
    for number, packed in enumerate(("b.jsonl", "a.jsonl.gz")):
        path = write_rows(tmp_path / "rows", sentences(10)[5 * number : 5 * number + 5])
        (tmp_path / packed).write_bytes(gzip.compress(path.read_bytes()) if number else path.read_bytes())
    told: list[Progress] = []
    both = (str(tmp_path / "b.jsonl"), f"{tmp_path}/*.gz")
    assert predict(replace(job, inputs=both), LocalEngine(), told.append).rows == 10
    assert [row["key"] for row in read_rows(Path(job.output))] == list(range(10))
    total = sum((tmp_path / name).stat().st_size for name in ("b.jsonl", "a.jsonl.gz"))
    assert [(progress.rows, progress.total) for progress in told] == [
        (0, total),
        (4, total),
        (5, total),
        (9, total),
        (10, total),
    ]
    assert [progress.read for progress in told] == sorted(progress.read for progress in told)
    assert told[-1].read == total


def test_bad_rows_are_skipped_into_a_file_of_their_own(job: Job, tmp_path: Path) -> None:
    rows = sentences(10)
    rows[2:2], rows[7:7] = [BAD], [{"text": "no aspect"}]
    source = write_rows(Path(job.inputs[0]), rows)
    summary = predict(replace(job, errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected) == (10, 2)
    assert [row["key"] for row in read_rows(Path(job.output))] == list(range(10))
    first, second = read_rows(tmp_path / "out.jsonl.rejected.jsonl")
    why = "aspect 'screen' is not in the text 'a keyboard'; give it as it appears there, or its character offsets"
    assert first == {"source": str(source), "line": 3, "reason": why, "row": BAD}
    assert second["row"] == {"text": "no aspect"}
    assert (second["line"], second["reason"][:11]) == (8, "no `aspect`")


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_input_without_rows_makes_an_output_without_rows(job: Job, content: str) -> None:
    Path(job.inputs[0]).write_text(content)
    with pytest.warns(UserWarning, match=r"out\.jsonl has no rows: the input has"):
        assert predict(job, LocalEngine()).rows == 0
    assert Path(job.output).read_bytes() == b""
    assert names(job) == ["in.jsonl", "out.jsonl"]


def test_where_no_row_can_be_used_a_warning_says_so(job: Job) -> None:
    write_rows(Path(job.inputs[0]), [BAD, BAD])
    with pytest.warns(UserWarning, match=r"has no rows: .*2 .*; .*\.rejected\.jsonl"):
        assert predict(replace(job, errors="skip"), LocalEngine()).rejected == 2


def standard(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_of_another_format_names_the_option(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    standard(monkeypatch, b"text,aspect\na menu,menu\n")
    with pytest.raises(InputError, match=r"JSON .*name the format of standard input"):
        predict(replace(job, inputs=("-",), output="-"), LocalEngine())


def test_rows_pass_from_standard_input_to_standard_output(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    standard(monkeypatch, Path(job.inputs[0]).read_bytes())
    told: list[Progress] = []
    summary = predict(replace(job, inputs=("-",), output="-"), LocalEngine(), told.append)
    assert summary.rows == 10
    predict(job, LocalEngine())
    assert capsysbinary.readouterr().out == Path(job.output).read_bytes()
    assert {progress.total for progress in told} == {0}


def test_an_input_is_never_written_over(job: Job) -> None:
    before = Path(job.inputs[0]).read_bytes()
    with pytest.raises(InputError, match=r"in\.jsonl is both an input and the"):
        predict(replace(job, output=job.inputs[0], begin="replace"), LocalEngine())
    for output in (job.output, "-"):
        with pytest.raises(InputError, match=r"in\.jsonl is both an input and the file"):
            predict(replace(job, output=output, rejected=job.inputs[0], begin="replace"), LocalEngine())
    with pytest.raises(InputError, match=r"out\.jsonl is both the output and the"):
        predict(replace(job, rejected=job.output, errors="skip"), LocalEngine())
    assert Path(job.inputs[0]).read_bytes() == before


def test_a_job_that_fails_at_once_leaves_an_older_output_as_it_was(job: Job) -> None:
    Path(job.output).write_text("older\n")
    Path(job.inputs[0]).write_text("nonsense\n")
    with pytest.raises(InputError, match=r"in\.jsonl, line 1: "):
        predict(replace(job, begin="replace"), LocalEngine())
    assert Path(job.output).read_text() == "older\n"
    assert names(job) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize(
    "line", ['{"text": "a screen"}', '{"text": "a screen", ', '{"text": "a screen", "aspect": "x"}']
)
def test_a_bad_row_is_named_by_its_line_and_leaves_nothing(job: Job, line: str) -> None:
    Path(job.inputs[0]).write_text('{"text": "a screen", "aspect": "screen"}\n' + line + "\n")
    with pytest.raises(InputError, match=r"in\.jsonl, line 2: "):
        predict(job, LocalEngine())
    assert names(job) == ["in.jsonl"]


def test_a_warning_of_every_window_is_told_once(job: Job) -> None:
    class Doubting(LocalEngine):
        def results(self, task: ScoringTask) -> Generator[Window]:
            for number, result in enumerate(super().results(task)):
                yield replace(result, warnings=(f"{number} of 4 sentences are long", "another"))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predict(job, Doubting())
    assert [str(warning.message) for warning in caught] == ["0 of 4 sentences are long", "another"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"run": Path("nowhere")}, "nowhere does not exist; expected a run directory"),
        ({"inputs": ("nowhere.csv",)}, "does not exist"),
        ({"output": "out.xml"}, "name ending in"),
        ({"output": "out", "output_format": "xml"}, "unknown output format"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(job: Job, change: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        predict(replace(job, **change), LocalEngine())
    assert names(job) == ["in.jsonl"]


def test_a_line_too_long_is_a_row_that_can_be_skipped(job: Job) -> None:
    with Path(job.inputs[0]).open("a") as file:
        file.write('{"text": "' + "a" * (1 << 22) + '"}\n' + '{"text": "a screen", "aspect": "screen"}\n')
    summary = predict(replace(job, errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected) == (11, 1)
    (rejected,) = read_rows(job.rejected_path)
    assert rejected["reason"].startswith("is longer than 4194304 characters")
    assert "row" not in rejected


def test_where_an_input_breaks_off_the_part_is_kept_even_where_rows_are_skipped(job: Job, tmp_path: Path) -> None:
    packed = gzip.compress(Path(job.inputs[0]).read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[:-9])
    both = replace(job, inputs=(*job.inputs, str(tmp_path / "cut.jsonl.gz")), errors="skip")
    with pytest.raises(InputError, match=r"cut\.jsonl\.gz: cannot be read.*the 1[08] rows before are kept"):
        predict(both, LocalEngine())


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_what_is_written_as_csv_is_read_again(job: Job, tmp_path: Path, form: str) -> None:
    words = ((0, 1), (2, 8), (8, 13))
    example = Example.from_spans("a screen, big", words, (2, 8), label="neutral", id="0", sentence_id="0")
    write([replace(example, tags=("hard", "new"))], tmp_path / f"given.{form}")
    predict(replace(job, inputs=(str(tmp_path / f"given.{form}"),), output=str(tmp_path / "out.csv")), LocalEngine())
    (row,) = stream(tmp_path / "out.csv")
    again = example_from_fields(row.fields, ordinal_required=False)
    assert (again.spans, again.tags) == (words, ("hard", "new"))


@pytest.mark.parametrize(("name", "delimiter"), [("out.csv", ";"), ("out.tsv", "\t")])
def test_a_table_keeps_its_delimiter_unless_named_otherwise(
    run: Path, tmp_path: Path, name: str, delimiter: str
) -> None:
    (tmp_path / "in.csv").write_text("\ntext;aspect\nthe screen is nice;screen\n")
    predict(Job(run, (str(tmp_path / "in.csv"),), str(tmp_path / name)), LocalEngine())
    header, row = (tmp_path / name).read_text().splitlines()
    assert header.startswith(f"text{delimiter}aspect{delimiter}label{delimiter}probability_")
    assert row.startswith(f"the screen is nice{delimiter}screen{delimiter}")


def test_rows_below_the_threshold_are_uncertain_and_counted(job: Job) -> None:
    careful = replace(job, scoring=replace(job.scoring, abstain=0.999999))
    summary = predict(careful, LocalEngine())
    rows = list(stream(careful.output))
    assert summary.labels["uncertain"] == 10
    assert {row.fields["label"] for row in rows} == {"uncertain"}
    assert all(0 < max(row.fields["probabilities"].values()) < 1 for row in rows)


@pytest.mark.parametrize("options", [{"abstain": 2.0}, {"abstain_risk": 0.1}, {"abstain": 0.5, "abstain_risk": 0.1}])
def test_a_threshold_that_cannot_be_had_writes_nothing(job: Job, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="abstain"):
        predict(replace(job, scoring=replace(job.scoring, **options)), LocalEngine())
    assert not Path(job.output).exists()
