"""The review over HTTP: strict requests, one shape of refusal, versions that keep two pages apart."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serve.recorder import batcher_of
from tests.serve.review_toys import HUGE, write_files

from pssa.serve.app import create_app
from pssa.serve.limits import Limits
from pssa.serve.review.routes import Json, SentenceFilter, sentence_page
from pssa.serve.review.session import Review


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    review = Review.open(write_files(tmp_path), tmp_path / "train.jsonl", tmp_path / "second.jsonl")
    yield review
    review.close()


@pytest.fixture
def client(review: Review) -> TestClient:
    return TestClient(create_app(batcher_of(Limits()), review=review, pages={}))


def _change(index: int, version: int, action: str, word: int) -> dict[str, Any]:
    return {"index": index, "version": version, "action": action, "word": word}


def test_a_sentence_has_its_words_with_all_that_is_known_of_them(client: TestClient) -> None:
    found = client.get("/v1/evidence/sentences/0").json()
    words = found.pop("words")
    assert found == {"index": 0, "id": "1", "label": "positive", "version": 0, "changed": False, "disagrees": True}
    assert [word["word"] for word in words] == ["Huge", "menu", "but", "slow"]
    finding = {key: value for key, value in asdict(HUGE).items() if key != "word"}
    huge = {"word": "Huge", "from": 0, "to": 4, "aspect": False}
    assert words[0] == huge | {"finding": finding, "mined": finding, "second": "misleading"}
    menu = {"word": "menu", "from": 5, "to": 9, "aspect": True}
    assert words[1] == menu | dict.fromkeys(("finding", "mined", "second"))


def test_sentences_come_by_filter_and_page(client: TestClient) -> None:
    found = client.get("/v1/evidence/sentences", params={"label": "negative", "limit": 1}).json()
    assert [sentence["id"] for sentence in found["sentences"]] == ["2"]
    assert (found["selected"], found["before"], found["previous"], found["next"]) == (2, 0, None, 2)
    found = client.get("/v1/evidence/sentences", params={"word": "huge", "kind": "active", "iteration": 1}).json()
    assert [sentence["id"] for sentence in found["sentences"]] == ["1"]
    found = client.get("/v1/evidence/sentences", params={"only": "disagreements"}).json()
    assert found["selected"] == 1


def test_a_change_answers_with_the_sentence_and_what_can_be_undone(client: TestClient) -> None:
    answer = client.post("/v1/evidence/changes", json=_change(0, 0, "flip", 0)).json()
    word = answer["sentence"]["words"][0]
    assert (word["finding"]["kind"], word["mined"]["kind"]) == ("misleading", "active")
    assert [answer["sentence"][name] for name in ("version", "changed", "disagrees")] == [1, True, False]
    undo = {"number": 1, "action": "flip", "index": 0, "example": "1", "word": 0, "text": "Huge"}
    assert answer["totals"] == {"active": 0, "misleading": 3, "changes": 1, "undo": undo}
    answer = client.post("/v1/evidence/undo", json={"number": 1}).json()
    assert answer["totals"] == {"active": 1, "misleading": 2, "changes": 0, "undo": None}


def test_of_two_pages_the_second_to_come_is_told_to_look_again(client: TestClient) -> None:
    version = client.get("/v1/evidence/sentences/0").json()["version"]
    assert client.post("/v1/evidence/changes", json=_change(0, version, "drop", 0)).status_code == 200
    late = client.post("/v1/evidence/changes", json=_change(0, version, "flip", 0))
    assert (late.status_code, late.json()["error"]["code"]) == (409, "stale")
    again = client.get("/v1/evidence/sentences/0").json()["version"]
    assert client.post("/v1/evidence/changes", json=_change(0, again, "active", 0)).status_code == 200


def test_stats_say_what_is_reviewed(client: TestClient, tmp_path: Path) -> None:
    found = client.get("/v1/evidence/stats").json()
    assert found == {
        "evidence": str(tmp_path / "evidence.jsonl"),
        "log": str(tmp_path / "evidence.jsonl.review.jsonl"),
        "corpus": str(tmp_path / "train.jsonl"),
        "second": str(tmp_path / "second.jsonl"),
        "note": "",
        "model": "memnet",
        "method": "pg-as",
        "saliency": "gradient",
        "iterations": 5,
        "labels": {"negative": 2, "positive": 1},
        "sentences": 3,
        "changed": 0,
        "totals": {"active": 1, "misleading": 2, "changes": 0, "undo": None},
        "active_words": [{"word": "huge", "count": 1}],
        "misleading_words": [{"word": "huge", "count": 1}, {"word": "slow", "count": 1}],
    }


def test_an_export_says_where_it_is_and_how_to_train_with_it(client: TestClient, tmp_path: Path) -> None:
    client.post("/v1/evidence/changes", json=_change(0, 0, "drop", 0))
    answer = client.post("/v1/evidence/export").json()
    assert answer["file"] == str(tmp_path / "evidence.reviewed-1.jsonl")
    assert Path(answer["file"]).is_file()
    assert answer["edits"][1:] == ["review drop 'Huge', word 0 of 1: 1 changed"]
    assert answer["command"].endswith("--out RUN")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (_change(9, 0, "drop", 0), 404, "missing"),
        (_change(0, 0, "active", 1), 409, "refused"),
        (_change(0, 5, "drop", 0), 409, "stale"),
        (_change(0, 0, "burn", 0), 422, "unusable"),
        (_change(-1, 0, "drop", 0), 422, "unusable"),
        (_change(0, 0, "drop", 0) | {"word": "0"}, 422, "unusable"),
        (_change(0, 0, "drop", 0) | {"word": True}, 422, "unusable"),
        (_change(0, 0, "drop", 0) | {"path": "/etc"}, 422, "unusable"),
        ({"index": 0}, 422, "unusable"),
    ],
)
def test_a_refusal_has_one_shape(client: TestClient, body: dict[str, Any], status: int, code: str) -> None:
    answer = client.post("/v1/evidence/changes", json=body)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].keys() == {"code", "message", "example"}
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "start=-1", "iteration=0", "kind=good", "where=here", "page=2"]
)
def test_a_query_is_read_strictly(client: TestClient, query: str) -> None:
    answer = client.get(f"/v1/evidence/sentences?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unusable")


def test_undo_with_nothing_to_undo_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/evidence/undo", json={"number": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "refused")
    assert answer.json()["error"]["message"] == "there is nothing to undo"


def test_a_full_disk_is_the_service_s_fault(
    client: TestClient, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    answer = client.post("/v1/evidence/changes", json=_change(0, 0, "drop", 0))
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unwritable")
    assert not review.sentence(0).is_changed


def _places(page: Json) -> list[int]:
    return [sentence["index"] for sentence in page["sentences"]]


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (SentenceFilter(), [0, 1, 2]),
        (SentenceFilter(word="HUGE"), [0, 1]),
        (SentenceFilter(word=" huge ", kind="active"), [0]),
        (SentenceFilter(word="huge", kind="misleading"), [1]),
        (SentenceFilter(word="menu"), []),
        (SentenceFilter(word="menu", where="sentence"), [0]),
        (SentenceFilter(word="hug", where="sentence"), []),
        (SentenceFilter(kind="active"), [0]),
        (SentenceFilter(kind="misleading"), [0, 1]),
        (SentenceFilter(kind="none"), [2]),
        (SentenceFilter(kind="none", word="huge"), []),
        (SentenceFilter(kind="none", word="soup", where="sentence"), [2]),
        (SentenceFilter(kind="none", iteration=1), []),
        (SentenceFilter(iteration=1), [0, 1]),
        (SentenceFilter(iteration=2), [0]),
        (SentenceFilter(iteration=2, kind="active"), []),  # of one and the same finding
        (SentenceFilter(iteration=5), []),
        (SentenceFilter(label="negative"), [1, 2]),
        (SentenceFilter(label="negative", word="huge"), [1]),
        (SentenceFilter(only="disagreements"), [0]),
        (SentenceFilter(only="changed"), []),
    ],
)
def test_a_filter_chooses_sentences(review: Review, query: SentenceFilter, places: list[int]) -> None:
    page = sentence_page(review, query)
    assert _places(page) == places
    assert page["selected"] == len(places)


def test_changed_sentences_can_be_asked_for(review: Review) -> None:
    review.change(2, 0, "active", 3)
    assert _places(sentence_page(review, SentenceFilter(only="changed"))) == [2]
    review.undo(1)
    assert _places(sentence_page(review, SentenceFilter(only="changed"))) == []


def test_pages_go_forward_and_back(review: Review) -> None:
    first = sentence_page(review, SentenceFilter(limit=2))
    assert (_places(first), first["before"], first["previous"], first["next"]) == ([0, 1], 0, None, 2)
    last = sentence_page(review, SentenceFilter(start=2, limit=2))
    assert (_places(last), last["before"], last["previous"], last["next"]) == ([2], 2, 0, None)
    beyond = sentence_page(review, SentenceFilter(start=99, limit=2))
    assert (_places(beyond), beyond["before"], beyond["previous"], beyond["next"]) == ([], 3, 1, None)


def test_the_next_page_skips_nothing_when_sentences_leave_the_selection(review: Review) -> None:
    page = sentence_page(review, SentenceFilter(kind="misleading", limit=1))
    assert (_places(page), page["next"]) == ([0], 1)
    review.change(0, 0, "flip", 3)
    assert _places(sentence_page(review, SentenceFilter(kind="misleading", start=page["next"], limit=1))) == [1]


def test_a_word_is_dropped_everywhere_and_can_be_taken_back(client: TestClient, review: Review) -> None:
    def findings() -> list[tuple[str, str]]:
        return [
            (sentence.original.words[finding.word].casefold(), finding.kind)
            for sentence in review.sentences
            for finding in sentence.example.findings
        ]

    before = findings()
    word, kind = before[0]
    answer = client.post("/v1/evidence/drops", json={"text": word.upper(), "kind": kind}).json()
    assert answer["dropped"] == before.count((word, kind))
    assert findings() == [each for each in before if each != (word, kind)]
    for number in range(answer["totals"]["undo"]["number"], answer["first"] - 1, -1):
        assert client.post("/v1/evidence/undo", json={"number": number}).status_code == 200
    assert sorted(findings()) == sorted(before)
    again = client.post("/v1/evidence/drops", json={"text": "nowhere", "kind": kind})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "refused")
