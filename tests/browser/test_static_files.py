"""Files of the pages, without a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pssa
from pssa.data.tokenize import tokenize
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


TEXTS = [
    "The built-in screen isn't $20.50, 1/2 or 3.5mm.",
    "हिन्दी अच्छी है, می\u200cخواهم ha\u0308lt 日本語",
    "so\U0001f44d\U0001f3fd\U0001f600\U0001f600 \u2764\ufe0fgreat #\ufe0f\u20e3 1\ufe0f\u20e3 \u24c2\ufe0e \U0001f3fd",
    "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7\U0001f1e9 \U0001f3f4\U000e0067\U000e0062\U000e007f!",
    "\U0001f469\U0001f3fb\u200d\u2708\ufe0f\U0001f468\u200d\U0001f469\u200d\U0001f467 \u200d\u200d. \ufe0f",
]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_page_cuts_words_as_the_server_does(tmp_path: Path) -> None:
    shutil.copy(Path(pssa.__file__).parent / "serve" / "static" / "text.js", tmp_path / "text.mjs")
    program = (
        'import { wordsOf } from "./text.mjs";'
        f"const spans = {json.dumps(TEXTS)}.map((text) => wordsOf(text).map(({{ from, to }}) => [from, to]));"
        "console.log(JSON.stringify(spans));"
    )
    (tmp_path / "ask.mjs").write_text(program)
    told = subprocess.run(["node", "ask.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(told.stdout) == [[list(span) for span in tokenize(text)] for text in TEXTS]
