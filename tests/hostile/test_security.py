"""What the package never does, held by reading its source, and by a process that has no network."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pssa

SOURCE = Path(pssa.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def nodes() -> tuple[tuple[str, ast.AST], ...]:
    """File and node, of everything in the package."""
    trees = [(str(path.relative_to(SOURCE)), ast.parse(path.read_text("utf-8"))) for path in FILES]
    return tuple((file, node) for file, tree in trees for node in ast.walk(tree))


@cache
def calls() -> tuple[tuple[str, str, ast.Call], ...]:
    """File, name and call, of every call in the package."""
    return tuple((file, ast.unparse(node.func), node) for file, node in nodes() if isinstance(node, ast.Call))


def test_no_shell_is_started() -> None:
    shells = [
        (file, name)
        for file, name, call in calls()
        for keyword in call.keywords
        if keyword.arg == "shell" and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
    ]
    assert shells == []


def test_code_of_model_folders_is_never_asked_for() -> None:
    given = [keyword for _, _, call in calls() for keyword in call.keywords if keyword.arg == "trust_remote_code"]
    assert given
    assert all(isinstance(keyword.value, ast.Constant) and keyword.value.value is False for keyword in given)


def test_everything_that_transformers_loads_is_local_and_without_code() -> None:
    loads = {
        f"{file}, line {call.lineno}": (found.group(1), {word.arg: ast.unparse(word.value) for word in call.keywords})
        for file, name, call in calls()
        if (found := re.fullmatch(r"(?:transformers\.)?Auto\w+\.(from_\w+)", name))
    }
    assert len(loads) > 2
    assert [place for place, (_, values) in loads.items() if values.get("trust_remote_code") != "False"] == []
    opened = {place: values for place, (kind, values) in loads.items() if kind == "from_pretrained"}
    assert [place for place, values in opened.items() if values.get("local_files_only") != "True"] == []


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    found = [line.partition("==") for line in lines if line.strip() and not line.startswith("#")]
    return {canonicalize_name(name): version for name, _, version in found}


def requirements(group: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = project["dependencies"] if group == "runtime" else project["optional-dependencies"][group]
    return [found for found in map(Requirement, listed) if found.name != "pssa"]


@pytest.mark.parametrize("group", ["runtime", "train", "data", "serve", "onnx", "report", "ray", "dev"])
def test_every_dependency_is_pinned_to_a_version_that_fits(group: str) -> None:
    pinned = pins()
    for needed in requirements(group):
        version = pinned.get(canonicalize_name(needed.name))
        assert version, f"{needed.name} is not in constraints.txt"
        assert needed.specifier.contains(version), (
            f"{needed.name} is pinned to {version}, which is not {needed.specifier}"
        )


def needed_by(name: str, extras: set[str], seen: dict[str, str]) -> None:
    """Note the version of what is installed under the name, and of all that it needs here."""
    try:
        installed = distribution(name)
    except PackageNotFoundError:  # an extra that this machine is without
        return
    first = canonicalize_name(name) not in seen
    seen[canonicalize_name(name)] = installed.version
    for needed in map(Requirement, installed.requires or [] if first or extras else []):
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needed_by(needed.name, set(needed.extras), seen)


@pytest.mark.slow
def test_what_is_installed_is_what_is_pinned() -> None:
    seen: dict[str, str] = {}
    for group in ("runtime", "train", "data", "serve", "sklearn", "onnx", "report", "ray", "dev"):
        for needed in requirements(group):
            needed_by(needed.name, set(needed.extras), seen)
    pinned = pins()
    assert len(seen) > 40
    assert {name for name in seen if name not in pinned} == set()
    others = {
        name: (version, pinned[name]) for name, version in seen.items() if version.partition("+")[0] != pinned[name]
    }
    assert others == {}


def test_no_extra_is_left_out_of_the_test_above() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = {"train", "data", "serve", "sklearn", "onnx", "report", "ray", "dev", "all"}
    assert set(project["optional-dependencies"]) == known


ALONE = """
import socket, sys, warnings
warnings.simplefilter("ignore")
asked = []
def refuse(*arguments, **more):
    asked.append(arguments)
    raise OSError("there is no network")
socket.getaddrinfo = socket.create_connection = refuse
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse

import importlib, pkgutil
from pathlib import Path
import pssa
for module in pkgutil.walk_packages(pssa.__path__, "pssa."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

from pssa.data import embedded
from tests.models.encoders import write_encoder
folder = Path(sys.argv[1])
corpus = embedded.load("train").select(range(40))
tiny = {"epochs": 1, "device": "cpu"}
pssa.train(corpus, folder / "run", model="memnet", dimension=4, method="pg-as", iterations=1, **tiny)
write_encoder(folder / "encoder")
pssa.train(corpus, folder / "encoded", model="bertabsa_att", encoder=str(folder / "encoder"), **tiny)
for name in ("run", "encoded"):
    print(pssa.load(folder / name).predict("The screen is bright.", "screen").label)
print("asked for", asked)
"""


@pytest.mark.slow
def test_importing_training_and_predicting_ask_for_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ALONE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "asked for []"
