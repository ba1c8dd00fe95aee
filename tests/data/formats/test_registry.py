"""Which format a file has."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pssa.data.formats import FORMATS, format_named
from pssa.data.io import format_of, read
from pssa.errors import InputError


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("\n<sentences/>", "semeval_xml"),
        ('{"text": "a"}', "json_lines"),
        ("a $T$\nmenu\n1\n", "three_line"),
        ("id;text;aspect\n", "csv"),
        ("sep=\t\nid\ttext\taspect\n", "csv"),
        ("no tag here\na menu/p\n", "tagged"),
    ],
)
def test_a_file_without_a_telling_name_is_known_by_its_content(tmp_path: Path, content: str, format: str) -> None:
    path = tmp_path / "data.txt"
    path.write_text(content)
    assert format_of(path, None) == format


def test_the_extension_decides_where_it_can_and_gz_is_transparent(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"text,aspect,label\na menu,menu,positive\n"))
    assert format_of(path, None) == "csv"
    assert len(read(path)) == 1


@pytest.mark.parametrize(
    ("given", "full"), [("xml", "semeval_xml"), ("HF", "hugging_face"), ("three-line", "three_line")]
)
def test_short_names_are_understood(given: str, full: str) -> None:
    assert format_named(given) == full


def test_unknown_names_and_unknown_content_list_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"known: {', '.join(FORMATS.names())}"):
        format_named("word")
    path = tmp_path / "data.txt"
    path.write_text("just prose\n")
    with pytest.raises(InputError, match="no known format"):
        format_of(path, None)
