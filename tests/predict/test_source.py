"""Where rows come from."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pssa.data.rows import Problem, Row
from pssa.errors import InputError
from pssa.predict.output_format import OutputFormat
from pssa.predict.source import CsvStyle, Source, find_csv_style, find_sources

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LINES = [f'{{"text": "a screen {number}", "aspect": "screen"}}\n' for number in range(200)]
CONTENT = "".join(LINES).encode()
TEXTS = [f"a screen {number}" for number in range(200)]


def texts_of(source: Source, watched: list[int] | None = None) -> list[Any]:
    told = [] if watched is None else watched
    return [event.fields["text"] for event in source.events(told.append) if isinstance(event, Row)]


def packed(path: Path) -> Path:
    match path.suffix.lower():
        case ".gz":
            path.write_bytes(gzip.compress(CONTENT))
        case ".zst":
            half = len("".join(LINES[:100]))
            frames = (pyarrow.compress(part, codec="zstd", asbytes=True) for part in (CONTENT[:half], CONTENT[half:]))
            path.write_bytes(b"".join(frames))
        case ".parquet":
            parquet.write_table(pyarrow.table({"text": TEXTS, "aspect": ["screen"] * 200}), path, row_group_size=30)
        case _:
            path.write_bytes(CONTENT)
    return path


@pytest.mark.parametrize(
    "name", ["in.jsonl", "in.jsonl.gz", "IN.JSONL.GZ", "in.jsonl.zst", "IN.JSONL.ZST", "in.parquet"]
)
def test_files_are_read_plain_and_packed_and_tell_how_much_of_them_is_read(tmp_path: Path, name: str) -> None:
    path, watched = packed(tmp_path / name), list[int]()
    (source,) = find_sources([str(path)], None)
    assert texts_of(source, watched) == TEXTS
    assert watched == sorted(watched)
    assert watched[-1] == source.size == path.stat().st_size


def test_a_packed_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "in.jsonl.zst")
    path.write_bytes(path.read_bytes()[:-5])
    (source,) = find_sources([str(path)], "jsonl")
    with pytest.raises(InputError, match=r"in\.jsonl\.zst: cannot be read"):
        texts_of(source)


def test_the_format_of_what_zstd_has_packed_is_seen_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "in.zst"
    for content, format in ((b"text,aspect\na screen,screen\n", "csv"), (CONTENT, "json_lines")):
        path.write_bytes(pyarrow.compress(content, codec="zstd", asbytes=True))
        assert find_sources([str(path)], None)[0].format == format
    path.write_bytes(pyarrow.compress(b"a screen\n", codec="zstd", asbytes=True))
    with pytest.raises(InputError, match=r"in\.zst, line 1: is in no known format"):
        find_sources([str(path)], None)
    assert find_sources([str(path)], "csv")[0].format == "csv"


def test_patterns_name_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.csv"):
        (tmp_path / name).write_text("text,aspect\n" if name == "c.csv" else LINES[0])
    (tmp_path / "folder.jsonl").mkdir()
    found = find_sources([f"{tmp_path}/*.jsonl", f"{tmp_path}/c.csv"], None)
    assert [(Path(source.name).name, source.format) for source in found] == [
        ("a.jsonl", "json_lines"),
        ("b.jsonl", "json_lines"),
        ("c.csv", "csv"),
    ]


def test_a_file_with_the_signs_of_a_pattern_and_a_forced_format(tmp_path: Path) -> None:
    path = packed(tmp_path / "in[1].jsonl")
    assert texts_of(find_sources([str(path)], None)[0]) == TEXTS
    assert texts_of(find_sources([str(path.rename(tmp_path / "in"))], "json_lines")[0]) == TEXTS


def test_empty_files_among_several_hold_no_rows(tmp_path: Path) -> None:
    first, empty = packed(tmp_path / "a.jsonl"), tmp_path / "b.jsonl"
    empty.touch()
    assert [source.name for source in find_sources([str(first), str(empty)], None)] == [str(first)]


def test_what_is_not_there_or_named_twice_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "in.jsonl")
    with pytest.raises(InputError, match=r"no file matches the input .*/\*\.csv"):
        find_sources([f"{tmp_path}/*.csv"], None)
    with pytest.raises(InputError, match=r"nowhere\.jsonl: does not exist"):
        find_sources([str(tmp_path / "nowhere.jsonl")], None)
    with pytest.raises(InputError, match=r"in\.jsonl is named twice"):
        find_sources([str(path), f"{tmp_path}/./i*"], None)
    with pytest.raises(InputError, match="there is no input"):
        find_sources([], None)


def test_standard_input_is_json_lines_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CONTENT)))
    (source,) = find_sources(["-"], None)
    assert (source.is_stream, source.title, source.size) == (True, "standard input", 0)
    assert texts_of(source) == TEXTS
    assert not sys.stdin.closed
    assert find_sources(["-"], "csv")[0].format == "csv"


@pytest.mark.parametrize("format", ["parquet", "hf"])
def test_what_is_no_stream_does_not_come_from_standard_input(format: str) -> None:
    with pytest.raises(InputError, match="standard input cannot have the format"):
        find_sources(["-"], format)


def test_xml_that_breaks_off_is_no_row_to_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    aspect = '<aspectTerms><aspectTerm term="screen" polarity="positive" from="2" to="8"/></aspectTerms>'
    path.write_text(f"<sentences>\n<sentence><text>a screen</text>{aspect}</sentence>\n<sentence><te")
    (source,) = find_sources([str(path)], None)
    with pytest.raises(InputError, match=r"in\.xml, line 3: is malformed XML"):
        texts_of(source)


def test_a_quote_without_an_end_tells_how_many_lines_it_took_and_ends_the_job_after_thousands(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text,aspect\na screen,screen\n" + '"a screen,screen\n' + "a screen,screen\n" * 39)
    (source,) = find_sources([str(path)], None)
    *_, problem = source.events()
    assert isinstance(problem, Problem)
    assert problem.line == 3
    assert problem.what.startswith("is not valid CSV (unexpected end of data), up to line 42; quote texts")
    path.write_text("text,aspect\na screen,screen\n" + '"a screen,screen\n' + "a screen,screen\n" * 20_000)
    (source,) = find_sources([str(path)], None)
    with pytest.raises(InputError, match=r"in\.csv, line 3: opens a quote that has"):
        list(source.events())


@pytest.mark.parametrize(("encoding", "has_bom"), [("utf-8", False), ("utf-8-sig", True), ("utf-16", True)])
def test_the_style_of_a_table_is_that_of_the_first(tmp_path: Path, encoding: str, has_bom: bool) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text;aspect\na screen;screen\n", encoding)
    sources = find_sources([str(path)], None, encoding="utf-16" if encoding == "utf-16" else None)
    style = find_csv_style(sources)
    assert style == CsvStyle(";", has_bom)
    assert OutputFormat("csv").styled(style).header(("a", "b")) == codecs.BOM_UTF8 * has_bom + b"a;b\r\n"
    assert style.encode([("é", 1)]) == codecs.BOM_UTF8 * has_bom + "é;1\r\n".encode()


def test_what_is_empty_has_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty, unpacked = tmp_path / "in.jsonl", tmp_path / "in.csv.gz"
    empty.touch()
    unpacked.write_bytes(gzip.compress(b""))
    assert find_sources([str(empty)], None) == ()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for name in ("-", str(unpacked)):
        assert texts_of(find_sources([name], None)[0]) == []


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("a.jsonl", b"{half\n[1]\n", ["{half\n", "[1]\n"]),
        ("a.jsonl", b'{"\xff": 1}\n', ['{"\udcff": 1}\n']),
        ("a.csv", b'text,aspect\none\n"a"b,c\n', ["one\n", '"a"b,c\n']),
        ("a.csv", b'text,aspect\n"no\nend', ['"no\nend']),
        ("a.txt", b"no  tag\na screen/p\n", ["no tag"]),
        ("a.raw", b"a $T$\nscreen\nb $T$\nx\n1\nstray\n", ["a $T$\nscreen", "stray"]),
    ],
)
def test_a_bad_line_comes_as_it_stands_in_the_file(tmp_path: Path, name: str, content: bytes, given: list[str]) -> None:
    (tmp_path / name).write_bytes(content)
    (source,) = find_sources([str(tmp_path / name)], {".txt": "tagged", ".raw": "three_line"}.get(name[1:]))
    events = list(source.events())
    assert [event.given for event in events if isinstance(event, Problem)] == given


def test_of_a_long_bad_line_only_the_beginning_is_held(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("x" * 100_000 + "\n")
    (source,) = find_sources([str(tmp_path / "in.jsonl")], None)
    (problem,) = source.events()
    assert isinstance(problem, Problem)
    assert len(problem.given) == 8192


def test_the_first_rows_of_a_pipe_are_not_lost_to_a_look_at_its_format(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(CONTENT,))
    writer.start()
    (source,) = find_sources([str(pipe)], None)
    assert texts_of(source) == TEXTS
    writer.join()
    assert source.is_stream


def test_a_pipe_to_which_nobody_writes_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.predict.source.PATIENCE", 0.01)
    pipe, said = tmp_path / "pipe", threading.Event()
    os.mkfifo(pipe)
    monkeypatch.setattr("warnings.warn", lambda message, *_: said.set() if str(pipe) in str(message) else None)
    (source,) = find_sources([str(pipe)], None)
    reader = threading.Thread(target=lambda: list(source.events()))
    reader.start()
    assert said.wait(20)
    pipe.write_bytes(CONTENT)
    reader.join()


def test_columns_with_names_of_their_own_are_those_of_every_source(tmp_path: Path) -> None:
    path, other = tmp_path / "a.jsonl", tmp_path / "b.csv"
    path.write_text('{"review": "a screen", "term": "screen"}\n')
    other.write_text("Review,Term\na bar,bar\n")
    sources = find_sources([str(path), str(other)], None, "text=review,aspect=term")
    assert [texts_of(source) for source in sources] == [["a screen"], ["a bar"]]
    tagged = tmp_path / "c.txt"
    tagged.write_text("a screen/p\n")
    with pytest.raises(InputError, match=r"c\.txt: the format tagged has no named"):
        find_sources([str(path), str(tagged)], None, {"text": "review"})
