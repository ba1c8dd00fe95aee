"""What every format promises, whichever it is; a new file in `data/formats/` is covered unasked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pssa.data import read, write
from pssa.data.example import Example
from pssa.data.formats import FORMATS, find_format
from pssa.errors import InputError

EASY = Example.from_text("the menu is great", (4, 8), label="positive", id="1")
EXAMPLES = (
    EASY,
    Example.from_text("nothing but tablets and tables", (24, 30), label="negative", id="2"),  # part of another word
    Example.from_text("menu , menu and\tmenu", (7, 11), label="neutral", id="3"),  # the second of three, and a tab
    Example.from_text('a "menu" / <b>, §4', (3, 7), label="neutral", id="4"),
    Example.from_text("eine Spei\u0308se 🍕\u2028 more", (13, 14), label="positive", id="5"),
)
WRITTEN = [name for name in FORMATS.names() if find_format(name).encode]


def essence(example: Example) -> tuple[object, ...]:
    return example.words, example.aspect, example.label


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_what_is_written_is_read_again_or_refused(format: str, example: Example, tmp_path: Path) -> None:
    path = tmp_path / "a.file"
    try:
        write([example], path, format=format)
    except InputError:
        assert example is not EASY, "a format must be able to write this one"
        assert not path.exists()
        return
    (back,) = read(path, format=format)
    assert essence(back) == essence(example)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "hf:a"])
def test_formats_of_rows_keep_everything_about_an_example(tmp_path: Path, name: str) -> None:
    text = "the don't-menu\u2028is\u00a0ok"
    spans = ((0, 3), (4, 9), (10, 14), (15, 20))
    example = Example.from_spans(text, spans, (10, 14), label="neutral", id="x", sentence_id="s")
    given = replace(example, tags=("hard", "negated"))
    path = f"hf:{tmp_path / 'a'}" if name == "hf:a" else tmp_path / name
    write([given], path)
    assert tuple(read(path)) == (given,)


@pytest.mark.parametrize("format", [name for name in FORMATS.names() if name != "hugging_face"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"<a>", b'{"text":', b"\x00" * 9, b'"', b"PAR1", b"$T$\n"])
def test_a_file_of_something_else_is_an_input_error_that_names_it(format: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.file"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.file"):
        read(path, format=format)
