"""schemathesis against the live service, with all of its checks; what is left out stands in schemathesis.toml with its reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.serve.conftest import Folders
from tests.serve.review_toys import write_files

HERE = Path(__file__).parent
EXAMPLES = "40"


@contextmanager
def process(*words: str | Path) -> Iterator[str]:
    """The service as a process of its own; its address."""
    command = [sys.executable, "-m", "pssa", "serve", *map(str, words), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            yield json.loads(child.stdout.readline())["url"]
        finally:
            child.terminate()


def attack(url: str, folder: Path, *options: str) -> None:
    """Run it from an empty folder, since it leaves files."""
    program = Path(sys.executable).with_name("schemathesis")
    command = [str(program), "--config-file", str(HERE / "schemathesis.toml"), "run", f"{url}/openapi.json"]
    bounds = ["--max-examples", EXAMPLES, "--workers", "1", "--seed", "1", "--continue-on-failure", *options]
    # As long as a machine that is slow and busy may need.
    bounds += ["--request-timeout", "120", "--suppress-health-check", "too_slow"]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": str(HERE / "csv_serializer.py")}
    done = subprocess.run(
        [*command, *bounds], cwd=folder, env=environment, capture_output=True, text=True, timeout=3000
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_two_runs_with_a_token_pass(folders: Folders, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-long-secret")
    with process(folders.first, "--versus", folders.versus, "--token-file", token) as url:
        attack(url, tmp_path, "--header", "Authorization: Bearer a-long-secret")


@pytest.mark.slow
def test_a_run_with_evidence_passes(folders: Folders, tmp_path: Path) -> None:
    evidence = write_files(tmp_path)
    files = ("--corpus", tmp_path / "train.jsonl", "--second", tmp_path / "second.jsonl")
    with process(folders.first, "--evidence", evidence, *files, "--no-token") as url:
        attack(url, tmp_path)
