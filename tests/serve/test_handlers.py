"""Aspects in their texts, and tables in and out."""

from __future__ import annotations

import csv
import io
import re
import threading
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serve.conftest import Folders, Start

import pssa
from pssa.runs import Classifier
from pssa.serve import batcher as batcher_module
from pssa.serve import handlers, tables
from pssa.serve.batcher import AskedAspect
from pssa.serve.errors import ApiError
from pssa.serve.handlers import find_aspect, wait_for_results
from pssa.serve.limits import Limits
from pssa.serve.schemas import Offsets
from pssa.serve.tables import CsvTable

CSV = {"Content-Type": "text/csv; charset=utf-8"}
OURS = ["label", "probability_positive", "probability_negative", "probability_neutral", "error", "warning"]


def scored(client: TestClient, content: str | bytes, query: str = "") -> list[dict[str, str]]:
    answer = client.post(f"/v1/csv{query}", content=content, headers=CSV)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def place(start: int, end: int) -> Offsets:
    return Offsets.model_validate({"from": start, "to": end})


def found(text: str, aspect: str | Offsets) -> tuple[tuple[int, int], str]:
    """Where an aspect is found, and the warnings about it."""
    row = find_aspect(text, aspect)
    assert isinstance(row, AskedAspect)
    assert row.question.aspects is not None
    return row.question.aspects[0], "; ".join(row.warnings)


@pytest.mark.parametrize("aspect", ["screen", "SCREEN", place(4, 10)])
def test_an_aspect_is_found_by_its_words_and_by_its_offsets(aspect: str | Offsets) -> None:
    assert found("The screen is huge", aspect) == ((4, 10), "")


def test_an_aspect_inside_a_word_is_taken_with_a_warning() -> None:
    offsets, warning = found("a smart phone", "art")
    assert offsets == (4, 7)
    assert "inside the word 'smart' only" in warning
    assert found("a smart phone", place(4, 7)) == (offsets, "")


def test_offsets_count_code_points() -> None:
    assert found("😀 screen", place(2, 8)) == ((2, 8), "")  # an emoji has two UTF-16 units and one code point


@pytest.mark.parametrize(
    ("text", "aspect", "error"),
    [
        ("huge", "screen", "aspect 'screen' is not in the text 'huge'"),
        ("huge", place(2, 9), "aspect offsets 2-9 are not inside the text of 4 characters"),
        ("huge", place(3, 3), "aspect offsets 3-3 are not inside the text of 4 characters"),
        ("a  b", place(1, 3), "aspect offsets 1-3 contain no word"),
        ("huge", " ", "the aspect is blank"),
        (" ", "screen", "the text is blank"),
    ],
)
def test_what_cannot_be_found_says_why(text: str, aspect: str | Offsets, error: str) -> None:
    row = find_aspect(text, aspect)
    assert isinstance(row, dict)
    assert row["error"].startswith(error)


def test_a_row_may_say_which_occurrence_is_meant() -> None:
    table = CsvTable.read(b"text,aspect,ordinal,id\nkeys and keys,keys,0,6\nkeys and keys,keys,1,7\n", Limits())
    rows = [row for _, row in table.rows() if isinstance(row, AskedAspect)]
    assert [(row.question.aspects, row.warnings) for row in rows] == [(((0, 4),), ()), (((9, 13),), ())]


def test_columns_of_an_aspect_come_back_as_they_were(client: TestClient) -> None:
    [row] = scored(client, "text,aspect,from,to\nthe screen,,4,10\n")
    assert (row["aspect"], row["from"], row["to"], row["error"]) == ("", "4", "10", "")


def test_rows_come_back_in_order_with_label_and_probabilities(client: TestClient, classifier: Classifier) -> None:
    texts = [f"{'so ' * (number % 5)}the screen {number} is huge, or not" for number in range(9)]
    content = "key,text,aspect\n" + "".join(f'{number},"{text}",screen\n' for number, text in enumerate(texts))
    rows = scored(client, content)
    assert [(row["key"], row["text"], row["aspect"]) for row in rows] == [
        (str(n), t, "screen") for n, t in enumerate(texts)
    ]
    for row in rows:
        answer = classifier.predict(row["text"], "screen")
        assert row["label"] == answer.label
        found = {label: float(row[f"probability_{label}"]) for label in classifier.labels}
        assert found == pytest.approx(answer.probabilities, abs=1e-5)
        assert (row["error"], row["warning"]) == ("", "")


