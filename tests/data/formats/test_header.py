"""Names of a table's header: found in any case, kept as they are, and each only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.read import read, stream
from pssa.errors import InputError


def test_names_of_a_header_are_found_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Review , TERM,polarity\na bar,bar,positive\n")
    assert len(read(path, columns="text=Review,aspect=term,label=Polarity")) == 1
    with pytest.raises(InputError, match="takes the column 'TERM' twice"):
        read(path, columns="text=Term,aspect=term")


def test_names_of_a_header_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Review ID, Text ,Aspect,Note,note\n7,a bar,bar,x,y\n")
    (row,) = stream(path)
    assert row.given == {"Review ID": "7", "Text": "a bar", "Aspect": "bar", "Note": "x", "note": "y"}
    assert (row.fields["text"], row.fields["aspect"]) == ("a bar", "bar")
    with pytest.raises(InputError, match=r"no column 'Id', .*; found Review ID, Text, Aspect, Note, note: take"):
        read(path, columns="id=Id")
    path.write_text("Review ID,Review\n")
    with pytest.raises(InputError, match=r"a column is missing: .*; found Review ID, Review; if"):
        read(path)


def test_a_column_that_is_named_for_a_field_is_no_other_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Review,Text,label\na bar,bar,positive\n")
    assert read(path, columns="text=review,aspect=text")[0].aspect_text == "bar"


@pytest.mark.parametrize(
    ("header", "columns", "said"),
    [
        ("text,aspect,label,text", None, "line 1: the column 'text', read as text, is there twice; rename one"),
        ("text,aspect,label,Text", None, "line 1: the columns 'Text' and 'text' can both be read as text; rename one"),
        ("review,term,Term", "text=review,aspect=term", "the columns 'Term' and 'term' can both be read as aspect"),
    ],
)
def test_a_header_with_a_field_twice_is_refused(tmp_path: Path, header: str, columns: str | None, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n")
    with pytest.raises(InputError, match=said):
        read(path, format="csv", columns=columns)


def test_two_columns_of_one_name_are_refused_also_where_they_are_no_field(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("review,aspect,n,n,label\na bar,bar,1,2,positive\n")
    with pytest.raises(InputError, match="line 1: the column 'n' is there twice; rename one"):
        read(path, columns="text=review")
    path.write_text("review,aspect,label,,\na bar,bar,positive,,\n")  # as spreadsheets leave them
    assert len(read(path, columns="text=review")) == 1


def test_two_columns_of_one_name_are_refused_in_parquet(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ["text", "aspect", "n", "n"]
    parquet.write_table(pyarrow.table([["a bar"], ["bar"], [1], [2]], names=names), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="line 1: the column 'n' is there twice; rename one"):
        list(stream(tmp_path / "a.parquet"))
