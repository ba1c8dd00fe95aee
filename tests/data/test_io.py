"""Reading and writing instances in any format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pssa.data.check import check
from pssa.data.example import Corpus, Example, sentence_key
from pssa.data.io import format_of, read, read_or_skip, stream, write
from pssa.data.text_file import InputFile
from pssa.data.tokenize import Span
from pssa.errors import InputError, PssaWarning


def _json_lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _row(label: str | None, **more: Any) -> dict[str, Any]:
    return {"text": "a menu", "aspect": "menu", "label": label, **more}


@pytest.mark.parametrize(("given", "label"), [("POS", "positive"), ("neg", "negative"), (" Neutral ", "neutral")])
def test_labels_are_normalised(tmp_path: Path, given: str, label: str) -> None:
    assert read(_json_lines(tmp_path / "a.jsonl", _row(given)))[0].label == label


def test_conflict_is_dropped_with_a_count_kept_or_an_error(tmp_path: Path) -> None:
    path = _json_lines(tmp_path / "a.jsonl", _row("positive"), _row("Conflict"))
    dropped, kept = read(path), read(path, conflict="keep")
    assert (len(dropped), dropped.dropped, dropped.labels) == (1, {"conflict": 1}, ("positive", "negative", "neutral"))
    assert (len(kept), kept.dropped, kept.labels[-1]) == (2, {}, "conflict")
    with pytest.raises(InputError, match="line 2: unknown label 'Conflict'"):
        read(path, conflict="error")


def test_declared_labels_replace_the_usual_ones(tmp_path: Path) -> None:
    path = _json_lines(tmp_path / "a.jsonl", _row("Good"), _row("bad"))
    assert read(path, labels=("good", "bad")).label_counts() == {"good": 1, "bad": 1}
    with pytest.raises(InputError, match=r"line 1: unknown label 'Good'; expected .*pssa.check lists all such"):
        read(path)


@pytest.mark.parametrize("labels", [("one",), ("a", "a"), ("a", "")])
def test_fewer_than_two_distinct_labels_are_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="two or more"):
        read(_json_lines(tmp_path / "a.jsonl", _row("a")), labels=labels)


def test_ids_are_the_files_own_or_lines_and_always_unique(tmp_path: Path) -> None:
    path = _json_lines(tmp_path / "a.jsonl", _row("pos", id="x", sentence_id="s"), _row("pos", id="x"), _row("pos"))
    assert [example.id for example in read(path)] == ["x", "x#2", "3"]
    assert [example.sentence_id for example in read(path)] == ["s", sentence_key("a menu"), sentence_key("a menu")]


def test_records_are_read_like_the_rows_of_a_file(tmp_path: Path) -> None:
    rows = [_row("pos", shop=7), _row("conflict"), {"text": "a bar", "from": 2, "to": 5, "label": "neg"}]
    assert read(rows) == read(_json_lines(tmp_path / "a.jsonl", *rows))
    with pytest.raises(InputError, match="records, line 2: no `label`; expected"):
        read([_row("good"), _row(None)], labels=("good", "bad"))


def test_what_is_no_file_and_an_unknown_option_are_refused_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the data is a set; expected the name of"):
        read({"a.csv"})
    with pytest.raises(InputError, match="'column'; did you mean columns"):
        read("reviews.csv", column={"text": "review"})  # type: ignore[call-arg]
    with pytest.raises(InputError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nothing.csv")


def test_streaming_is_lazy(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a menu", "aspect": "menu"}\nnonsense\n')
    rows = stream(path)
    assert next(rows).line == 1
    with pytest.raises(InputError, match="line 2: is not valid JSON"):
        next(rows)


_GOOD = b"text,aspect,from,to,label\na menu,menu,2,6,positive\n"


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("bad.xml", b"<sentences><sentence></sentences>", "line 1: is malformed XML"),
        ("bomb.xml", b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "line 1: is refused"),
        ("empty.csv", b"", "is empty"),
        ("blank.txt", b"\n \n", "is blank"),
        ("header.csv", b"text,aspect,label\n", "has no labelled instance"),
        ("column.csv", b"words,aspect,label\na menu,menu,positive\n", "line 1: a column is missing"),
        ("unlabelled.csv", b"text,aspect\na menu,menu\n", "line 2: no `label`"),
        ("label.csv", _GOOD.replace(b"positive", b"superb"), "line 2: unknown label 'superb'"),
        ("aspect.csv", b"text,aspect,label\na menu,bar,positive\n", "line 2: aspect 'bar' is not in the text"),
        ("offsets.csv", _GOOD.replace(b"2,6", b"2,99"), "line 2: aspect offsets 2-99 are not inside"),
        ("place.csv", _GOOD.replace(b"2,6", b"0,4"), "line 2: aspect 'menu' is not at its offsets"),
        ("latin.csv", _GOOD + "a café,café,2,6,positive\n".encode("latin-1"), r"line 3: is not UTF-8 \(byte 0xe9"),
        ("latin.txt", "a café/p\n".encode("latin-1"), "line 1: is not UTF-8"),
        ("wide.csv", _GOOD.decode().encode("utf-16"), "is UTF-16; .*utf-16"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a binary file"),
        ("reviews.ods", b"PK\x03\x04\x14\0", "is a spreadsheet of another kind; save it as .xlsx, or as CSV"),
        ("reviews.xlsx", b"PK\x03\x04\x14\0", "cannot be read as an Excel workbook"),
        ("mac.csv", _GOOD.replace(b"\n", b"\r"), "line 1: a column is missing"),
        ("cut.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03KI", "cannot be read"),
        ("plain.csv.gz", _GOOD, "cannot be read"),
    ],
)
def test_malformed_input_is_one_line_that_names_the_file(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


_FILES = ("a.xml", "a.csv", "a.jsonl", "a.parquet", "a.seg", "a.jsonl.gz", "hf:a")
_TAGGED = """the battery/p life/p is great , battery ok
the battery life/n is great , battery ok
a //0 b y/n -LRB- don't -RRB-
"""


def _essence(examples: Corpus) -> list[tuple[str, tuple[Span, ...], Span, str | None]]:
    return sorted((example.text, example.spans, example.aspect_chars, example.label) for example in examples)


def _under(folder: Path, name: str) -> str:
    return f"hf:{folder / name[3:]}" if name.startswith("hf:") else str(folder / name)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    path = tmp_path / "source.txt"
    path.write_text(_TAGGED)
    return read(path)


@pytest.mark.slow
@pytest.mark.parametrize("second", _FILES)
@pytest.mark.parametrize("first", _FILES)
def test_an_instance_survives_any_two_formats(tmp_path: Path, corpus: Corpus, first: str, second: str) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    write(corpus, _under(tmp_path / "1", first))
    write(read(_under(tmp_path / "1", first)), _under(tmp_path / "2", second))
    assert _essence(read(_under(tmp_path / "2", second))) == _essence(corpus)
    write(read(_under(tmp_path / "2", second)), tmp_path / "back.txt", format="tagged")
    assert _essence(read(tmp_path / "back.txt")) == _essence(corpus)


def test_words_survive_formats_of_tokens_though_white_space_does_not(tmp_path: Path) -> None:
    example = Example.from_text("The  menu, (really) great.", (5, 9), label="positive")
    for name, format in (("a.txt", "tagged"), ("a.seg", "three_line")):
        write([example], tmp_path / name, format=format)
        back = read(tmp_path / name)[0]
        assert (back.words, back.aspect, back.label) == (example.words, example.aspect, example.label)


def test_a_failure_leaves_what_was_there(tmp_path: Path, corpus: Corpus) -> None:
    path = tmp_path / "a.txt"
    path.write_text("precious")
    unlabelled = Example.from_text("a menu", (2, 6))
    with pytest.raises(InputError, match="label None has no tag"):
        write([*corpus, unlabelled], path, format="tagged")
    assert path.read_text() == "precious"


def test_what_cannot_be_written_is_named(tmp_path: Path, corpus: Corpus) -> None:
    with pytest.raises(InputError, match=r"one of the examples is .*; .*pssa.read"):
        write([{"text": "a menu"}], tmp_path / "a.csv")  # type: ignore[list-item]
    with pytest.raises(InputError, match="extension of no format"):
        write(corpus, tmp_path / "a.txt")
    with pytest.raises(InputError, match="does not exist"):
        write(corpus, tmp_path / "no" / "a.csv")
    with pytest.raises(InputError, match="is a directory"):
        write(corpus, tmp_path, format="csv")


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["laptop", "rest", "twitter"])
def test_no_instance_of_the_public_files_is_lost_on_the_way(tmp_path: Path, shared_data: Path, name: str) -> None:
    corpus = read(shared_data / name / "test.txt")
    for first, second in (("a.jsonl", "b.xml"), ("b.xml", "c.csv"), ("c.csv", "d.parquet"), ("d.parquet", "e.seg")):
        if first == "a.jsonl":
            write(corpus, tmp_path / first)
        write(read(tmp_path / first), tmp_path / second)
    assert _essence(read(tmp_path / "e.seg")) == _essence(corpus)


_XML = """<sentences>
<sentence id="1"><text>a menu</text><aspectTerms>
<aspectTerm term="menu" from="2" to="6" polarity="positive"/></aspectTerms></sentence>
"""


def test_what_is_left_out_is_listed_and_the_rest_is_what_a_sound_file_gives(tmp_path: Path) -> None:
    sound, path = tmp_path / "sound.jsonl", tmp_path / "a.jsonl"
    row = '{"text": "a menu", "aspect": "menu", "label": "positive", "stars": 5}\n'
    sound.write_text(row)
    path.write_text(f"{row}nonsense\n")
    corpus, skipped, not_kept = read_or_skip(path, errors="skip")
    assert (corpus, not_kept) == (read(sound), ("stars",))
    assert [problem.line for problem in skipped] == [2]


def test_a_file_that_breaks_off_is_refused_either_way(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(_XML)
    for errors in ("fail", "skip"):
        with pytest.raises(InputError, match="line 4: is malformed XML"):
            read_or_skip(path, errors=errors)
    path.write_text(f"{_XML}</sentences>")
    assert len(read_or_skip(path)[0]) == 1


def test_of_columns_with_names_of_their_own_only_the_rest_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Title,text,Review,Aspect,label\nx,y,a menu,menu,positive\n")
    corpus, _, not_kept = read_or_skip(path, columns={"text": "Review"})
    assert [example.text for example in corpus] == ["a menu"]
    assert not_kept == ("Title", "text")


def test_bad_lines_can_be_skipped_and_are_counted_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "text,aspect,label\na menu,menu,positive\na pub,bar,positive\nthe bar,bar,good\nthe bar,bar,negative\n"
    )
    with pytest.warns(UserWarning, match="2 instances are left; line 3: .*; line 4"):
        corpus = read(path, errors="skip")
    assert [example.label for example in corpus] == ["positive", "negative"]
    assert corpus.dropped == {"invalid": 2}


def test_an_aspect_that_occurs_twice_can_be_one_instance_or_two(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,aspect,label\n7,The bar is a bar,bar,positive\n8,a menu,menu,negative\n")
    with pytest.raises(InputError, match=r"line 2: .*='first'.*occurrence='all'"):
        read(path, occurrence="error")
    with pytest.warns(UserWarning, match="1 of 2 instances .* line 2, aspect 'bar'") as told:
        first = read(path)
    assert len(told) == 1
    assert [(example.id, example.aspect_chars) for example in first] == [("7", (4, 7)), ("8", (2, 6))]
    both = read(path, occurrence="all")
    assert [(example.id, example.aspect_chars) for example in both] == [("7", (4, 7)), ("7#2", (13, 16)), ("8", (2, 6))]
    assert {example.label for example in both[:2]} == {"positive"}


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16"])
def test_a_file_in_another_encoding_is_read_as_if_it_were_utf8(tmp_path: Path, encoding: str, suffix: str) -> None:
    content = "text,aspect,label\nThe café’s menu,menu,positive\n".encode(encoding)
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    with pytest.raises(InputError, match=f"encoding='{encoding}'"):
        read(path)
    assert read(path, encoding=encoding)[0].text == "The café’s menu"
    with pytest.raises(InputError, match="not known"):
        read(path, encoding="klingon")


def test_a_file_in_windows_1252_is_refused_as_a_whole_and_a_damaged_row_is_not(tmp_path: Path) -> None:
    path, lines = tmp_path / "a.csv", ("text,aspect,label", "the café,café,positive", "le café,café,neutral")
    path.write_bytes("\n".join(lines).encode("windows-1252"))
    with pytest.raises(InputError, match=r"line 2.*windows-1252"):
        read(path, errors="skip")
    path.write_bytes(b"\n".join((lines[0].encode(), lines[1].encode("utf-8"), lines[2].encode("windows-1252"))))
    with pytest.warns(PssaWarning, match="line 3"):
        assert len(read(path, errors="skip")) == 1


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16"])
def test_the_kind_of_a_file_in_another_encoding_is_seen(tmp_path: Path, encoding: str) -> None:
    binary, tasks = tmp_path / "binary.csv", tmp_path / "tasks.json"
    binary.write_bytes(b"PK\x03\x04" + b"text,aspect\0\0" * 50)
    with pytest.raises(InputError, match=r"is a binary file|is not utf-16"):
        read(binary, encoding=encoding)
    tasks.write_text('[{"data": {"text": "The café"}, "annotations": []}]', encoding=encoding)
    assert format_of(InputFile.of(tasks, encoding), None) == "label_studio"


def test_a_wrong_encoding_is_one_problem_of_a_check_and_refused_where_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        "text,aspect,label\nthe café,café,positive\na menu,menu,negative\nle café,café,neutral\n".encode("latin-1")
    )
    (problem,) = check(path).problems
    assert problem.line == 2
    assert "Windows-1252" in problem.what
    assert "1 more line" in problem.what
    assert not check(path, encoding="latin-1").problems
    path.write_bytes(b"text,aspect,label\n\x81\xff menu,menu,positive\n\xc3\xa9 menu,menu,negative\n")
    assert "Windows" not in check(path).problems[0].what
    path.write_bytes(b"text,aspect,label\na menu\x81,menu,positive\n")
    with pytest.raises(InputError, match=r"is not windows-1252 \(byte 0x81"):
        read(path, encoding="windows-1252")


def test_equal_corpora_give_equal_compressed_files(tmp_path: Path) -> None:
    corpus = Corpus((Example.from_text("a menu", (2, 6), label="positive"),))
    for name in ("a", "b"):
        write(corpus, tmp_path / f"{name}.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
