"""Jobs that are ended before their time, and gone on with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from tests.predict.made_jobs import BAD, Stopping, names
from tests.predict.made_rows import read_rows, sentences, write_rows

from pssa.errors import InputError, RunError
from pssa.predict import Job, LocalEngine, Scoring, predict
from pssa.predict.engines import ScoringTask
from pssa.predict.output import _seal, _unseal
from pssa.predict.window import Window

pytestmark = pytest.mark.usefixtures("small_windows")


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.csv.gz", "out.jsonl.zst", "out.parquet"])
def test_a_job_that_was_stopped_ends_with_the_same_bytes(job: Job, tmp_path: Path, name: str, after: int) -> None:
    pytest.importorskip("pyarrow")
    undisturbed, stopped = (replace(job, output=str(tmp_path / folder / name)) for folder in ("a", "b"))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    summary = predict(undisturbed, LocalEngine())
    with pytest.raises(RunError, match=f"disk full; the {4 * after} rows before"):
        predict(stopped, Stopping(after, OSError("disk full")))
    assert names(stopped) == [f"{name}.part"]
    assert predict(replace(stopped, begin="resume"), LocalEngine()) == summary
    assert names(stopped) == [name]
    assert Path(stopped.output).read_bytes() == Path(undisturbed.output).read_bytes()


def test_a_table_of_other_names_with_word_scores_ends_with_the_same_bytes(job: Job, tmp_path: Path) -> None:
    rows = [{"no": row["key"], "review": row["text"], "term": row["aspect"]} for row in sentences(5)]
    source = write_rows(tmp_path / "theirs.jsonl", rows)
    scoring = Scoring(device="cpu", saliency="")
    theirs = replace(job, inputs=(str(source),), columns="text=review,aspect=term", scoring=scoring)
    undisturbed, stopped = (replace(theirs, output=str(tmp_path / name)) for name in ("a.csv", "b.csv"))
    predict(undisturbed, LocalEngine())
    with pytest.raises(RunError, match=r"resume with begin='resume'"):
        predict(stopped, Stopping(1, OSError("disk full")))
    with pytest.raises(InputError, match=r"columns has changed since the job began"):
        predict(replace(stopped, begin="resume", columns="text=review,span=term"), LocalEngine())
    predict(replace(stopped, begin="resume"), LocalEngine())
    whole = Path(undisturbed.output).read_bytes()
    shares = b"probability_positive,probability_negative,probability_neutral"
    assert whole.startswith(b"no,review,term,label," + shares + b",explanation,notes\r\n")
    assert whole.count(b"\r\n") == 6
    assert Path(stopped.output).read_bytes() == whole


def test_a_bad_row_in_the_first_window_can_be_left_out(job: Job) -> None:
    write_rows(Path(job.inputs[0]), [BAD, *sentences(9)])
    with pytest.raises(InputError, match=r"line 1: .*; errors='skip'"):
        predict(job, LocalEngine())
    assert predict(replace(job, errors="skip"), LocalEngine()).rows == 9


def test_a_bad_row_late_in_a_file_costs_nothing_of_what_is_done(job: Job, tmp_path: Path) -> None:
    write_rows(Path(job.inputs[0]), [*sentences(9), BAD])
    with pytest.raises(
        InputError,
        match=r"line 10: .*the 8 rows .*errors='skip'",
    ):
        predict(job, LocalEngine())
    assert names(job) == ["in.jsonl", "out.jsonl.part"]
    summary = predict(replace(job, begin="resume", errors="skip"), LocalEngine())
    assert (summary.rows, summary.rejected) == (9, 1)
    assert [row["key"] for row in read_rows(Path(job.output))] == list(range(9))


def test_who_interrupts_is_told_how_to_go_on(job: Job) -> None:
    with pytest.raises(KeyboardInterrupt, match="the 4 rows before are kept: resume with"):
        predict(job, Stopping(1, KeyboardInterrupt()))
    with pytest.raises(InputError, match="holds an unfinished job with 4 rows"):
        predict(job, LocalEngine())


def test_what_has_changed_meanwhile_is_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        predict(job, Stopping(1, KeyboardInterrupt()))
    again = replace(job, begin="resume")
    with pytest.raises(InputError, match=r"saliency has changed since the job began"):
        predict(replace(again, scoring=Scoring(saliency="", device="cpu")), LocalEngine())
    content = Path(job.inputs[0]).read_text()
    write_rows(Path(job.inputs[0]), sentences(11))
    with pytest.raises(InputError, match=r"the size of .*in\.jsonl has changed"):
        predict(again, LocalEngine())
    Path(job.inputs[0]).write_text(content)
    os.utime(job.inputs[0], ns=(1, 1))
    with pytest.raises(InputError, match=r"the time of .*in\.jsonl has changed"):
        predict(again, LocalEngine())
    assert predict(replace(job, begin="replace"), LocalEngine()).rows == 10


@pytest.mark.parametrize("left", [False, True])
def test_a_job_that_is_done_has_nothing_to_be_resumed(job: Job, left: bool) -> None:
    predict(job, LocalEngine())
    if left:  # by a kill just before its end
        Path(f"{job.output}.part").mkdir()
    before = Path(job.output).read_bytes()
    expected = r"out\.jsonl exists and .*; nothing was done; .*begin='replace'"
    with pytest.warns(UserWarning, match=expected):
        assert predict(replace(job, begin="resume"), LocalEngine()).existed
    assert Path(job.output).read_bytes() == before
    assert names(job) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory")])
def test_who_runs_out_of_memory_goes_on_with_smaller_batches(job: Job, error: Exception) -> None:
    with pytest.raises(RunError, match=r"not enough memory \(.*\); set a smaller"):
        predict(job, Stopping(0, error))
    with pytest.raises(RunError, match="set a smaller batch_size; the 4 rows"):
        predict(job, Stopping(1, error))
    smaller = replace(job, begin="resume", scoring=Scoring(device="cpu", batch_size=1))
    assert predict(smaller, LocalEngine()).rows == 10


@pytest.mark.parametrize(
    ("end", "said"),
    [((1, 4), "2 of 1; begin again with begin='replace'"), ((0, 11), r"in\.jsonl: ends before the place at")],
)
def test_a_window_that_says_it_ends_elsewhere_is_refused(job: Job, end: tuple[int, int], said: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        predict(job, Stopping(1, KeyboardInterrupt()))
    progress = Path(f"{job.output}.part", "progress.json")
    progress.write_bytes(_seal(_unseal(progress.read_bytes()) | {"position": end}))
    with pytest.raises(InputError, match=said):
        predict(replace(job, begin="resume"), LocalEngine())


def test_an_input_that_changes_under_a_job_is_noticed(job: Job, tmp_path: Path) -> None:
    source = Path(job.inputs[0])
    content = source.read_bytes()
    with pytest.raises(InputError, match=r"in\.jsonl has changed while it was read"):
        predict(job, Meddling(lambda: source.write_text("changed!\n")))
    assert names(job) == ["in.jsonl", "out.jsonl.part"]
    source.write_bytes(content)
    with pytest.raises(InputError, match=r"in\.jsonl has changed while it was read"):
        predict(replace(job, begin="replace"), Meddling(lambda: os.utime(source, ns=(1, 1))))
    with pytest.raises(InputError, match=r"in\.jsonl has gone while it was read"):
        predict(replace(job, begin="replace"), Meddling(source.unlink))
    assert names(job) == ["out.jsonl.part"]


def test_what_cannot_be_read_again_cannot_be_resumed(job: Job) -> None:
    with pytest.raises(InputError, match="standard input cannot be read again, so"):
        predict(replace(job, inputs=("-",), begin="resume"), LocalEngine())


@dataclass(frozen=True)
class Meddling:
    """An engine beside which somebody does something after a window."""

    what: Callable[[], object]

    def resolve(self, scoring: Scoring) -> Scoring:
        return LocalEngine().resolve(scoring)

    def results(self, task: ScoringTask) -> Generator[Window]:
        for number, result in enumerate(LocalEngine().results(task)):
            if number == 1:
                self.what()
            yield result


def test_nobody_is_sent_on_with_a_part_that_is_gone(job: Job) -> None:
    def remove() -> None:
        while Path(f"{job.output}.part").exists():  # a window is being written there
            shutil.rmtree(f"{job.output}.part", ignore_errors=True)

    with pytest.raises(RunError, match=r"No such file.*; somebody has removed the"):
        predict(job, Meddling(remove))


def test_a_link_is_left_a_link_and_what_it_means_is_written(job: Job, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, target = tmp_path / "link.jsonl", tmp_path / "real" / "out.jsonl"
    link.symlink_to(target)
    linked = replace(job, output=str(link))
    with pytest.raises(KeyboardInterrupt):
        predict(linked, Stopping(1, KeyboardInterrupt()))
    assert names(linked) == ["in.jsonl", "link.jsonl", "real"]
    predict(replace(linked, begin="resume"), LocalEngine())
    assert link.is_symlink()
    assert [row["key"] for row in read_rows(target)] == list(range(10))
