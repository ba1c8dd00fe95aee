"""Jobs on a cluster: the bytes of one machine, also where a node is lost in the midst of it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.bulk.made_rows import sentences, write_rows

from pssa.bulk import Job, LocalEngine, Progress, Scoring, predict
from pssa.bulk.form import Form
from pssa.bulk.job import Task
from pssa.bulk.ray import RayEngine, _anywhere
from pssa.bulk.scorer import Sizes, open_scorer
from pssa.bulk.source import Source, find_sources
from pssa.bulk.window import START, Reading, windows
from pssa.errors import InputError, MissingExtra

ON_CPU = Scoring(device="cpu")


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.bulk.run_job.sizes", lambda model, device: Sizes(16, 4))


@pytest.fixture(scope="module")
def cluster(one_ray_cluster: None) -> Iterator[Any]:
    """A head that does no work and three nodes of two CPUs, all on this machine."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        # A node that was killed refuses to be asked, so it is known soon; one that is busy may take its time.
        patch.setenv("RAY_health_check_period_ms", "500")
        patch.setenv("RAY_health_check_timeout_ms", "20000")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for _ in range(3):
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
def test_a_cluster_writes_the_bytes_of_one_machine_though_a_node_is_lost(
    cluster: Any, run: Path, tmp_path: Path
) -> None:
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
    assert predict(far, RayEngine(cluster.address, actors=3), lose_a_node) == summary
    assert 0 < lost[0] < 100
    for name in ("local.csv.gz", "local.csv.gz.rejected.jsonl"):
        assert (tmp_path / name.replace("local", "far")).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.slow
def test_what_an_actor_cannot_load_is_an_error_of_the_job(cluster: Any, run: Path, tmp_path: Path) -> None:
    job = replace(job_of(run, tmp_path), scoring=Scoring(saliency="magic", device="cpu"))
    with pytest.raises(InputError, match=r"node .*: saliency 'magic' cannot explain model memnet"):
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
    predict(replace(far, begin="resume"), RayEngine(cluster.address))
    assert (tmp_path / "far.csv.gz").read_bytes() == (tmp_path / "local.csv.gz").read_bytes()


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pssa\[ray\]"):
        RayEngine().resolve(Scoring())


@pytest.mark.parametrize(
    ("gpus", "asked", "found"),
    [
        (0, {}, "cpu"),
        (2, {}, "cuda"),
        (2, {"device": "cpu"}, "cpu"),
        (2, {"runtime": "onnx"}, "cpu"),
    ],
)
def test_the_device_is_what_the_cluster_has_and_the_runtime_can_use(
    monkeypatch: pytest.MonkeyPatch, gpus: int, asked: dict[str, Any], found: str
) -> None:
    made = SimpleNamespace(cluster_resources=lambda: {"GPU": gpus})
    monkeypatch.setattr(RayEngine, "_connected", lambda self: made)
    assert RayEngine().resolve(Scoring(**asked)).chosen_device == found


def test_a_gpu_that_the_cluster_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RayEngine, "_connected", lambda self: SimpleNamespace(cluster_resources=dict))
    with pytest.raises(InputError, match="device is cuda, and the cluster has no GPU"):
        RayEngine().resolve(Scoring(device="cuda"))


@pytest.mark.slow
def test_an_address_without_a_cluster_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match=r"no Ray cluster can be reached at 127\.0\.0\.1:\d+ \(.*refused"):
            RayEngine(f"127.0.0.1:{taken.getsockname()[1]}").resolve(Scoring())


def test_a_cluster_needs_at_least_one_actor() -> None:
    with pytest.raises(InputError, match="actors is 0; it must be at least 1"):
        RayEngine(actors=0)


def test_what_is_sent_can_be_read_in_another_directory(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    (tmp_path / "run").symlink_to(run)
    (tmp_path / "elsewhere").mkdir()
    write_rows(tmp_path / "in.jsonl", sentences(3))
    parquet.write_table(pyarrow.Table.from_pylist(sentences(3)), tmp_path / "in.parquet")
    monkeypatch.chdir(tmp_path)
    reading = Reading(find_sources(["in.jsonl", "in.parquet"], None), 8)
    sent = _anywhere(Task(Path("run"), ON_CPU, reading, Form("json_lines"), START, ()))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert [(window.source, len(window.rows)) for window in windows(sent.reading)] == [
        ("in.jsonl", 3),
        ("in.parquet", 3),
    ]
    assert not any(window.fault for window in windows(sent.reading))
    open_scorer(sent.run, sent.scoring)


def test_names_in_a_hub_stay_and_saved_datasets_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "saved").mkdir()
    monkeypatch.chdir(tmp_path)
    places = [
        Source(name, "hugging_face").anywhere().found_at for name in ("hf:owner/name:test", "hf:saved:test", "saved")
    ]
    assert places == ["", f"hf:{tmp_path}/saved:test", f"{tmp_path}/saved"]


@pytest.mark.slow
def test_names_may_be_relative(cluster: Any, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").symlink_to(run)
    write_rows(tmp_path / "in.jsonl", sentences(40))
    monkeypatch.chdir(tmp_path)  # which is not where the cluster was started
    predict(Job(Path("run"), ("in.jsonl",), "far.jsonl", scoring=ON_CPU), RayEngine(cluster.address, actors=1))
    predict(Job(Path("run"), ("in.jsonl",), "here.jsonl", scoring=ON_CPU), LocalEngine())
    assert Path("far.jsonl").read_bytes() == Path("here.jsonl").read_bytes()
