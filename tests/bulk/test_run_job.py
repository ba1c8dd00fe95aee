"""Whole jobs on this machine."""

from __future__ import annotations

import gzip
import io
import sys
import warnings
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.made_rows import read_rows, sentences, write_rows

import pssa
from pssa.bulk import Job, LocalEngine, Progress, Scoring, predict
from pssa.bulk.job import Task
from pssa.bulk.scorer import Sizes
from pssa.bulk.work import Result
from pssa.errors import InputError, RunError

BAD = {"text": "a keyboard", "aspect": "screen"}


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.bulk.run_job.sizes", lambda model, device: Sizes(4, 3))


@pytest.fixture
def job(run: Path, tmp_path: Path) -> Job:
    """Ten rows, three windows."""
    source = write_rows(tmp_path / "in.jsonl", sentences(10))
    return Job(run, (str(source),), str(tmp_path / "out.jsonl"), scoring=Scoring(device="cpu"))


@dataclass(frozen=True)
class Stopping:
    """An engine that is stopped after so many windows."""

    after: int
    end: BaseException

    def resolve(self, scoring: Scoring) -> Scoring:
        return LocalEngine().resolve(scoring)

    def results(self, task: Task) -> Generator[Result]:
        for number, result in enumerate(LocalEngine().results(task)):
            if number == self.after:
                raise self.end
            yield result


def names(job: Job) -> list[str]:
    return sorted(path.name for path in Path(job.output).parent.iterdir())


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


@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.csv.gz", "out.jsonl.zst", "out.parquet"])
def test_a_job_that_was_stopped_ends_with_the_same_bytes(job: Job, tmp_path: Path, name: str, after: int) -> None:
    pytest.importorskip("pyarrow")
    undisturbed, stopped = (replace(job, output=str(tmp_path / folder / name)) for folder in ("a", "b"))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    summary = predict(undisturbed, LocalEngine())
    with pytest.raises(RunError, match=f"disk full; the {4 * after} rows before are kept: go on with --resume"):
        predict(stopped, Stopping(after, OSError("disk full")))
    assert names(stopped) == [f"{name}.part"]
    assert predict(replace(stopped, begin="resume"), LocalEngine()) == summary
    assert names(stopped) == [name]
    assert Path(stopped.output).read_bytes() == Path(undisturbed.output).read_bytes()


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
    assert first == {"source": str(source), "line": 3, "reason": "aspect 'screen' is not in the text 'a keyboard'"}
    assert (second["line"], second["reason"][:11]) == (8, "no `aspect`")


def test_a_bad_row_late_in_a_file_costs_nothing_of_what_is_done(job: Job, tmp_path: Path) -> None:
    write_rows(Path(job.inputs[0]), [*sentences(9), BAD])
    with pytest.raises(
        InputError,
        match=r"in\.jsonl, line 10: aspect 'screen' is not in the text 'a keyboard'; the 8 rows before are kept: "
        r"go on with --resume --errors skip",
    ):
        predict(job, LocalEngine())
    assert names(job) == ["in.jsonl", "out.jsonl.part"]
    summary = predict(replace(job, begin="resume", errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected) == (9, 1)
    assert [row["key"] for row in read_rows(Path(job.output))] == list(range(9))


def test_who_interrupts_is_told_how_to_go_on(job: Job) -> None:
    with pytest.raises(KeyboardInterrupt, match="the 4 rows before are kept: go on with --resume"):
        predict(job, Stopping(1, KeyboardInterrupt()))
    with pytest.raises(InputError, match="holds a job that was not finished, 4 rows"):
        predict(job, LocalEngine())


def test_what_has_changed_meanwhile_is_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        predict(job, Stopping(1, KeyboardInterrupt()))
    again = replace(job, begin="resume")
    with pytest.raises(InputError, match="--explain is not what it was when the job was begun"):
        predict(replace(again, scoring=Scoring(saliency="", device="cpu")), LocalEngine())
    content = Path(job.inputs[0]).read_text()
    write_rows(Path(job.inputs[0]), sentences(11))
    with pytest.raises(InputError, match=r"the size of .*in\.jsonl is not what it was"):
        predict(again, LocalEngine())
    Path(job.inputs[0]).write_text(content)
    with pytest.raises(InputError, match=r"the time of .*in\.jsonl is not what it was"):
        predict(again, LocalEngine())
    assert predict(replace(job, begin="replace"), LocalEngine()).rows == 10


def test_word_scores_are_written_with_the_answers(job: Job) -> None:
    predict(replace(job, scoring=Scoring(saliency="", device="cpu")), LocalEngine())
    row = read_rows(Path(job.output))[0]
    assert row["explanation"]["saliency"] == "attention"
    assert [word["word"] for word in row["explanation"]["words"]] == row["text"].split()
    assert sum(word["share"] for word in row["explanation"]["words"]) == pytest.approx(1, abs=1e-5)


def standard(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


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


def test_what_cannot_be_read_again_cannot_be_resumed(job: Job) -> None:
    with pytest.raises(InputError, match="standard input cannot be read again, so the job cannot be resumed"):
        predict(replace(job, inputs=("-",), begin="resume"), LocalEngine())


def test_an_input_is_never_the_output(job: Job) -> None:
    with pytest.raises(InputError, match=r"in\.jsonl is both input and output"):
        predict(replace(job, output=job.inputs[0], begin="replace"), LocalEngine())


def test_a_source_that_breaks_off_ends_the_job_even_where_rows_are_skipped(job: Job, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    rows = sentences(30)
    path.write_bytes(
        gzip.compress("".join(f'{{"text": "{row["text"]}", "aspect": "screen"}}\n' for row in rows).encode())[:-20]
    )
    with pytest.raises(InputError, match=r"in\.jsonl\.gz: cannot be read: Compressed file ended"):
        predict(replace(job, inputs=(str(path),), errors="skip"), LocalEngine())
    assert not Path(job.output).exists()


def test_a_warning_of_every_window_is_told_once(job: Job) -> None:
    class Doubting(LocalEngine):
        def results(self, task: Task) -> Generator[Result]:
            for number, result in enumerate(super().results(task)):
                yield replace(result, warnings=(f"{number} of 4 sentences are long", "another"))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predict(job, Doubting())
    assert [str(warning.message) for warning in caught] == ["0 of 4 sentences are long", "another"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"run": Path("nowhere")}, "nowhere is not a run"),
        ({"inputs": ("nowhere.csv",)}, "does not exist"),
        ({"output": "out.xml"}, "let its name end in"),
        ({"output": "out", "output_format": "xml"}, "unknown output format"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(job: Job, change: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        predict(replace(job, **change), LocalEngine())
    assert names(job) == ["in.jsonl"]
