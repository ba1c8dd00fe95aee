"""`pssa train` on a hundred inputs that cannot be used, ten of each of ten kinds: one line, exit code 2, nothing written."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.command import Command

File = tuple[str, bytes]  # name and content
LABELS = ("positive", "negative", "neutral")
ROWS = [{"text": f"the menu number {n} is good", "aspect": "menu", "label": LABELS[n % 3]} for n in range(12)]
SENTENCE = (
    '<sentence id="{n}"><text>the menu number {n} is good</text><aspectTerms>'
    '<aspectTerm term="menu" polarity="positive" from="4" to="8"/></aspectTerms></sentence>\n'
)
XML = "<sentences>\n" + "".join(SENTENCE.format(n=n) for n in range(12)) + "</sentences>\n"


def csv_of(rows: list[dict[str, object]] | list[dict[str, str]], delimiter: str = ",") -> str:
    lines = [delimiter.join(map(str, row.values())) for row in rows]
    return "\n".join([delimiter.join(rows[0]), *lines]) + "\n"


def json_lines(rows: list[dict[str, object]] | list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def with_row(**fields: object) -> bytes:
    """JSON Lines whose eleventh row has these fields instead of its own."""
    rows: list[dict[str, object]] = [dict(row) for row in ROWS]
    rows[10] |= fields
    return json_lines(rows).encode()


def bad_xml() -> list[File]:
    bomb = '<!DOCTYPE s [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>' + XML.replace("good", "&b;", 1)
    broken = [
        XML[: len(XML) // 2],
        XML.removesuffix("</sentences>\n"),
        XML.replace("</text>", "</txt>", 1),
        XML.replace("good", "good & cheap", 1),
        XML.replace("good", "&good;", 1),
        XML.replace('polarity="positive"', "polarity=positive", 1),
        XML.replace("good", "good < bad", 1),
        XML + XML,
        "reviews:\n" + XML,
        bomb,
    ]
    return [(f"{n}.xml", text.encode()) for n, text in enumerate(broken)]


def empty_file() -> list[File]:
    names = ("csv", "tsv", "xml", "json", "jsonl", "ndjson", "raw", "seg", "txt")
    return [*((f"empty.{name}", b"") for name in names), ("blank.txt", b"\n \n")]


def missing_column() -> list[File]:
    without = {name: [{key: row[key] for key in row if key != name} for row in ROWS] for name in ROWS[0]}
    tables = [
        (f"{name}{number}.csv", csv_of(rows, delimiter).encode())
        for number, delimiter in enumerate((",", ";"))
        for name, rows in without.items()
    ]
    objects = [(f"{name}.jsonl", json_lines(rows).encode()) for name, rows in without.items()]
    return [*tables, *objects, ("polarity.xml", XML.replace(' polarity="positive"', "").encode())]


def unknown_label() -> list[File]:
    labels = ("happy", "1", "posi", "positive!", "positive negative", "NaN", "none", "😀", "+", "4 stars")
    return [(f"{n}.jsonl", with_row(label=label)) for n, label in enumerate(labels)]


def aspect_not_in_text() -> list[File]:
    aspects = (
        "soup",
        "menus",
        "me nu",
        "menu menu",
        "m\u0435nu",
        "the-menu",
        "menu number 99",
        "men u",
        "x" * 500,
        "☕",
    )
    return [(f"{n}.jsonl", with_row(aspect=aspect)) for n, aspect in enumerate(aspects)]


def offsets_out_of_range() -> list[File]:
    places = ((-1, 3), (4, 999), (4, 4), (8, 4), (5, 9), ("four", 8), (4.5, 8), (4, None), (10**30, 10**31), (True, 8))
    return [(f"{n}.jsonl", with_row(**{"from": start, "to": end})) for n, (start, end) in enumerate(places)]


def wrong_encoding() -> list[File]:
    table = csv_of(ROWS).replace("good", "“très bon”")
    objects = "".join(json.dumps(row | {"text": "le “menu”"}, ensure_ascii=False) + "\n" for row in ROWS)
    return [
        ("windows.csv", table.encode("cp1252")),
        ("windows.jsonl", objects.encode("cp1252")),
        ("one-byte.csv", csv_of(ROWS).encode().replace(b"good", b"g\xffod")),
        ("latin.xml", XML.replace("good", "très bon").encode("latin-1")),
        ("latin.raw", "le $T$ est très bon\nmenu\n1\n".encode("latin-1") * 12),
        ("tagged.txt", "très bon menu/p\n".encode("latin-1") * 12),
        ("utf16.csv", codecs.BOM_UTF16_LE + table.encode("utf-16-le")),
        ("utf16.jsonl", codecs.BOM_UTF16_BE + objects.encode("utf-16-be")),
        ("utf32.csv", table.encode("utf-32")),
        ("japanese.csv", csv_of(ROWS).replace("good", "よい").encode("shift-jis")),
    ]


def binary_file() -> list[File]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("reviews.csv", csv_of(ROWS))
    noise = bytes(range(256)) * 20
    return [
        ("image.csv", b"\x89PNG\r\n\x1a\n" + noise),
        ("program.xml", b"\x7fELF" + noise),
        ("archive.csv", packed.getvalue()),
        ("archive.txt", packed.getvalue()),
        ("packed.jsonl", gzip.compress(json_lines(ROWS).encode())),
        ("cut.csv.gz", gzip.compress(csv_of(ROWS).encode())[:-20]),
        ("plain.csv.gz", csv_of(ROWS).encode()),
        ("noise.raw", noise),
        ("noise.parquet", noise),
        ("cut.parquet", b"PAR1" + noise),
    ]


TRAIN_FILES: dict[str, Callable[[], list[File]]] = {
    "bad xml": bad_xml,
    "empty file": empty_file,
    "missing column": missing_column,
    "unknown label": unknown_label,
    "aspect not in text": aspect_not_in_text,
    "offsets out of range": offsets_out_of_range,
    "wrong encoding": wrong_encoding,
    "binary file": binary_file,
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", range(10))
@pytest.mark.parametrize("kind", TRAIN_FILES)
def test_a_file_that_cannot_be_used_gives_one_line_that_names_it(
    command: Command, tmp_path: Path, kind: str, variant: int
) -> None:
    files = TRAIN_FILES[kind]()
    assert len(files) == 10
    name, content = files[variant]
    (tmp_path / name).write_bytes(content)
    assert name in command("train", "--train", tmp_path / name, "--out", tmp_path / "run").refusal
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--train", "--dev", "--vectors", "--config", "--evidence"])
@pytest.mark.parametrize("name", ["reviews", "reviews.jsonl"])
def test_a_directory_in_place_of_a_file_gives_one_line_that_names_it(
    command: Command, tmp_path: Path, train_file: Path, option: str, name: str
) -> None:
    (tmp_path / name).mkdir()
    words = ("train", "--train", train_file, option, tmp_path / name, "--out", tmp_path / "run")
    assert str(tmp_path / name) in command(*words).refusal
    assert not (tmp_path / "run").exists()


VECTORS = [f"word{n} 0.1 -0.2 {n}".encode() for n in range(20)]


def vectors_with(place: int, row: bytes) -> bytes:
    return b"\n".join([*VECTORS[:place], row, *VECTORS[place + 1 :]]) + b"\n"


def packed_vectors() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("glove.txt", vectors_with(7, b"word7 1 2"))
    return target.getvalue()


VECTOR_FILES: list[tuple[str, bytes, int]] = [  # and the line that is wrong
    ("short.txt", vectors_with(1, b"word1 0.1 0.2"), 2),
    ("long.txt", vectors_with(1, b"word1 0.1 0.2 0.3 0.4"), 2),
    ("last.txt", vectors_with(19, b"word19 0.1"), 20),
    ("word-alone.txt", vectors_with(10, b"word10"), 11),
    ("no-word.txt", vectors_with(10, b"1 2 3"), 11),
    ("word2vec.txt", b"20 3\n" + vectors_with(4, b"word4 1 2 3 4"), 6),
    ("packed.txt.gz", gzip.compress(vectors_with(5, b"word5 1 2")), 6),
    ("packed.zip", packed_vectors(), 8),
    ("two-rows.txt", vectors_with(3, b"word3 1 2 3 word4 4 5"), 4),
    ("tabs.txt", vectors_with(12, b"word12\t1\t2\t3"), 13),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "content", "line"), VECTOR_FILES, ids=[name for name, *_ in VECTOR_FILES])
def test_a_vector_of_another_dimension_gives_one_line_that_names_its_line(
    command: Command, tmp_path: Path, train_file: Path, name: str, content: bytes, line: int
) -> None:
    (tmp_path / name).write_bytes(content)
    words = ("train", "--train", train_file, "--vectors", tmp_path / name, "--out", tmp_path / "run")
    refusal = command(*words).refusal
    assert name in refusal
    assert f"line {line}: has" in refusal
    assert not (tmp_path / "run").exists()
