"""`pssa.__all__` is the public surface; importing it is light."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pssa

SURFACE = [
    "Answer",
    "AspectClassifier",
    "Classifier",
    "Config",
    "Corpus",
    "Evaluation",
    "Evidence",
    "Example",
    "Explanation",
    "InputError",
    "PssaError",
    "check",
    "load",
    "mine",
    "read",
    "resume",
    "train",
]


def loaded_after(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_the_public_names_are_these_sorted_and_listed() -> None:
    assert pssa.__all__ == SURFACE
    assert pssa.__all__ == sorted(pssa.__all__)
    assert set(SURFACE) <= set(dir(pssa))


@pytest.mark.parametrize("name", SURFACE)
def test_every_public_name_resolves_to_a_documented_thing_of_that_name(name: str) -> None:
    thing = getattr(pssa, name)
    assert thing.__name__ == name
    assert thing.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pssa' has no attribute 'trian'"):
        getattr(pssa, "trian")  # noqa: B009


def test_imports_reading_and_help_load_no_torch() -> None:
    assert not loaded_after("import pssa") & {"torch", "numpy", "safetensors", "rich"}
    assert "torch" not in loaded_after("import pssa; pssa.read; pssa.check; pssa.Corpus")
    assert "torch" not in loaded_after("import pssa.cli")


@pytest.mark.parametrize(("given", "expected"), [({}, "passive"), ({"OMP_WAIT_POLICY": "active"}, "active")])
def test_threads_that_wait_sleep_unless_the_user_wants_otherwise(given: dict[str, str], expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"} | given
    code = "import pssa, os; print(os.environ['OMP_WAIT_POLICY'])"
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == f"{expected}\n"


def test_the_package_is_typed_and_its_citation_has_its_version() -> None:
    assert (Path(pssa.__file__).parent / "py.typed").is_file()
    assert pssa.__version__
    citation = Path(__file__).parents[1] / "CITATION.cff"
    assert f"\nversion: {pssa.__version__}\n" in citation.read_text("utf-8")


@pytest.mark.skipif("PSSA_EXPECT_INSTALLED" not in os.environ, reason="only where an installed wheel is tested")
def test_the_installed_package_is_the_one_under_test() -> None:
    assert Path(pssa.__file__).is_relative_to(os.environ["PSSA_EXPECT_INSTALLED"])
