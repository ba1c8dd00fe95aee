"""Execution backends: the same bytes from threads, processes and a cluster, also where a worker or a node is lost."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from tests.models.encoders import tiny_encoder
from tests.predict.made_rows import sentences, write_rows

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.rows import Row
from pssa.errors import InputError, RunError
from pssa.models import IndexedCorpus
from pssa.predict import Job, LocalEngine, ProcessEngine, Progress, RayEngine, Scoring, beside_gpu, engines, predict
from pssa.predict.engines import rare_garbage_collection, score_windows
from pssa.predict.output_format import OutputFormat
from pssa.predict.scorer import Scorer
from pssa.predict.window import Window
from pssa.runs.answers import Answer, Question
from pssa.runs.featurizer import PieceFeaturizer
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.torch_runtime import TorchRuntime


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.predict.job.default_window_rows", lambda model, device: 16)


def positive(questions: Sequence[Question]) -> list[list[Answer]]:
    return [[Answer("positive", {"positive": 1.0}, "screen", 0, 6)] for _ in questions]


def test_bytes_are_the_same_while_a_gpu_computes(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = write_rows(tmp_path / "in.jsonl", sentences(100))
    rows.write_text(rows.read_text("utf-8") + '{"text": "a bad one", "aspect": "missing"}\n', "utf-8")
    scoring = Scoring(device="cpu", batch_size=8)
    outputs = [tmp_path / "threads.jsonl", tmp_path / "overlapped.jsonl"]
    for on_gpu, output in enumerate(outputs):
        monkeypatch.setattr(TorchRuntime, "is_on_gpu", bool(on_gpu))
        predict(Job(run, (str(rows),), str(output), errors="skip", scoring=scoring), LocalEngine())
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert len(outputs[1].read_text("utf-8").splitlines()) == 100


class Beside(LocalEngine):
    """As if there were a GPU and four cores."""

    def results(self, task: engines.ScoringTask) -> Generator[Window]:
        return beside_gpu.score_beside(task)


def test_bytes_are_the_same_if_processes_prepare_for_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, run = tiny_encoder(), tmp_path / "run"
    model = models.build("bertabsa_att", encoder, 3, {}, seed=1)
    described = Description("bertabsa_att", {"dropout": 0.1}, DEFAULT_LABELS)
    save_weights(run, model, described, PieceFeaturizer(encoder, pair=False))
    rows = write_rows(tmp_path / "in.jsonl", sentences(400))
    rows.write_text(rows.read_text("utf-8") + '{"text": "a bad one", "aspect": "missing"}\n', "utf-8")
    job = Job(
        run, (str(rows),), str(tmp_path / "alone.jsonl"), errors="skip", scoring=Scoring(device="cpu", batch_size=8)
    )
    predict(job, LocalEngine())
    monkeypatch.setattr(TorchRuntime, "is_on_gpu", True)
    monkeypatch.setattr(TorchRuntime, "encoders", [])
    monkeypatch.setattr(beside_gpu, "_LARGE", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr(
        beside_gpu._Helpers, "have_started", property(lambda helpers: helpers._started[0].result() is None)
    )
    threads = list[str]()
    answer = TorchRuntime.begin

    def begin(self: TorchRuntime, corpus: IndexedCorpus, *more: Any) -> Callable[[], torch.Tensor]:
        threads.append(threading.current_thread().name)
        return answer(self, corpus, *more)

    monkeypatch.setattr(TorchRuntime, "begin", begin)
    before = sys.getswitchinterval()
    predict(replace(job, output=str(tmp_path / "helped.jsonl")), Beside())
    assert (tmp_path / "alone.jsonl").read_bytes() == (tmp_path / "helped.jsonl").read_bytes()
    assert [name.startswith("launcher") for name in threads].count(True) >= 20  # of 26 windows
    assert sys.getswitchinterval() == before


def test_an_error_of_the_gpu_ends_the_work_of_the_processes() -> None:
    near, far = multiprocessing.Pipe()
    broken = SimpleNamespace(begin=lambda *_: 1 / 0, encoders=[])
    thread = Thread(
        target=beside_gpu._answer, args=(near, cast(Any, "first"), cast(Any, broken), ThreadPoolExecutor(1))
    )
    thread.start()
    assert far.recv() == "first"
    corpus = IndexedCorpus.of(tiny_encoder().cutter(False, 0).features([Example.from_text("a screen", (2, 8))], ()))
    far.send((corpus.features, corpus.sentences.numpy(), 8))
    assert isinstance(far.recv(), ZeroDivisionError)
    far.close()
    thread.join(10)
    assert not thread.is_alive()


def test_what_cannot_be_scored_is_rejected_wherever_the_error_comes_from() -> None:
    def start(questions: Sequence[Question]) -> Callable[[], list[list[Answer]]]:
        if any("early" in question.text for question in questions):
            raise InputError("cannot be cut")
        return lambda: fetch(questions)

    def fetch(questions: Sequence[Question]) -> list[list[Answer]]:
        if any("late" in question.text for question in questions):
            raise InputError("cannot be explained")
        return positive(questions)

    texts = ("screen", "early screen", "a screen", "late screen")
    rows = tuple(Row(line, {"text": text, "aspect": "screen"}) for line, text in enumerate(texts))
    windows = (Window("in", (0, number), 0, rows, ()) for number in range(4))
    for result in score_windows(windows, Scorer(start, classifier=cast(Any, "on a GPU")), OutputFormat("json_lines")):
        assert (result.summary.rows, result.summary.rejected) == (2, 2)
        assert [json.loads(line)["line"] for line in result.rejected.splitlines()] == [1, 3]


@pytest.fixture
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_thresholds")
@pytest.mark.parametrize(("before", "within"), [(700, 50_000), (0, 0), (90_000, 90_000)])
def test_garbage_collection_is_rare_unless_it_is_rarer_and_then_as_before(before: int, within: int) -> None:
    gc.set_threshold(before, 10, 10)
    with suppress(ValueError), rare_garbage_collection():
        assert gc.get_threshold()[0] == within
        with rare_garbage_collection():
            assert gc.get_threshold()[0] == within
        raise ValueError("broken")
    assert gc.get_threshold() == (before, 10, 10)


CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")


@pytest.fixture(name="job")
def larger_job(run: Path, tmp_path: Path) -> Job:
    source = write_rows(tmp_path / "in.jsonl", sentences(400))
    return Job(run, (str(source),), str(tmp_path / "out.jsonl"), scoring=ON_CPU)


def workers_of(process: int) -> list[int]:
    """The children that were spawned to work, without the one that keeps track of resources."""
    children = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return [child for child in children if b"spawn_main" in command_of(child)]


def command_of(process: int) -> bytes:
    """Nothing of a process that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def wait_until(happened: Callable[[], bool]) -> None:
    """As long as a machine that is slow and busy may need."""
    ends = time.monotonic() + 300
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.slow
def test_processes_write_the_bytes_of_threads(job: Job, tmp_path: Path) -> None:
    summary = predict(job, LocalEngine())
    far = replace(job, output=str(tmp_path / "far.jsonl"))
    assert predict(far, ProcessEngine(2)) == summary
    assert Path(far.output).read_bytes() == Path(job.output).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not CHILDREN.exists(), reason="only Linux tells who the children of a process are")
