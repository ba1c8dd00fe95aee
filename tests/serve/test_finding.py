"""Items without aspects: they are found, judged in their sentences, and counted where there are too many."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serve.conftest import Folders
from tests.serve.recorder import until

from pssa.aspects import NameFinder
from pssa.data.tokenize import Span
from pssa.runs import Classifier
from pssa.runs.answers import Question
from pssa.runs.loading import RuntimeFinder
from pssa.runs.run_names import starter_run
from pssa.serve import batcher
from pssa.serve.app import create_app
from pssa.serve.batcher import AskedAspect, PendingRequest, open_batcher
from pssa.serve.limits import Limits

REVIEW = "😀 We came in May. The screen is huge! I hate the battery."


class Slow:
    """A finder that takes its time."""

    def find_in_sentences(self, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        time.sleep(1.5)
        return [() for _ in sentences]


@pytest.fixture(scope="module")
def finding(folders: Folders) -> Iterator[TestClient]:
    """A service that finds two names."""
    limits = Limits(aspects=3)
    batcher = open_batcher([folders.first], limits)
    batcher.finder = NameFinder(("screen", "battery"))
    with TestClient(create_app(batcher), base_url="http://localhost") as client:
        yield client


def test_aspects_are_found_and_judged_in_their_sentences(finding: TestClient, classifier: Classifier) -> None:
    body = {"items": [{"text": REVIEW}, {"text": "A keyboard.", "aspects": ["keyboard"]}, {"text": " "}]}
    answer = finding.post("/v1/predict", json=body)
    assert answer.status_code == 200, answer.text
    first, given, blank = (item["aspects"] for item in answer.json()["items"])
    assert [(each["aspect"], REVIEW[each["from"] : each["to"]]) for each in first] == [
        ("screen", "screen"),
        ("battery", "battery"),
    ]
    alone = classifier.predict("The screen is huge!", "screen")
    assert first[0]["probabilities"] == pytest.approx(alone.probabilities, abs=1e-5)
    assert [each["aspect"] for each in given] == ["keyboard"]
    assert blank == []
    assert finding.get("/v1/model").json()["finds_aspects"]


def test_words_of_an_explanation_have_the_offsets_of_the_review(finding: TestClient) -> None:
    for item in ({"text": REVIEW}, {"text": REVIEW, "aspects": ["screen"]}):
        answer = finding.post("/v1/explain", json={"items": [item]}).json()["items"][0]["aspects"][0]
        assert [word["word"] for word in answer["words"]] == ["The", "screen", "is", "huge", "!"]
        assert all(REVIEW[word["from"] : word["to"]] == word["word"] for word in answer["words"])


def test_an_aspect_across_two_sentences_is_judged_in_the_whole_text(finding: TestClient) -> None:
    item = {"text": REVIEW, "aspects": [{"from": 14, "to": 28}]}
    answer = finding.post("/v1/explain", json={"items": [item]}).json()["items"][0]["aspects"][0]
    assert (answer["from"], answer["to"]) == (14, 28)
    assert answer["words"][0]["from"] == 0


def test_aspects_beyond_the_limit_are_counted(finding: TestClient) -> None:
    item = finding.post("/v1/predict", json={"items": [{"text": "screen, battery, " * 4}]}).json()["items"][0]
    assert (len(item["aspects"]), item["left_out"]) == (3, 5)


def test_a_service_without_tagger_says_so(client: TestClient) -> None:
    answer = client.post("/v1/predict", json={"items": [{"text": REVIEW}]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_tagger")
    assert "--aspects-from" in answer.json()["error"]["message"]
    assert not client.get("/v1/model").json()["finds_aspects"]


def test_the_schema_asks_for_aspects_unless_they_are_found(finding: TestClient, client: TestClient) -> None:
    needed = [
        service.get("/openapi.json").json()["components"]["schemas"]["Item"]["required"]
        for service in (finding, client)
    ]
    assert needed == [["text"], ["text", "aspects"]]


def test_a_short_text_is_read_before_the_rest_of_a_long_one(
    finding: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def find(self: NameFinder, sentences: Sequence[str]) -> list[tuple[Span, ...]]:
        read.extend(sentences)
        time.sleep(0.02)  # as long as a turn
        return [() for _ in sentences]

    monkeypatch.setattr(NameFinder, "find_in_sentences", find)
    long = {"items": [{"text": "The food was good there. " * 700}] * 4}
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(finding.post, "/v1/predict", json=long)
        until(lambda: bool(read))
        assert finding.post("/v1/predict", json={"text": "A screen."}).json() == {"items": [{"aspects": []}]}
        n_before = read.index("A screen.")
        assert asked.result().status_code == 200
    assert n_before < len(read) / 2


@pytest.mark.slow
def test_finding_that_takes_too_long_is_refused(folders: Folders) -> None:
    batcher = open_batcher([folders.first], Limits(request_seconds=1))
    batcher.finder = Slow()
    with TestClient(create_app(batcher), base_url="http://localhost") as client:
        answer = client.post("/v1/predict", json={"items": [{"text": "A. B."}]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_long")


def test_a_table_of_texts_gets_a_row_for_each_aspect(finding: TestClient, classifier: Classifier) -> None:
    table = f'id,text\n1,"{REVIEW}"\n2,Nothing here.\n3,"screen, screen, screen, screen"\n'
    answer = finding.post("/v1/csv", content=table.encode(), headers={"Content-Type": "text/csv"})
    assert answer.status_code == 200, answer.text
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["id"], row["aspect"], row["error"] or row["warning"]) for row in rows] == [
        ("1", "screen", ""),
        ("1", "battery", ""),
        ("2", "", "no aspect was found in the text"),
        *[("3", "screen", "")] * 3,
        ("3", "", "1 more aspects of the text are left out"),
    ]
    assert REVIEW[int(rows[0]["from"]) : int(rows[0]["to"])] == "screen"
    assert rows[0]["label"] == classifier.predict("The screen is huge!", "screen").label


def test_in_a_table_with_aspects_those_that_are_blank_are_found(finding: TestClient) -> None:
    table = "text,aspect\nA keyboard.,keyboard\nMy screen.,\n"
    answer = finding.post("/v1/csv", content=table.encode(), headers={"Content-Type": "text/csv"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["aspect"] for row in rows] == ["keyboard", "screen"]
    assert "from" not in rows[0]
    assert all(row["label"] for row in rows)


def test_a_tagger_that_is_named_is_loaded_instead_of_the_one_of_the_run(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Path] = []

    def load_finder(path: Path, device: str) -> NameFinder:
        loaded.append(path)
        return NameFinder(("screen",))

    monkeypatch.setattr(batcher, "finds_aspects", lambda run: True)
    monkeypatch.setattr(batcher, "open_finder", load_finder)
    for tagger in (Path("elsewhere"), None):
        open_batcher([folders.first, folders.versus], Limits(), tagger=tagger).close()
    assert loaded == [Path("elsewhere"), folders.first]


@pytest.mark.parametrize("place", ["first", "versus"])
def test_a_run_that_finds_and_labels_is_loaded_once(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(batcher, "open_finder", None)
    served = [starter_run(), folders.first] if place == "first" else [folders.first, starter_run()]
    service = open_batcher(served, Limits())
    assert isinstance(service.finder, RuntimeFinder)
    service.close()


@pytest.mark.slow
def test_a_long_text_of_a_run_that_finds_lets_short_ones_in() -> None:
    service = open_batcher([starter_run()], Limits())
    done: list[str] = []

    def ask(name: str, text: str) -> PendingRequest:
        request = PendingRequest([AskedAspect(Question(text), len(text.split()))])
        request.future.add_done_callback(lambda _: done.append(name))
        return service.submit(request)

    long = ask("long", "The food was good, the wine was not. " * 400)
    until(lambda: service.n_waiting == 0)  # it is being read
    short = ask("short", "The screen is huge.")
    assert "screen" in {each["aspect"] for each in short.future.result(60)[0]["found"]}
    assert {"food", "wine"} <= {each["aspect"] for each in long.future.result(60)[0]["found"]}
    assert done == ["short", "long"]
    service.close()
