"""Answers of the starter to fixed texts, by every way to ask: the same labels and probabilities as recorded.

`fixtures/answers.json` was recorded before the ways to ask became one. To record it again, which a change of the shipped model or
of the rule of context needs: `python -m tests.test_answers`.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import pssa
from pssa.cli import main
from pssa.predict import Job, LocalEngine, predict
from pssa.runs.run_names import starter_run
from pssa.serve.app import create_app
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits

RECORDED = Path(__file__).parent / "fixtures" / "answers.json"
TEXTS = (
    "The soup was cold.",
    "Great view, but the waiter was rude.",
    "The screen is huge but the battery dies within an hour. I love the keyboard, though!",
    "The food was great. We waited an hour for the dessert, and the staff did not care. The wine list is fine.",
    "Nothing special, but the pasta was not bad at all; service could be faster.",
    "I would never go back to this place: the manager shouted at us, and the soup was COLD!!!",
    "Staff friendly, rooms clean, breakfast awful.",
    "Lovely little place.",
    "Best vacuum ever!",
    "Das Essen war hervorragend.",
    "   ",
    "The “tasting menu” – six courses – was worth every cent… the décor wasn't. 😀",
    "The battery, the battery and again the battery: it is the worst part of this laptop.",
    "We came for the music and stayed for the beer. " * 7,
)
NAMED = (
    ("The soup was cold.", "soup"),
    ("Great view, but the waiter was rude.", "waiter"),
    ("Great view, but the waiter was rude.", "view"),
    ("The food was great. We waited an hour for the dessert, and the staff did not care.", "staff"),
    ("The food was great. We waited an hour for the dessert, and the staff did not care.", "food"),
    ("The screen is huge but the battery dies within an hour. I love the keyboard, though!", "keyboard"),
    ("The “tasting menu” – six courses – was worth every cent… the décor wasn't. 😀", "décor"),
)
Found = list[Any]  # aspect, start, end, label and probabilities


def _plain(answer: dict[str, Any]) -> Found:
    shares = [round(value, 5) for _, value in sorted(answer["probabilities"].items())]
    return [answer["aspect"], answer["from"], answer["to"], answer["label"], shares]


def by_try(texts: Sequence[str]) -> list[list[Found]]:
    """`pssa try`, which passes over blank texts."""
    told = io.StringIO()
    with redirect_stdout(told):
        assert main(["try", "--json", *texts]) == 0
    found = iter(json.loads(told.getvalue())["items"])
    return [[_plain(each) for each in next(found)["aspects"]] if text.strip() else [] for text in texts]


def by_list(texts: Sequence[str]) -> list[list[Found]]:
    """A list of texts in Python."""
    return [[_plain(each.as_dict()) for each in inside] for inside in pssa.load("starter").predict(list(texts))]


def by_text(texts: Sequence[str]) -> list[list[Found]]:
    """One text after the other."""
    judge = pssa.load("starter")
    return [[_plain(each.as_dict()) for each in judge.predict(text)] for text in texts]


def by_records(texts: Sequence[str]) -> list[list[Found]]:
    """A table in Python."""
    rows = pssa.load("starter").predict([{"number": number, "text": text} for number, text in enumerate(texts)])
    found: list[list[Found]] = [[] for _ in texts]
    for row in rows:
        if row["aspect"] is not None:
            probabilities = {
                name.removeprefix("probability_"): row[name] for name in row if name.startswith("probability_")
            }
            found[row["number"]].append(_plain(row | {"probabilities": probabilities}))
    return found


def by_files(texts: Sequence[str]) -> list[list[Found]]:
    """`pssa predict` of a file."""
    found: list[list[Found]] = [[] for _ in texts]
    for row in _labelled_file([{"number": number, "text": text} for number, text in enumerate(texts)]):
        found[row["number"]].append(_plain(row))
    return found


def _labelled_file(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name, "in.jsonl"), Path(name, "out.jsonl")
        source.write_text("\n".join(map(json.dumps, rows)))
        predict(Job(starter_run(), (str(source),), str(target)), LocalEngine())
        return [json.loads(line) for line in target.read_text().splitlines()]


def by_service(texts: Sequence[str]) -> list[list[Found]]:
    """`POST /v1/predict`; a text of white space is an error there."""
    with TestClient(create_app(open_batcher([starter_run()], Limits())), base_url="http://localhost") as client:
        items = [client.post("/v1/predict", json={"items": [{"text": text}]}) for text in texts]
    return [
        [_plain(each) for each in item.json()["items"][0]["aspects"]] if item.status_code == 200 else []
        for item in items
    ]


def named_in_python(pairs: Sequence[tuple[str, str]]) -> list[Found]:
    """A list of texts and aspects."""
    return [_plain(answer.as_dict()) for answer in pssa.load("starter").predict(list(pairs))]


def named_by_service(pairs: Sequence[tuple[str, str]]) -> list[Found]:
    """`POST /v1/predict` with aspects."""
    with TestClient(create_app(open_batcher([starter_run()], Limits())), base_url="http://localhost") as client:
        asked = {"items": [{"text": text, "aspects": [aspect]} for text, aspect in pairs]}
        items = client.post("/v1/predict", json=asked).json()["items"]
    return [_plain(item["aspects"][0]) for item in items]


def named_in_files(pairs: Sequence[tuple[str, str]]) -> list[Found]:
    """`pssa predict` of a file with aspects."""
    return [_plain(row) for row in _labelled_file([{"text": text, "aspect": aspect} for text, aspect in pairs])]


WAYS = (by_try, by_text, by_list, by_records, by_files, by_service)
NAMED_WAYS = (named_in_python, named_by_service, named_in_files)


def record() -> dict[str, Any]:
    """Return the answers of the first way to ask, to be compared with all."""
    return {"found": by_list(TEXTS), "named": named_in_python(NAMED)}


@pytest.mark.parametrize("way", WAYS)
def test_found_aspects_are_answered_alike(way: Any) -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))["found"]
    assert_alike(way(TEXTS), recorded)


@pytest.mark.parametrize("way", NAMED_WAYS)
def test_named_aspects_are_answered_alike(way: Any) -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))["named"]
    assert_alike([way(NAMED)], [recorded])


def assert_alike(found: list[list[Found]], recorded: list[list[Found]]) -> None:
    assert [[each[:4] for each in inside] for inside in found] == [[each[:4] for each in inside] for inside in recorded]
    for ours, theirs in zip(found, recorded, strict=True):
        for mine, known in zip(ours, theirs, strict=True):
            assert mine[4] == pytest.approx(known[4], abs=1e-4)


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(record(), ensure_ascii=False) + "\n", "utf-8")
    sys.stdout.write(f"{RECORDED}\n")