def test_a_bad_row_has_an_error_and_the_others_are_scored(client: TestClient) -> None:
    content = (
        "text,aspect,from,to\n"
        "the screen is huge,screen,,\n"
        "too,few\n"
        "too,many,1,2,3\n"
        "the screen,keyboard,,\n"
        "the screen,screen,0,3\n"
        "the screen,,4,10\n"
        "keys and keys,keys,,\n"
        'a "quote" unquoted,x,,\n'
        '"text" x,x,,\n'
        "\n"
        "the end,end,,\n"
    )
    rows = scored(client, content)
    assert [bool(row["label"]) for row in rows] == [True, False, False, False, False, True, True, False, False, True]
    assert [row["error"] for row in rows[1:5]] == [
        "has 2 cells, the header 4",
        "has 5 cells, the header 4",
        "aspect 'keyboard' is not in the text 'the screen'; give it as it appears there, or its character offsets",
        "aspect 'screen' is not at its offsets 0-3, where the text has 'the'",
    ]
    assert (rows[1]["text"], rows[1]["aspect"], rows[2]["to"]) == ("too", "few", "2")
    assert rows[6]["warning"] == "aspect 'keys' occurs 2 times; the first is taken"
    assert rows[8]["error"].startswith("line 10 is not valid CSV")
    assert rows[9]["text"] == "the end"


def test_a_line_for_excel_tells_the_delimiter_and_is_counted(client: TestClient) -> None:
    content = 'sep=|\ntext|aspect\nthe screen, huge|screen\n"text" x|x\n'
    answer = client.post("/v1/csv", content=content, headers=CSV)
    header, row, bad = answer.text.splitlines()
    assert header == "|".join(["text", "aspect", *OURS])
    assert row.startswith("the screen, huge|screen|")
    assert "line 4 is not valid CSV" in bad


def test_lines_and_quotes_inside_a_text_are_kept(client: TestClient) -> None:
    text = 'a "screen",\nhuge\u2028\r\nand so on'
    target = io.StringIO(newline="")
    csv.writer(target).writerows([["text", "aspect"], [text, "screen"]])
    [row] = scored(client, b"\xef\xbb\xbf" + target.getvalue().encode())
    assert (row["text"], row["error"]) == (text, "")


SCORED = "the screen,screen\n"


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        (
            f'{SCORED}"a screen,screen\n{SCORED * 30_000}',
            ["", "line 3 opens a quote .*; the rest is left out"],
        ),
        (f"{'x' * 21_000},x\n{SCORED}", ["a cell has more than 20000 characters", ""]),
        (f"{'x' * 200_000},x\n{SCORED}", [r"line 2 is not valid CSV \(field larger than field limit .*", ""]),
        ("," * 1_000_000 + f"\n{SCORED}", [r"line 2 is not valid CSV \(field larger than field limit .*", ""]),
        (b"the screen \xff\xfe,screen\n", [""]),  # what is not UTF-8 is replaced
    ],
    ids=["a quote without an end", "a long cell", "a longer one", "a million cells", "not UTF-8"],
)
def test_a_row_that_cannot_be_read_harms_no_other(client: TestClient, content: str | bytes, errors: list[str]) -> None:
    rows = scored(client, b"text,aspect\n" + (content if isinstance(content, bytes) else content.encode()))
    for row, expected in zip(rows, errors, strict=True):
        assert re.fullmatch(expected, row["error"])
    assert [bool(row["label"]) for row in rows] == [not error for error in errors]


def test_a_table_without_rows_has_a_header_alone(client: TestClient) -> None:
    answer = client.post("/v1/csv", content="text,aspect", headers=CSV)
    assert answer.text == ",".join(["text", "aspect", *OURS]) + "\r\n"


def test_the_second_run_can_be_asked(client: TestClient, folders: Folders) -> None:
    [row] = scored(client, "text,aspect\nthe screen,screen\n", "?run=versus")
    assert float(row["probability_positive"]) == pytest.approx(
        pssa.load(folders.versus).predict("the screen", "screen").probabilities["positive"], abs=1e-5
    )
    assert client.post("/v1/csv?run=third", content="text,aspect\n", headers=CSV).status_code == 422


