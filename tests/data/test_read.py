"""Reading for training and for prediction, whatever the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pssa.data.example import sentence_key
from pssa.data.read import from_records, read, stream
from pssa.errors import InputError


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
    with pytest.raises(InputError, match=r"line 1: unknown label 'Good'; expected one of positive, negative, neutral"):
        read(path)


@pytest.mark.parametrize("labels", [("one",), ("a", "a"), ("a", "")])
def test_fewer_than_two_distinct_labels_are_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="two or more"):
        read(_json_lines(tmp_path / "a.jsonl", _row("a")), labels=labels)


def test_ids_are_the_files_own_or_lines_and_always_unique(tmp_path: Path) -> None:
    path = _json_lines(tmp_path / "a.jsonl", _row("pos", id="x", sentence_id="s"), _row("pos", id="x"), _row("pos"))
    assert [example.id for example in read(path)] == ["x", "x#2", "3"]
    assert [example.sentence_id for example in read(path)] == ["s", sentence_key("a menu"), sentence_key("a menu")]


def test_rows_are_streamed_with_unknown_fields_and_without_labels(tmp_path: Path) -> None:
    path = _json_lines(tmp_path / "a.jsonl", {"text": "a menu", "aspect": "menu", "shop": 7})
    assert [(row.line, row.fields["shop"]) for row in stream(path)] == [(1, 7)]


def test_records_are_read_like_the_rows_of_a_file(tmp_path: Path) -> None:
    rows = [_row("pos", shop=7), _row("conflict"), {"text": "a bar", "from": 2, "to": 5, "label": "neg"}]
    assert from_records(rows) == read(_json_lines(tmp_path / "a.jsonl", *rows))
    with pytest.raises(InputError, match=r"records, line 2: no `label`; expected one of good, bad"):
        from_records([_row("good"), _row(None)], labels=("good", "bad"))
    with pytest.raises(InputError, match="record 1 is 'a menu'; expected a dict with text, aspect and label"):
        from_records(["a menu"])  # type: ignore[list-item]


def test_what_is_no_file_is_refused_with_what_is_expected() -> None:
    with pytest.raises(
        InputError, match="the data is a list; expected the name of a file, or a Corpus, which from_rec"
    ):
        read([_row("positive")])  # type: ignore[arg-type]


def test_the_error_of_a_line_says_how_to_see_them_all(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"line 1: unknown label 'good'; .*--labels\); `pssa data check` lists all such"
    ):
        read(_json_lines(tmp_path / "a.jsonl", _row("good")))


def test_streaming_is_lazy(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a menu", "aspect": "menu"}\nnonsense\n')
    rows = stream(path)
    assert next(rows).line == 1
    with pytest.raises(InputError, match="line 2: is no JSON"):
        next(rows)


_GOOD = b"text,aspect,from,to,label\na menu,menu,2,6,positive\n"


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("bad.xml", b"<sentences><sentence></sentences>", "line 1: is malformed XML"),
        ("bomb.xml", b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "line 1: is XML that is refused"),
        ("empty.csv", b"", "is empty"),
        ("blank.txt", b"\n \n", "is blank"),
        ("header.csv", b"text,aspect,label\n", "holds no labelled instance"),
        ("column.csv", b"words,aspect,label\na menu,menu,positive\n", "line 1: a column is missing"),
        ("unlabelled.csv", b"text,aspect\na menu,menu\n", "line 2: no `label`"),
        ("label.csv", _GOOD.replace(b"positive", b"superb"), "line 2: unknown label 'superb'"),
        ("aspect.csv", b"text,aspect,label\na menu,bar,positive\n", "line 2: aspect 'bar' is not in the text"),
        ("offsets.csv", _GOOD.replace(b"2,6", b"2,99"), "line 2: aspect offsets 2-99 are not inside"),
        ("place.csv", _GOOD.replace(b"2,6", b"0,4"), "line 2: aspect 'menu' is not at its offsets"),
        ("latin.csv", _GOOD + "a café,café,2,6,positive\n".encode("latin-1"), r"line 3: is not UTF-8 \(byte 0xe9"),
        ("latin.txt", "a café/p\n".encode("latin-1"), "line 1: is not UTF-8"),
        ("wide.csv", _GOOD.decode().encode("utf-16"), "is UTF-16; save the file as UTF-8"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a binary file"),
        ("reviews.xlsx", b"PK\x03\x04\x14\0", "is a spreadsheet; save it as CSV in UTF-8"),
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


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nothing.csv")
