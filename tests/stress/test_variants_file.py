"""The file of variants: a round trip, corrections by people, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.stress import make_variants, read_variants, write_variants

TEXT = "The food was good."
CORPUS = Corpus(
    (Example.from_text(TEXT, (4, 8), label="positive"), Example.from_text("Ok food", (3, 7), label="neutral"))
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "variants.jsonl"
    write_variants(make_variants(CORPUS), path)
    return path


def change(path: Path, line: int, **values: Any) -> None:
    lines = path.read_text().splitlines()
    fields = json.loads(lines[line - 1]) | values
    lines[line - 1] = json.dumps({name: value for name, value in fields.items() if value is not None})
    path.write_text("\n".join(lines) + "\n")


def test_what_is_written_is_read_again(path: Path) -> None:
    assert read_variants(path, CORPUS) == make_variants(CORPUS)


def test_people_change_texts_and_labels_and_remove_lines(path: Path) -> None:
    change(path, 2, text="Honestly, the food was awful.", label="neg")
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n")
    (found,) = read_variants(path, CORPUS).variants
    assert (found.example.aspect_text, found.example.aspect_chars, found.example.label) == (
        "food",
        (14, 18),
        "negative",
    )


@pytest.mark.parametrize(
    ("line", "values", "message"),
    [
        (1, {"corpus_hash": "0" * 64}, "other data"),
        (1, {"schema": 2}, "schema 2; this version reads schema 1 only; name a new file"),
        (1, {"schema": None}, "no `schema`"),
        (2, {"instance": 3}, "expected 1 to 2"),
        (2, {"instance": 2}, None),
        (2, {"kind": "reverse"}, "reverse_target"),
        (2, {"label": "great"}, "great"),
        (2, {"aspect": "waiter"}, "is about 'food'"),
        (2, {"text": "No aspect here."}, "not in the text"),
        (2, {"text": "food, food"}, "occurs 2 times"),
        (2, {"text": ""}, "not in the text"),
        (2, {"note": "x"}, "unknown key"),
        (2, {"from": None}, "no `from`"),
        (3, {"kind": "reverse_target"}, "second reverse_target of instance 1"),
    ],
)
def test_an_error_names_line_and_fault(path: Path, line: int, values: dict[str, Any], message: str | None) -> None:
    change(path, line, **values)
    if message is None:
        assert read_variants(path, CORPUS).variants[0].index == 1
        return
    with pytest.raises(InputError, match=f"line {line}: .*{message}"):
        read_variants(path, CORPUS)


def test_a_line_that_is_not_json_is_refused(path: Path) -> None:
    path.write_text(path.read_text() + "{oops\n")
    n_lines = len(path.read_text().splitlines())
    with pytest.raises(InputError, match=f"line {n_lines}: is not valid JSON"):
        read_variants(path, CORPUS)