def test_columns_may_have_other_names(client: TestClient) -> None:
    content = " Review ,TEXT,term,Label\nthe screen,no,screen,good\n"
    [row] = scored(client, content, "?columns=text=review,aspect=Term")
    assert list(row) == [" Review ", "TEXT", "term", "gold", *OURS]
    assert (row["error"], row["gold"], bool(row["label"])) == ("", "good", True)
    said = client.post("/v1/csv", content=content, headers=CSV).json()["error"]
    assert said["code"] == "no_columns"
    assert "found Review, TEXT, term, Label;" in said["message"]
    assert "?columns=text=review,aspect=term" in said["message"]


NEEDED = "the header needs text and aspect"


@pytest.mark.parametrize(
    ("header", "columns", "code", "message"),
    [
        *((header, "", "no_columns", NEEDED) for header in ("", "text", "aspect", "text,from", '"text', "\x00", "null")),
        ("text,Text ,aspect", "", "no_columns", "the columns 'Text' and 'text' can both"),
        ("text,text,aspect", "", "no_columns", "the column 'text', read as text, occurs"),
        ("text,aspect,note,note", "", "no_columns", "the column 'note' occurs twice"),
        ("text,aspect" + ",x" * 400_000, "", "too_many_columns", "more than 1000 columns"),
        ("text,term", "text", "no_columns", "has 'text'; expected FIELD=COLUMN"),
        ("text,term", "words=x,word=y", "no_columns", "unknown field 'word'"),
        ("text,term", "aspect=trem", "no_columns", "no column 'trem'"),
        ("text,term", "text=term,aspect=Term", "no_columns", "the column 'term' twice"),
        ("text,term", "text=" + "x" * 2000, "unusable", "at most 2000 characters"),
    ],
)  # fmt: skip
def test_a_header_that_cannot_be_is_refused(
    client: TestClient, header: str, columns: str, code: str, message: str
) -> None:
    answer = client.post("/v1/csv", params={"columns": columns}, content=f"{header}\na screen,screen\n", headers=CSV)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert message in answer.json()["error"]["message"]
    assert len(answer.content) < 700


def test_windows_join_to_one_table(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_WINDOW", 3)
    rows = scored(start(), "text,aspect\n" + "".join(f"screen {number},screen\n" for number in range(8)))
    assert [row["text"] for row in rows] == [f"screen {number}" for number in range(8)]
    assert all(row["label"] for row in rows)


@pytest.mark.parametrize(
    ("refused", "code", "errors"),
    [
        (2, "overloaded", ["", "", ""]),  # it waits for its turn
        (2, "too_long", ["", "refused", ""]),  # it is not tried again
        (1, "overloaded", None),
    ],
)
def test_a_window_that_is_refused(
    start: Start, monkeypatch: pytest.MonkeyPatch, refused: int, code: str, errors: list[str] | None
) -> None:
    asked: list[Any] = []

    async def wait(*arguments: Any) -> Any:
        asked.append(arguments)
        if len(asked) == refused:
            raise ApiError(503, code, "refused")
        return await wait_for_results(*arguments)

    monkeypatch.setattr(tables, "_WINDOW", 1)
    monkeypatch.setattr(handlers, "wait_for_results", wait)
    content = "text,aspect\na x,x\nb x,x\nc x,x\n"
    if errors is None:
        assert start().post("/v1/csv", content=content, headers=CSV).status_code == 503
    else:
        assert [row["error"] for row in scored(start(), content)] == errors


def test_a_table_of_short_rows_does_not_grow_out_of_proportion(client: TestClient) -> None:
    content = ",".join(["text", "aspect", *(f"c{number}" for number in range(900))]) + "\n" + "a\n" * 1000
    rows = scored(client, content)
    assert len(rows) < 20
    assert rows[0]["error"].startswith("has 1 cells")
    assert "the rest of the table is left out" in rows[-1]["error"]


@pytest.mark.slow
def test_a_request_that_is_not_scored_in_time_is_answered(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    def wait(*_: Any) -> list[Any]:
        let_go.wait(60)
        return [{"error": "late"}]

    monkeypatch.setattr(batcher_module, "score", wait)
    client = start(request_seconds=1)
    answer = client.post("/v1/predict", json={"items": [{"text": "a x", "aspects": ["x"]}]})
    let_go.set()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_long")


def test_formulas_of_a_table_are_escaped_on_request(client: TestClient) -> None:
    content = "text,aspect,note\nthe screen,screen,=1+1\n"
    assert scored(client, content)[0]["note"] == "=1+1"
    assert scored(client, content, "?escape_formulas=true")[0]["note"] == "'=1+1"
