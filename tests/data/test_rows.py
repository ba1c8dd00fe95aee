"""Rows and names of columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pssa.data.check import check
from pssa.data.formats import column_names
from pssa.data.io import format_of, read, stream
from pssa.data.rows import SAME_NAMES, Columns, Event, Problem, Row, brief_messages
from pssa.errors import InputError, for_command_line

COLUMNS = {"text": "review", "aspect": "term", "label": "polarity", "id": "no"}
OURS = [
    {"text": "a menu, a menu", "aspect": "menu", "label": "positive", "id": "a", "ordinal": 1},
    {"text": "the bar", "aspect": "bar", "label": "negative", "id": "b", "ordinal": 0},
]
THEIRS: list[dict[str, Any]] = [{COLUMNS.get(name, name): value for name, value in row.items()} for row in OURS]

Write = Callable[[Path, list[dict[str, Any]]], Path]


def write_json_lines(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_csv(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = folder / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def write_dataset(folder: Path, rows: list[dict[str, Any]]) -> Path:
    datasets = pytest.importorskip("datasets")
    path = folder / "rows"
    datasets.Dataset.from_list(rows).save_to_disk(str(path))
    return path


WRITERS = [write_json_lines, write_csv, write_parquet, write_dataset]


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_with_other_names_is_read_as_one_with_ours_and_keeps_its_names(tmp_path: Path, write: Write) -> None:
    (tmp_path / "ours").mkdir()
    ours, theirs = write(tmp_path / "ours", OURS), write(tmp_path, THEIRS)
    expected = read(OURS)
    assert [example.aspect_chars for example in expected] == [(10, 14), (4, 7)]
    assert read(ours) == expected
    assert read(ours, columns={}) == expected
    assert read(ours, columns={"text": "text"}) == expected
    assert read(theirs, columns=COLUMNS) == expected
    assert read(theirs, columns="text=review, aspect=term,label=polarity,id=no") == expected
    assert check(theirs, columns=COLUMNS) == check(ours)
    assert read(THEIRS, columns=COLUMNS) == expected
    first = next(stream(theirs, columns=COLUMNS))
    assert first.fields["text"] == first.given["review"] == "a menu, a menu"
    assert set(first.fields) == set(OURS[0])
    assert list(first.given) == list(THEIRS[0])


@pytest.mark.parametrize("write", WRITERS)
def test_a_column_that_is_not_there_is_named_and_other_names_are_proposed(tmp_path: Path, write: Write) -> None:
    path = write(tmp_path, THEIRS)
    for field, column in (("text", "reviw"), ("label", "polarty"), ("aspect", "trem")):
        with pytest.raises(
            InputError,
            match=rf"no column '{column}' for {field} .*; "
            r"found review, term, polarity, no, ordinal",
        ):
            read(path, columns=COLUMNS | {field: column})
    with pytest.raises(InputError, match=r"review, term, polarity, .*columns='text="):
        read(path)
    if write is not write_json_lines:  # of which a row may lack a field
        with pytest.raises(InputError, match=r"no column 'kind' for tags .*; found "):
            read(path, columns=COLUMNS | {"tags": "kind"})


def test_a_missing_aspect_or_label_points_to_the_option_and_an_empty_one_does_not() -> None:
    with pytest.raises(InputError, match=r"fields text, term; .* columns='aspect=term'$"):
        read([{"text": "a bar", "term": "bar"}])
    bar = {"text": "a bar", "aspect": "bar"}
    with pytest.raises(InputError, match=r"aspect, star; .* columns='label=star'$"):
        read([bar | {"star": 5}])
    with pytest.raises(InputError, match=r"no `label`; expected one of .*neutral$"):
        read([bar | {"label": ""}])
    with pytest.raises(InputError, match=r"no `aspect`; .* the fields text, from, to$"):
        read([{"text": "a bar", "from": "", "to": ""}])


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_column_that_is_called_like_a_field_can_be_declined(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    row = {"text": "a bar", "aspect": "bar", "from": "Ann", "to": "Bob", "label": "positive"}
    lines = [",".join(row), ",".join(row.values())] if name == "a.csv" else [json.dumps(row)]
    path.write_text("\n".join([*lines, ""]))
    with pytest.raises(InputError, match="`from` is 'Ann'; expected a whole number"):
        read(path)
    for columns in ("from=,to=", {"from": "", "to": ""}):
        assert len(read(path, columns=columns)) == 1
        (found,) = stream(path, columns=columns)
        assert (dict(found.given), found.fields.keys() & {"from", "to"}) == (row, set())
    assert str(Columns.of("from=,to=")) == "from=,to="


def test_class_numbers_get_their_names_whatever_the_column_is_called() -> None:
    datasets = pytest.importorskip("datasets")
    kinds = {"review": datasets.Value("string"), "term": datasets.Value("string")}
    features = datasets.Features(kinds | {"polarity": datasets.ClassLabel(names=["negative", "positive"])})
    rows = {"review": ["a menu", "a bar"], "term": ["menu", "bar"], "polarity": [1, 0]}
    made = datasets.Dataset.from_dict(rows, features=features)
    corpus = read(made, columns="text=review,aspect=term,label=polarity")
    assert [example.label for example in corpus] == ["positive", "negative"]


def test_fields_that_say_something_in_few_rows_may_come_later(tmp_path: Path) -> None:
    rows = [{"review": "a bar", "term": "bar"} for _ in range(99)]
    later = write_json_lines(tmp_path, [*rows, rows[0] | {"which": 0}])
    names = "text=review,aspect=term,ordinal=which"
    assert len(list(stream(later, columns=names))) == 100
    too_late = write_json_lines(tmp_path, [*rows, rows[0], rows[0] | {"which": 0}])
    with pytest.warns(UserWarning, match="no row up to here has the column 'which'"):
        assert len(list(stream(too_late, columns=names))) == 101
    with pytest.warns(UserWarning, match="no row up to here has the column 'which'"):
        assert len(list(stream(write_json_lines(tmp_path, rows[:1]), columns=names))) == 1


def test_rows_of_a_slow_pipe_are_not_held_back_once_their_columns_are_there() -> None:
    columns = Columns.of("text=review")

    def come() -> Iterator[Event]:
        yield Problem(1, "odd")
        yield columns.row(2, {"review": "a menu"})
        raise AssertionError

    found = columns.check_rows("pipe", come())
    assert [next(found).line, next(found).line] == [1, 2]


def test_an_odd_row_is_a_bad_row_and_a_hundred_are_a_bad_file(tmp_path: Path) -> None:
    odd: dict[str, Any] = {"note": "x"}
    found = check(write_json_lines(tmp_path, [odd, *THEIRS]), columns=COLUMNS)
    assert found.instances == 2
    assert [(problem.line, problem.what) for problem in found.problems] == [
        (1, "this row has no column 'review' for text (columns); found note")
    ]
    path = write_json_lines(tmp_path, [odd] * 99 + THEIRS)
    assert check(path, columns=COLUMNS).rejected == 99
    path = write_json_lines(tmp_path, [odd] * 100 + THEIRS)
    with pytest.raises(InputError, match=r"line 100: no column 'review' for text"):
        check(path, columns=COLUMNS)


def test_a_row_without_a_field_is_told_by_the_names_that_the_file_gives(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"Review": "a bar", "No": 1}, {"Review": "a bar", "term": "bar", "No": 2}]
    path = write_json_lines(tmp_path, rows)
    with pytest.raises(InputError, match=r"line 1: no `aspect`; .* found the fields"):
        read(path, columns="text=Review")
    with pytest.raises(InputError, match="line 1: this row has no column 'term'"):
        read(path, columns="text=Review,aspect=term,label=No")
    with pytest.raises(InputError, match="this row has no column 'is' for label"):
        read(
            [{"term": "bar", "Review": "a bar"}, {"is": 1}], columns={"text": "Review", "aspect": "term", "label": "is"}
        )


def test_a_column_that_is_called_like_a_field_and_is_not_it_is_left_alone() -> None:
    given = {"text": "a title", "review": "a bar", "aspect": "bar", "n": 1}
    columns = Columns.of({"text": "review"})
    assert columns.row(3, given) == Row(3, {"aspect": "bar", "n": 1, "text": "a bar"}, renamed_from=given)
    swapped = Columns.of({"text": "aspect", "aspect": "text"}).row(1, {"text": "bar", "aspect": "a bar"})
    assert swapped.fields == {"text": "a bar", "aspect": "bar"}


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ("text=review", (("text", "review"),)),
        (" text = the review ,aspect=term", (("text", "the review"), ("aspect", "term"))),
        ("text=a, b,aspect=x=y", (("text", "a, b"), ("aspect", "x=y"))),
    ],
)
def test_what_is_written_can_be_read_again(given: str, pairs: tuple[tuple[str, str], ...]) -> None:
    columns = Columns.of(given)
    assert columns.pairs == pairs
    assert Columns.of(str(columns)) == Columns.of(dict(pairs)) == columns


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("", r"^columns has ''; expected FIELD=COLUMN"),
        ("review", "has 'review'; expected FIELD=COLUMN"),
        ("text=,aspect=term", "has '' for text; expected a column"),
        ("=review", "has '=review'; expected FIELD=COLUMN"),
        ("txt=review", "the unknown field 'txt'; expected one of text, aspect, span, from, to, ordinal, label, id"),
        ("text=a,text=b", "has text twice"),
        ("text=a,aspect=a", "the column 'a' twice, for text and for aspect"),
        ({"text": 1}, "has 1 for text"),
        ({"text": " "}, "has ' ' for text"),
        ({"text": "a,x=b"}, "has 'a,x=b' for text, which has .* a comma"),
        ({"text": "review "}, "has 'review ' for text, which has space around it"),
        (["text"], r"columns is \['text'\]; expected a dict, such as"),
    ],
)
def test_what_names_no_columns_is_refused(given: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        Columns.of(given)


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", "a menu/p\n"), ("a.raw", "a $T$\nmenu\n1\n"), ("a.xml", "<sentences/>")]
)
def test_formats_without_named_columns_refuse_them(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match="columns; leave out columns='text=review'"):
        read(path, columns={"text": "review"})


def test_names_of_a_header_are_found_in_any_case_and_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Review , TERM,polarity\na bar,bar,positive\n")
    assert len(read(path, columns="text=Review,aspect=term,label=Polarity")) == 1
    path.write_text("Review ID, Text ,Aspect,Note,note\n7,a bar,bar,x,y\n")
    (row,) = stream(path)
    assert row.given == {"Review ID": "7", "Text": "a bar", "Aspect": "bar", "Note": "x", "note": "y"}
    assert (row.fields["text"], row.fields["aspect"]) == ("a bar", "bar")


@pytest.mark.parametrize(
    ("header", "columns", "said"),
    [
        ("text,aspect,label,text", None, "line 1: the column 'text', read as text, occurs twice"),
        ("text,aspect,label,Text", None, "line 1: the columns 'Text' and 'text' can both be read as text; rename one"),
        ("review,term,Term", "text=review,aspect=term", "the columns 'Term' and 'term' can both be read as aspect"),
        ("review,aspect,n,n,label", "text=review", "line 1: the column 'n' occurs twice"),
        ("text,from,to", "from=,to=", "a column is missing"),
        ("Review ID,Text", "id=Id", r"no column 'Id' .*; found Review ID, Text"),
        ("Review ID,Review", None, r"a column is missing: .*; found Review ID"),
        ("Review,TERM", "text=Term,aspect=term", "the column 'TERM' twice"),
    ],
)
def test_a_header_that_lacks_or_repeats_a_field_is_refused(
    tmp_path: Path, header: str, columns: str | None, said: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n")
    with pytest.raises(InputError, match=said):
        read(path, format="csv", columns=columns)


def test_columns_without_a_name_may_be_many_and_a_table_is_no_other_than_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("review,aspect,label,,\na bar,bar,positive,,\n")  # as spreadsheets leave them
    assert len(read(path, columns="text=review")) == 1
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ["text", "aspect", "n", "n"]
    parquet.write_table(pyarrow.table([["a bar"], ["bar"], [1], [2]], names=names), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="line 1: the column 'n' occurs twice"):
        list(stream(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("header", "given", "proposed"),
    [
        (["sentence", "aspect_term", "Polarity"], None, "text=sentence,aspect=aspect_term,label=Polarity"),
        (["Date", "Star Rating", "Review"], None, "text=Review,aspect=NAME,label=Star Rating"),
        (["Date", "Stars", "Review"], "text=Review", "text=Review,aspect=NAME,label=Stars"),
        (["Review ID", "text"], None, "aspect=NAME,label=NAME"),
        (["id", "q17"], None, "text=review,aspect=term,label=polarity"),
    ],
)
def test_missing_columns_are_proposed_from_the_file(header: list[str], given: str | None, proposed: str) -> None:
    with pytest.raises(InputError) as raised:
        Columns.of(given).check_header("a.csv", header)
    assert f"columns='{proposed}'" in str(raised.value)


def test_what_is_missing_is_proposed_from_the_columns_or_to_be_labelled_first() -> None:
    with pytest.raises(InputError, match="to label raw texts"):
        SAME_NAMES.check_header("a.csv", ["text", "stars"])
    row = SAME_NAMES.row(2, {"Text": "a menu", "Aspect": "menu", "Sentiment": "positive"})
    assert "--columns label=Sentiment" in for_command_line(row.describe_missing("label", "expected one"))
    assert "--columns label=NAME" in for_command_line(SAME_NAMES.row(2, {"a=b,": "x"}).describe_missing("label", ""))
    assert "columns" not in Row(2, {"text": "a menu"}).describe_missing("label", "expected one")  # the format has none
    with pytest.raises(InputError, match="columns='text=Review'"):
        replace(SAME_NAMES, text_only=True).check_header("a.csv", ["Date", "Rating", "Review"])


def test_advice_is_given_once_in_a_list_of_problems() -> None:
    messages = [
        "'a;b' occurs twice; say which; or all",
        "'c' occurs twice; say which; or all",
        "empty",
        "empty",
        "d; or all",
    ]
    problems = [Problem(number, message) for number, message in enumerate(messages)]
    assert brief_messages(problems) == [messages[0], "'c' occurs twice", "empty", "empty", "d; or all"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "Review,note\n"), ("a.csv", "Review,note\nfine,x\n"), ("a.jsonl", '{"Review": "fine"}\n{"note": 1}\n')],
)
def test_the_columns_of_a_table_are_known_whatever_they_are(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert column_names(tmp_path / name, format_of(tmp_path / name, None)) == ["Review", "note"]
