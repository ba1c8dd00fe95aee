"""Text files made to harm, each as small as shows it: refused in one short line, in little time and memory."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pssa.data import text_file
from pssa.data.check import check
from pssa.data.evidence_file import read_evidence
from pssa.data.formats import scan, three_line
from pssa.data.io import format_of, read
from pssa.data.opinion_words import read_opinion_words
from pssa.data.rows import Problem, Row
from pssa.data.text_file import InputFile
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError

OPEN = "<sentences><sentence id='1'>"
LINE = b"a" * ((1 << 22) + 1)
DEEP = b"[" * 100_000
ENTITIES = '<!DOCTYPE s [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><s>&b;</s>'
COLUMNS = b"s_id\tsentence\ttarget_tags\topinion_words_tags\n"


def row(**fields: Any) -> bytes:
    return json.dumps({"label": "positive", **fields}).encode()


FILES: dict[str, tuple[str, bytes, str]] = {
    "a line without an end": ("x.jsonl", b'{"text": "' + LINE, "line 1: is longer than 4194304 characters"),
    "a line without an end in CSV": ("x.csv", b"text,aspect\n" + LINE, "line 2: is longer than 4194304 characters"),
    "a line without an end, tagged": ("x.txt", b"menu/p " + LINE, "line 1: is longer than"),
    "a packed line without an end": ("x.jsonl.gz", gzip.compress(LINE * 4), "unpacks to more than 100 times its size"),
    "a text that is no sentence": ("x.jsonl", row(text="a " * 50_001, aspect="a"), "`text` has 100002 characters"),
    "a tagged line that is none": ("x.txt", b"menu/p " + b"a " * 50_000, "has 100004 characters"),
    "an aspect too long to look for": (
        "x.jsonl",
        row(text="a " * 40_000, aspect="a " * 2000 + "b"),
        "too long to search",
    ),
    "many places for a long aspect": ("x.raw", b"$T$ " * 1000 + b"\n" + b"a" * 1000 + b"\n1\n", "1: has 1000999 chara"),
    "deep JSON": ("x.jsonl", b'{"text": ' + DEEP, r"line 1: is not valid JSON \(maximum recursion depth"),
    "a number with many digits": ("x.jsonl", b'{"text": ' + b"9" * 5000 + b"}", "is not valid JSON"),
    "entities": ("x.xml", ENTITIES.encode(), "line 1: is refused"),
    "a file of somebody else": (
        "x.xml",
        b'<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/hostname">]><s>&x;</s>',
        "line 1: is refused",
    ),
    "deep XML": ("x.xml", b"<a>" * 101, "more than 100 nested elements"),
    "a tag without an end": ("x.xml", b"<s x='" + LINE + b"aa" * (1 << 16), "has a tag or a comment of more than"),
    "an XML text without an end": ("x.xml", f"{OPEN}<text>{'a' * 100_001}".encode(), "of more than 100000 characters"),
    "many aspects of a sentence": ("x.xml", (OPEN + "<Opinion/>" * 1001).encode(), "with more than 1000 aspects"),
    "a quote without an end": ("x.csv", b'text,aspect\n"' + b"a\n" * 100_000, r"line 2: opens a quote .*by line \d+"),
    "blank lines without an end": ("x.jsonl.gz", gzip.compress(b"\n" * 1_000_001), "comes after 1000000 blank lines"),
    "a column that a terminal would obey": ("x.csv", b"text,\x1b[31m,\xc2\x9b\n", r"text, '\\x1b\[31m', '\\x9b'; if"),
    "a header without an end": ("x.csv", LINE, "line 1: is longer than 4194304 characters"),
    "a binary header": ("x.csv", "text,aspect\na menu,menu\n".encode("utf-16-le"), "is a binary file"),
    "many columns": (
        "x.csv",
        b"text" + b"".join(b",a%d" % number for number in range(1000)) + b"\n",
        r"found text, (a\d+, ){19}and 981 more; if",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_file_is_refused_in_one_short_line(tmp_path: Path, kind: str) -> None:
    name, content, message = FILES[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / name)
    said = str(caught.value).removeprefix(str(tmp_path))
    assert len(said) < 400
    assert said.isprintable()


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "a menu", "aspect": "x" * 3000},
        {"text": "a menu", "aspect": "menu", "from": "9" * 3000, "to": 4},
        {"text": {"a": ["b" * 3000]}, "aspect": "menu"},
        {"text": "a menu", "aspect": "menu", "label": "\x1b]0;title\x07" * 200},
        {"text": "a menu", "aspect": "menu", "tags": ["t" * 3000, 1]},
        {"text": "a menu, a menu", "aspect": "menu", "ordinal": 10**40},
    ],
)
def test_values_of_any_size_make_short_messages(tmp_path: Path, fields: dict[str, Any]) -> None:
    (tmp_path / "x.jsonl").write_bytes(row(**fields))
    with pytest.raises(InputError) as caught:
        read(tmp_path / "x.jsonl")
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


def test_a_placeholder_that_grows_to_just_a_sentence_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.raw").write_bytes(b"the $T$ and the $T$\n" + b"m" * 49_993 + b"\n1\n")
    [found] = three_line.scan(InputFile(tmp_path / "x.raw"))
    assert len(found.fields["text"]) == 99_999  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (read_evidence, b'{"schema": "' + LINE),
        (read_evidence, DEEP),
        (Vocabulary.load, b"[" + b"0," * (1 << 23)),
        (read_opinion_words, COLUMNS + LINE),
    ],
)
def test_other_endless_files_are_refused_shortly(
    tmp_path: Path, reader: Callable[[Path], object], content: bytes
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError) as caught:
        reader(tmp_path / "x")
    assert len(str(caught.value)) < 400


def test_a_key_that_comes_twice_among_many_is_found_at_once(tmp_path: Path) -> None:
    keys = ",".join(f'"k{number}":1' for number in range(100_000))
    (tmp_path / "e.jsonl").write_text(f'{{{keys},"k99999":1}}\n')
    with pytest.raises(InputError, match="has the key 'k99999' twice in one object"):
        read_evidence(tmp_path / "e.jsonl")


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("x.jsonl", b"", b'{"text": "a menu", "aspect": "menu"}\n'),
        ("x.csv", b"text,aspect\n", b"a menu,menu\n"),
        ("x.txt", b"", b"a menu/p\n"),
    ],
)
def test_rows_after_a_line_that_is_too_long_or_holds_a_nul_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: bytes, row: bytes
) -> None:
    monkeypatch.setattr(text_file.read_text_leniently, "__defaults__", (200,))
    monkeypatch.setattr(text_file, "_BUFFER", 16)
    content = [row.replace(b"menu", b"m\0nu"), row, row.replace(b"menu", b"menu " * 99), row]
    (tmp_path / name).write_bytes(head + b"".join(content))
    first, second, third, last = scan(
        tmp_path / name, "tagged" if name == "x.txt" else format_of(tmp_path / name, None)
    )
    assert isinstance(first, Problem)
    assert "contains a NUL at character" in first.what
    assert isinstance(third, Problem)
    assert "is longer than 4194304 characters" in third.what
    lines = 1 + bool(head)
    assert [event.line for event in (first, second, third, last)] == [*range(lines, lines + 4)]
    assert isinstance(second, Row)
    assert isinstance(last, Row)


def test_a_list_of_problems_comes_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["pssa.data.check"], "_MAX_PROBLEMS", 3)  # the room has a function of that name
    (tmp_path / "x.jsonl").write_bytes(b"no\n" * 10)
    problems = check(tmp_path / "x.jsonl").problems
    assert [problem.line for problem in problems] == [1, 2, 3, 3]
    assert problems[-1].what == "too many problems; the rest was not checked"
