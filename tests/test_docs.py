"""Numbers in prose are those of the tables in results/, and pages stay within their size."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that fills generated parts."""
    spec = importlib.util.spec_from_file_location("update_docs", ROOT / "scripts" / "update_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["README.md", "results/ideas.md"])
def test_numbers_in_prose_are_those_of_the_tables(script: ModuleType, name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert "<!--=" in text or "<!-- begin" in text
    assert script.filled(text) == text, "run: python scripts/update_docs.py"


def test_a_stale_number_is_replaced(script: ModuleType) -> None:
    stale = "gains <!--=overall/overall-gains|MN;LAPTOP|again|macro-F1|+.2f-->+9.99<!--/--> points"
    assert "-->-0.50<!--/-->" in script.filled(stale)


def test_a_number_that_no_table_has_is_an_error(script: ModuleType) -> None:
    with pytest.raises(SystemExit, match="overall-gains"):
        script.filled("<!--=overall/overall-gains|MN;MOON|again|macro-F1|+.2f-->1<!--/-->")


def test_the_readme_is_short_and_its_pictures_are_small() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    assert [picture.name for picture in pictures if picture.stat().st_size > 200_000] == []
