"""`pssa train` on files that cannot be used: one line that names the file, exit code 2, nothing written."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path

import pytest
from tests.cli.command import Command

ROW = {"text": "the menu is good", "aspect": "menu", "label": "positive"}
CSV = "text,aspect,label\n" + "the menu is “good”,menu,positive\n" * 12
XML = (
    '<sentences><sentence id="1"><text>the menu is good</text><aspectTerms><aspectTerm term="menu" polarity="positive"'
)
XML += ' from="4" to="8"/></aspectTerms></sentence></sentences>\n'


def with_row(**fields: object) -> bytes:
    """JSON Lines whose eleventh row has these fields instead of its own."""
    return (f"{json.dumps(ROW)}\n" * 10 + json.dumps(ROW | fields) + "\n").encode()


FILES: dict[str, bytes] = {
    "half.xml": XML[: len(XML) // 2].encode(),
    "twice.xml": (XML + XML).encode(),
    "tag.xml": XML.replace("</text>", "</txt>").encode(),
    "entity.xml": XML.replace("good", "&good;").encode(),
    "bomb.xml": b'<!DOCTYPE s [<!ENTITY a "ha">]>' + XML.replace("good", "&a;").encode(),
    "no-label.xml": XML.replace(' polarity="positive"', "").encode(),
    **{f"empty.{ending}": b"" for ending in ("csv", "tsv", "xml", "json", "jsonl", "ndjson", "raw", "seg", "txt")},
    "blank.txt": b"\n \n",
    "column.csv": CSV.replace("aspect", "term").encode(),
    "column.jsonl": json.dumps({"text": "the menu is good", "label": "positive"}).encode(),
    "label.jsonl": with_row(label="positive negative"),
    "aspect.jsonl": with_row(aspect="m\u0435nu"),
    **{
        f"offsets-{n}.jsonl": with_row(**{"from": given, "to": 8}) for n, given in enumerate((-1, 9, "four", 4.5, True))
    },
    "windows.csv": CSV.encode("cp1252"),
    "utf16.csv": codecs.BOM_UTF16_LE + CSV.encode("utf-16-le"),
    "utf32.csv": CSV.encode("utf-32"),
    "latin.raw": "le $T$ est très bon\nmenu\n1\n".encode("latin-1") * 12,
    "image.csv": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "packed.jsonl": gzip.compress(with_row()),
    "cut.csv.gz": gzip.compress(CSV.encode())[:-20],
    "plain.csv.gz": CSV.encode(),
    "cut.parquet": b"PAR1" + bytes(range(256)) * 20,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used_gives_one_line_that_names_it(command: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    assert name in command("train", "--train", tmp_path / name, "--out", tmp_path / "run").refusal
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--train", "--dev", "--vectors", "--config", "--evidence"])
def test_a_directory_in_place_of_a_file_is_named(
    command: Command, tmp_path: Path, train_file: Path, option: str
) -> None:
    (tmp_path / "reviews").mkdir()
    words = ("train", "--train", train_file, option, tmp_path / "reviews", "--out", tmp_path / "run")
    assert str(tmp_path / "reviews") in command(*words).refusal
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("row", [b"word 0.1 0.2", b"word", b"word 1 2 3 word 4 5", b"word\t1\t2\t3"])
def test_a_vector_of_another_dimension_is_named_by_line(
    command: Command, tmp_path: Path, train_file: Path, row: bytes
) -> None:
    (tmp_path / "vectors.txt.gz").write_bytes(gzip.compress(b"some 1 2 3\n" * 7 + row + b"\nlast 1 2 3\n"))
    words = ("train", "--train", train_file, "--vectors", tmp_path / "vectors.txt.gz", "--out", tmp_path / "run")
    refusal = command(*words).refusal
    assert "vectors.txt.gz, line 8: has" in refusal
    assert not (tmp_path / "run").exists()
