"""A trained toy tagger, for tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.aspects.made_taggers import toy_tagger

from pssa.aspects import AspectFinder, load_finder


@pytest.fixture(scope="session")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a finished tagger."""
    return toy_tagger(tmp_path_factory.mktemp("taggers") / "toy")


@pytest.fixture(scope="session")
def finder(tagger: Path) -> AspectFinder:
    """The same tagger, loaded."""
    return load_finder(tagger)
