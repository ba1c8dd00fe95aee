"""The recipe of the manual for a cluster has a command that can be given."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from pssa.cli import build_parser

MANUAL = (Path(__file__).parents[2] / "docs" / "how-to" / "score-many-rows.md").read_text()


def test_the_recipe_for_kubernetes_is_a_job_with_a_command_that_can_be_given() -> None:
    yaml: Any = pytest.importorskip("yaml")
    (block,) = re.findall(r"```yaml\n(.*?)```", MANUAL, re.DOTALL)
    job = yaml.safe_load(block)
    given = build_parser().parse_args(shlex.split(job["spec"]["entrypoint"])[1:])
    assert (given.engine, given.resume, given.output) == ("ray", True, "/data/labelled.jsonl")
    spec = job["spec"]["rayClusterSpec"]
    pods = [spec["headGroupSpec"]["template"], *(group["template"] for group in spec["workerGroupSpecs"])]
    for pod in pods:
        mounted = {mount["mountPath"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
        assert mounted == {"/data"}
    # A GPU that is added to the workers is not the head's as well.
    assert "&" not in block
    assert pods[0] is not pods[1]