def test_a_worker_that_is_killed_ends_the_job_which_can_be_resumed(job: Job, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_a_worker(progress: Progress) -> None:
        """Once: windows that were done before are told of afterwards, when there is no worker any more."""
        if progress.rows and not killed:
            killed.append(workers_of(os.getpid())[0])
            os.kill(killed[0], signal.SIGKILL)
            wait_until(lambda: not workers_of(os.getpid()))  # who notices a death ends the others

    with pytest.raises(RunError, match=r"killed.* rows before are kept"):
        predict(job, ProcessEngine(2), kill_a_worker)
    assert killed
    assert predict(replace(job, begin="resume"), LocalEngine()).rows == 400


@pytest.mark.slow
@pytest.mark.skipif(not CHILDREN.exists(), reason="only Linux tells who the children of a process are")
def test_workers_end_with_the_process_that_was_killed(job: Job, run: Path, tmp_path: Path) -> None:
    rows, pipe, enough = write_rows(tmp_path / "rows", sentences(10_000)).read_bytes(), tmp_path / "pipe", Event()
    os.mkfifo(pipe)

    def feed() -> None:
        """More rows than the workers hold; the pipe stays open, so that there might be others."""
        with suppress(BrokenPipeError), pipe.open("wb") as file:
            file.write(rows)
            file.flush()
            enough.wait()

    Thread(target=feed, daemon=True).start()
    words = ("predict", run, "--input", pipe, "--output", job.output, "--workers", "2")
    command = subprocess.Popen([sys.executable, "-m", "pssa", *map(str, words)], stderr=subprocess.DEVNULL)
    wait_until(lambda: command.poll() is not None or Path(f"{job.output}.part", "progress.json").exists())
    assert command.poll() is None
    workers = workers_of(command.pid)
    assert len(workers) == 2
    command.kill()
    command.wait()
    enough.set()
    wait_until(lambda: not any(is_running(worker) for worker in workers))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_there_is_at_least_one_worker_or_actor() -> None:
    with pytest.raises(InputError, match="workers is 0; it must be at least 1"):
        ProcessEngine(0)
    with pytest.raises(InputError, match="actors is 0; it must be at least 1"):
        RayEngine(actors=0)


def test_what_is_wrong_with_the_run_is_told_before_workers_are_started(job: Job) -> None:
    with pytest.raises(InputError, match="saliency 'magic' cannot explain"):
        predict(replace(job, scoring=Scoring(saliency="magic", device="cpu")), ProcessEngine(2))


ON_CPU = Scoring(device="cpu")


@pytest.fixture(scope="module")
def cluster(one_ray_cluster: None) -> Iterator[Any]:
    """A head that does no work and two nodes of two CPUs, all on this machine."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        # A node that was killed refuses to be asked, so it is known soon; one that is busy may take its time.
        patch.setenv("RAY_health_check_period_ms", "500")
        patch.setenv("RAY_health_check_timeout_ms", "20000")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for _ in range(2):
            made.add_node(num_cpus=2)
        made.wait_for_nodes(timeout=300)
        yield made
        ray.shutdown()
        made.shutdown()


def job_of(run: Path, folder: Path) -> Job:
    rows = sentences(1000)
    for place in range(5, 1000, 89):
        rows[place]["aspect"] = "nowhere"
    inputs = [write_rows(folder / f"in{part}.jsonl", rows[500 * part : 500 * part + 500]) for part in (0, 1)]
    return Job(run, tuple(map(str, inputs)), str(folder / "local.csv.gz"), errors="skip", scoring=ON_CPU)


@pytest.mark.slow
def test_a_cluster_that_loses_a_node_writes_the_same_bytes(cluster: Any, run: Path, tmp_path: Path) -> None:
    from ray._private.state import actors

    job = job_of(run, tmp_path)
    summary = predict(job, LocalEngine())
    lost: list[int] = []

    def lose_a_node(progress: Progress) -> None:
        """One that holds an actor; where the others are is for Ray to say, and they may not have begun."""
        if progress.rows and not lost:
            lost.append(progress.rows)
            busy = {actor["Address"]["NodeID"] for actor in actors().values() if actor["State"] == "ALIVE"}
            held = next(node for node in cluster.worker_nodes if node.node_id in busy)
            cluster.remove_node(held, allow_graceful=False)

    far = replace(job, output=str(tmp_path / "far.csv.gz"), scoring=Scoring())
    assert predict(far, RayEngine(cluster.address, actors=2), lose_a_node) == summary
    assert 0 < lost[0] < 100
    for name in ("local.csv.gz", "local.csv.gz.rejected.jsonl"):
        assert (tmp_path / name.replace("local", "far")).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.slow
def test_what_an_actor_cannot_load_is_an_error_of_the_job(cluster: Any, run: Path, tmp_path: Path) -> None:
    job = replace(job_of(run, tmp_path), scoring=Scoring(saliency="magic", device="cpu"))
    with pytest.raises(InputError, match=r"node .*: saliency 'magic' cannot explain"):
        predict(job, RayEngine(cluster.address, actors=1))
    assert not list(tmp_path.glob("local*"))


@pytest.mark.slow
def test_a_job_begun_on_one_machine_is_ended_by_a_cluster(cluster: Any, run: Path, tmp_path: Path) -> None:
    job = job_of(run, tmp_path)
    predict(job, LocalEngine())

    def interrupt(progress: Progress) -> None:
        if progress.rows > 600:
            raise KeyboardInterrupt

    far = replace(job, output=str(tmp_path / "far.csv.gz"))
    with pytest.raises(KeyboardInterrupt):
        predict(far, LocalEngine(), interrupt)
    predict(replace(far, begin="resume"), RayEngine(cluster.address, actors=1))
    assert (tmp_path / "far.csv.gz").read_bytes() == (tmp_path / "local.csv.gz").read_bytes()


def test_the_device_is_the_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    for n_gpus, device, found in ((0, "auto", "cpu"), (2, "auto", "cuda"), (2, "cpu", "cpu")):
        made = SimpleNamespace(cluster_resources=lambda n_gpus=n_gpus: {"GPU": n_gpus})
        monkeypatch.setattr(engines, "connect_ray", lambda address, made=made: made)
        assert RayEngine().resolve(Scoring(device=device)).chosen_device == found
    monkeypatch.setattr(engines, "connect_ray", lambda address: SimpleNamespace(cluster_resources=dict))
    with pytest.raises(InputError, match="device is cuda, and the cluster has no"):
        RayEngine().resolve(Scoring(device="cuda"))


@pytest.mark.slow
def test_names_may_be_relative(cluster: Any, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").symlink_to(run)
    write_rows(tmp_path / "in.jsonl", sentences(40))
    monkeypatch.chdir(tmp_path)  # which is not where the cluster was started
    predict(Job(Path("run"), ("in.jsonl",), "far.jsonl", scoring=ON_CPU), RayEngine(cluster.address, actors=1))
    predict(Job(Path("run"), ("in.jsonl",), "here.jsonl", scoring=ON_CPU), LocalEngine())
    assert Path("far.jsonl").read_bytes() == Path("here.jsonl").read_bytes()
