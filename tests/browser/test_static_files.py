"""The pages' files, read as text: nothing inline, nothing from elsewhere, and the same heat as in reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pssa
from pssa.report.heat_map import FULL, LEVELS, NAMED
from pssa.report.html import HEAT_STYLE
from pssa.serve.app import page_folders

_FOLDER = Path(pssa.__file__).parent / "serve" / "static"
_FOLDERS = page_folders()
_FILES = sorted(_FOLDER.iterdir())
_PAGES = [path for path in _FILES if path.suffix == ".html"]
_SCRIPTS = [path for path in _FILES if path.suffix == ".js"]


def _read(path: Path) -> str:
    return path.read_text("utf-8")


def test_the_pages_are_there() -> None:
    assert {"index.html", "evidence.html", "app.js", "evidence.js", "style.css", "favicon.svg"} <= {
        path.name for path in _FILES
    }


@pytest.mark.parametrize("path", _PAGES, ids=lambda path: path.name)
def test_a_page_has_no_script_or_style_of_its_own(path: Path) -> None:
    text = _read(path)
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:", text) == []


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_nothing_comes_from_elsewhere(path: Path) -> None:
    found = [address for address in re.findall(r"(?:https?:)?//[\w.]+", _read(path)) if "www.w3.org" not in address]
    assert found == []


@pytest.mark.parametrize("path", _PAGES, ids=lambda path: path.name)
def test_a_page_names_only_files_that_are_there(path: Path) -> None:
    named = re.findall(r'"/static/([^"]+)"', _read(path))
    assert named
    assert [name for name in named if not any((folder / name).is_file() for folder in _FOLDERS)] == []


@pytest.mark.parametrize("path", _SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_makes_no_markup_of_text_and_imports_what_is_there(path: Path) -> None:
    text = _read(path)
    assert text.startswith("/* ")
    assert len(text.splitlines()) <= 500
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", text) == []
    assert [name for name in re.findall(r'from "\./([^"]+)"', text) if not (_FOLDER / name).is_file()] == []


@pytest.mark.parametrize("path", [path for path in _PAGES if path.name != "docs.html"], ids=lambda path: path.name)
def test_every_field_has_a_label_and_messages_are_polite(path: Path) -> None:
    text = _read(path)
    fields = re.findall(r'<(?:input|select|textarea) id="([^"]+)"', text)
    assert fields
    assert [name for name in fields if f'<label for="{name}"' not in text] == []
    assert 'role="status" aria-live="polite"' in text


def test_heat_looks_as_in_reports() -> None:
    levels = [line for line in HEAT_STYLE.splitlines() if re.match(r"\.h\d", line)]
    assert len(levels) == LEVELS
    style = _read(_FOLDER / "style.css").splitlines()
    assert [line for line in levels if line not in style] == []
    script = _read(_FOLDER / "heat.js")
    for name, value in (("LEVELS", LEVELS), ("FULL", FULL), ("NAMED", NAMED)):
        assert f"const {name} = {value};" in script
