"""`pssa export`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Command
from tests.runs.hub_stub import Hub, open_hub


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with open_hub(tmp_path / "cache", monkeypatch) as hub:
        yield hub


def test_a_run_is_pushed_and_its_address_said(command: Command, run: Path, hub: Hub) -> None:
    result = command("export", run, "--hub", "owner/model")
    assert (result.code, result.out, result.err) == (0, f"{hub.endpoint}/owner/model: {run}\n", "")
    assert not hub.repositories["owner/model"].private


@pytest.mark.slow
def test_a_run_is_exported_in_both_ways_at_once(command: Command, run: Path, hub: Hub, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    found = command("export", run, "--onnx", path, "--hub", "owner/model", "--private", "--json").json
    assert found == {"run": str(run), "onnx": str(path), "compact": None, "hub": f"{hub.endpoint}/owner/model"}
    assert path.is_file()
    assert hub.repositories["owner/model"].private
    before = path.read_bytes()
    assert (
        "exists already; choose another --onnx, or replace it with --force"
        in command("export", run, "--onnx", path).refusal
    )
    result = command("export", run, "--onnx", path, "--force")
    assert (result.code, result.out, result.err) == (0, f"{path}: the model of {run} as ONNX\n", "")
    assert path.read_bytes() == before


def test_a_compact_copy_is_written_once(command: Command, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "compact"
    assert command("export", run, "--compact", out, "--json").json["compact"] == str(out)
    assert not (out / "stages").exists()
    assert "exists already" in command("export", run, "--compact", out).refusal
