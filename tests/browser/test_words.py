"""The page cuts a text into the words that the server sees, where there is a Node.js to ask."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import pssa
from pssa.data.tokenize import tokenize

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
