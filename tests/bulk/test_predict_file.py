"""One file scored by a model in memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from pssa.bulk import Summary, predict_file
from pssa.bulk.output_format import OutputFormat
from pssa.bulk.partial_output import PartialOutput
from pssa.bulk.window import Result
from pssa.data.example import Example
from pssa.errors import InputError
from pssa.runs import Answer, Classifier


class ByLength:
    """Calls an aspect positive in texts of an even number of words, and notes how many rows it is asked for at once."""

    labels = ("positive", "negative", "neutral")
    members = ()

    def __init__(self) -> None:
        self.asked: list[int] = []

    def answer(self, examples: Sequence[Example], batch_size: int) -> list[Answer]:
        self.asked.append(len(examples))
        return [self._answer(example) for example in examples]

    def _answer(self, example: Example) -> Answer:
        label = self.labels[len(example.words) % 2]
        start, end = example.aspect_chars
        return Answer(label, {label: 0.75, "neutral": 0.25}, example.aspect_text, start, end)


def score(source: Path, target: Path, **options: Any) -> Summary:
    return predict_file(cast(Classifier, ByLength()), source, target, **options)


ROWS: list[dict[str, Any]] = [
    {"text": "a good screen", "aspect": "screen", "note": "é", "id": 7},
    {"text": "screen", "aspect": "screen", "label": "neutral"},
    {"text": "so good", "aspect": "good", "from": 3, "to": 7},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_row_keeps_its_place_and_its_fields(source: Path, tmp_path: Path) -> None:
    summary = score(source, tmp_path / "out.jsonl")
    negative, positive = ({label: 0.75, "neutral": 0.25} for label in ("negative", "positive"))
    assert rows_of(tmp_path / "out.jsonl") == [
        ROWS[0] | {"label": "negative", "probabilities": negative},
        {"text": "screen", "aspect": "screen", "gold": "neutral", "label": "negative", "probabilities": negative},
        ROWS[2] | {"label": "positive", "probabilities": positive},
    ]
    assert summary == Summary(3, {"positive": 1, "negative": 2, "neutral": 0}, ambiguous=0)


def test_a_table_keeps_its_columns_and_has_one_for_each_probability(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('text,aspect,label,note\n"good, screen",screen,positive,"a ""b"""\nscreen,screen,neutral,\n')
    score(source, target)
    with target.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    shares = ["probability_positive", "probability_negative", "probability_neutral"]
    assert list(rows[0]) == ["text", "aspect", "gold", "note", "label", *shares]
    assert (rows[0]["text"], rows[0]["gold"], rows[0]["note"]) == ("good, screen", "positive", 'a "b"')
    assert [rows[0][name] for name in shares] == ["", "0.75", "0.25"]  # this classifier says nothing of the first
    assert [row["label"] for row in rows] == ["negative", "negative"]


def test_a_table_cannot_hold_a_field_that_its_first_row_has_not(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the first does not have; write JSON Lines instead of CSV"):
        score(source, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_large_file_is_scored_in_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.bulk.job._FILE_WINDOW_ROWS", 4)
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = ["so " * (number % 3) + f"screen {number}" for number in range(10)]
    source.write_text("".join(json.dumps({"text": text, "aspect": "screen"}) + "\n" for text in texts))
    classifier = ByLength()
    predict_file(cast(Classifier, classifier), source, target)
    assert sorted(classifier.asked) == [2, 4, 4]  # by several threads, so in any order
    assert [row["text"] for row in rows_of(target)] == texts


def test_an_aspect_that_occurs_twice_is_taken_at_its_first_place_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("text,aspect\nscreen or screen,screen\nscreen,screen\n")
    assert score(source, tmp_path / "out.jsonl").ambiguous == 1


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_text('\n{"text": "screen", "aspect": "screen"}\n')
    assert score(source, tmp_path / "out.jsonl", format="json_lines").rows == 1


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"text": "a screen", "aspect": "menu"}', "line 4: aspect 'menu' is not in the text"),
        ('{"text": "a screen"}', "line 4: "),
        ('{"text": "a screen", ', "line 4: is no JSON"),
        ('{"text": "a screen", "aspect": "screen", "from": 2, "to": 99}', "line 4: "),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_leaves_nothing(source: Path, tmp_path: Path, line: str, what: str) -> None:
    with source.open("a") as handle:
        handle.write(line + "\n")
    with pytest.raises(InputError, match=rf"in\.jsonl, {what}"):
        score(source, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == [source]


def test_a_failure_leaves_an_older_output_as_it_was(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("older\n")
    source.write_text("nonsense\n")
    with pytest.raises(InputError, match="line 1"):
        score(source, target)
    assert target.read_text() == "older\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_an_unfinished_job_is_not_lost(source: Path, tmp_path: Path) -> None:
    unfinished = PartialOutput(tmp_path / "out.jsonl", tmp_path / "bad.jsonl", OutputFormat("json_lines"))
    with suppress(KeyboardInterrupt), unfinished.opened({}):
        unfinished.append(Result((0, 1), 9, (), b"{}\n", summary=Summary(1, {"positive": 1})))
        raise KeyboardInterrupt
    before = sorted(unfinished.folder.iterdir())
    with pytest.raises(InputError, match=r"out\.jsonl\.part holds an unfinished job"):
        score(source, tmp_path / "out.jsonl")
    assert sorted(unfinished.folder.iterdir()) == before


def test_the_source_is_not_taken_for_the_file_of_rejected_rows(source: Path, tmp_path: Path) -> None:
    side = source.rename(tmp_path / "out.jsonl.rejected.jsonl")
    with pytest.raises(InputError, match="is both an input and the file of rejected rows"):
        score(side, tmp_path / "out.jsonl")
    assert side.exists()


@pytest.mark.parametrize("name", ["out.xml", "out"])
def test_an_output_of_another_format_is_refused(source: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is neither JSON Lines, CSV nor Parquet; let its name end in"):
        score(source, tmp_path / name)


def test_an_output_in_a_folder_that_does_not_exist_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: .*nowhere does not exist"):
        score(source, tmp_path / "nowhere" / "out.jsonl")
