"""The routes, their description and the pages: what is asked, what comes back, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.serve.conftest import Folders, Start
from tests.serve.live import serving

import pssa
from pssa.runs import Classifier
from pssa.serve.access import AccessPolicy
from pssa.serve.app import create_app, page_folders, read_pages
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits

TEXT = "The screen is huge and bright, but the battery dies within an hour."
JSON = {"Content-Type": "application/json"}


def item(text: str, *aspects: Any) -> dict[str, Any]:
    return {"text": text, "aspects": list(aspects)}


def answers(client: TestClient, *items: dict[str, Any], **more: Any) -> list[list[dict[str, Any]]]:
    answer = client.post("/v1/predict", json={"items": items, **more})
    assert answer.status_code == 200, answer.text
    return [one["aspects"] for one in answer.json()["items"]]


def refusal(client: TestClient, path: str, body: Any) -> tuple[int, str]:
    answer = client.post(path, content=json.dumps(body), headers=JSON)
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "example"} - ({"example"} if answer.status_code >= 500 else set())
    return answer.status_code, error["code"]


def test_aspects_are_answered_as_the_classifier_answers_them(client: TestClient, classifier: Classifier) -> None:
    [[screen, battery], [keys]] = answers(
        client, item(TEXT, "screen", {"from": 39, "to": 46}), item("No keys.", "keys")
    )
    expected = [
        classifier.predict(TEXT, "screen"),
        classifier.predict(TEXT, "battery"),
        classifier.predict("No keys.", "keys"),
    ]
    for found, answer in zip((screen, battery, keys), expected, strict=True):
        wanted = answer.as_dict()
        assert found.pop("probabilities") == pytest.approx(wanted.pop("probabilities"), abs=1e-5)
        assert found == wanted


def test_what_cannot_be_answered_is_an_error_in_its_place(client: TestClient) -> None:
    [found] = answers(client, item(TEXT, "screen", "keyboard", {"from": 60, "to": 90}, "battery"))
    assert [sorted(one) for one in found[1:3]] == [["error"], ["error"]]
    assert "keyboard" in found[1]["error"]
    assert [one.get("aspect") for one in found] == ["screen", None, None, "battery"]


def test_an_aspect_that_occurs_twice_comes_with_a_warning(client: TestClient) -> None:
    [[found, sure]] = answers(client, item("keys and keys", "keys", {"from": 9, "to": 13}))
    assert (found["from"], found["to"]) == (0, 4)
    assert found["warning"] == "aspect 'keys' occurs 2 times; the first is taken"
    assert (sure["from"], "warning" in sure) == (9, False)


def test_a_run_that_is_not_served_is_refused(start: Start) -> None:
    client = start()
    for path in ("/v1/predict", "/v1/explain"):
        assert refusal(client, path, {"items": [], "run": "versus"}) == (422, "unusable")
    answer = client.post("/v1/csv?run=versus", content="text,aspect\n", headers={"Content-Type": "text/csv"})
    assert answer.status_code == 422


@pytest.mark.parametrize("saliency", ["attention", "gradient", "leave_one_out", "random", "integrated_gradients"])
def test_an_explanation_has_every_word_with_its_share(client: TestClient, saliency: str) -> None:
    answer = client.post("/v1/explain", json={"items": [item(TEXT, "screen")], "saliency": saliency})
    [found] = answer.json()["items"][0]["aspects"]
    words = found["words"]
    assert found["saliency"] == saliency
    assert "".join(word["word"] for word in words) == TEXT.replace(" ", "")
    assert all(TEXT[word["from"] : word["to"]] == word["word"] for word in words)
    assert sum(word["share"] for word in words) == pytest.approx(1, abs=1e-4)
    assert words[1] == {"word": "screen", "from": 4, "to": 10, "share": 0.0}


def test_a_saliency_that_says_nothing_of_the_model_is_refused(client: TestClient) -> None:
    codes = {("versus", "attention"): "no_such_saliency", ("first", "nothing"): "unusable", ("first", ""): "unusable"}
    for (run, saliency), code in codes.items():
        body = {"items": [item(TEXT, "screen")], "run": run, "saliency": saliency}
        assert refusal(client, "/v1/explain", body) == (422, code)


def test_a_text_too_long_to_be_explained_is_an_error_in_its_place(client: TestClient) -> None:
    body = {"items": [item("x " * 130, "x"), item(TEXT, "screen")], "saliency": "leave_one_out"}
    [[long], [short]] = [one["aspects"] for one in client.post("/v1/explain", json=body).json()["items"]]
    assert "at most 128" in long["error"]
    assert short["saliency"] == "leave_one_out"


def test_a_text_that_is_all_aspect_has_no_shares(client: TestClient) -> None:
    [found] = client.post("/v1/explain", json={"items": [item("screen", "screen")]}).json()["items"][0]["aspects"]
    assert [word["share"] for word in found["words"]] == [0.0]


def test_the_model_says_what_it_is_and_what_it_takes(client: TestClient, classifier: Classifier) -> None:
    found = client.get("/v1/model").json()
    assert found["runs"]["first"] == {
        "name": "first",
        "model": "memnet",
        "labels": ["positive", "negative", "neutral"],
        "saliencies": list(classifier.saliencies),
        "members": 1,
    }
    assert found["runs"]["versus"]["model"] == "tnet"
    assert found["limits"] == asdict(Limits())
    assert (found["evidence"], found["version"]) == (False, pssa.__version__)


BREAK_THE_SCHEMA: list[Any] = [
    *({"items": [item("text", aspect)]} for aspect in (False, 4, None, {"from": 0}, {"start": 0, "end": 4})),
    *({"items": [item("text", {"from": start, "to": 4})]} for start in (False, "0", 0.5, -1)),
    {"items": [item("text", {"from": 0, "to": 10**30})]},
    {"items": [item("text", {"from": 0, "to": 4, "ordinal": 1})]},
    {"items": [{"text": "text", "aspects": None}]},
    {"items": [{"text": 5, "aspects": []}]},
    {"items": [{"text": "text", "aspects": [], "more": 1}]},
    {"items": {}},
    *({"items": [], "run": run} for run in ("third", None)),
    {"items": [], "model": "/etc/passwd"},
    *({"item": []}, [], None, 5, "text"),
]
EMPTY = b'{"items": []}'
REFUSED: list[tuple[int, str, bytes, dict[str, str]]] = [
    # no JSON
    *((400, "bad_json", body, JSON) for body in (b"{", b"\xff\xfe", b'{"items": [}', b"[" * 5000, b"\x00")),
    (400, "bad_json", b'{"items": ' * 5000, JSON),
    # UTF-16 and UTF-32, which Python's parser would take
    *(
        (400, "bad_json", content.encode(encoding), {"Content-Type": media_type})
        for content in ('{"text": "the screen", "aspects": ["screen"]}', '{"items": []}')
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")
        for media_type in ("application/json", "Application/JSON")
    ),
    # no body, and half a surrogate pair
    (422, "unusable", b"", JSON),
    (422, "unusable", b'{"items": [{"text": "\\ud800", "aspects": []}]}', JSON),
    (422, "unusable", b'{"items": [{"text": "\xed\xa0\x80", "aspects": []}]}', JSON),
    (422, "unusable", b'{"items": [], "\\ud800": 1}', JSON),
    # other types and encodings
    *(
        (415, "wrong_type", EMPTY, {"Content-Type": given})
        for given in ("text/plain", "", "application/json; charset=utf-16", "application/jsonp", "text/csv")
    ),
    (415, "wrong_type", b"x", JSON | {"Content-Encoding": "gzip"}),
    *((422, "unusable", json.dumps(body).encode(), JSON) for body in BREAK_THE_SCHEMA),
]


@pytest.mark.parametrize(("status", "code", "body", "headers"), REFUSED)
def test_odd_bodies_are_refused(
    client: TestClient, status: int, code: str, body: bytes, headers: dict[str, str]
) -> None:
    answer = client.post("/v1/predict", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert "curl" in answer.json()["error"]["example"]


def test_a_whole_number_may_be_written_with_a_point(client: TestClient) -> None:
    [[found]] = answers(client, item("The screen", {"from": 4.0, "to": 10.0}))
    assert (found["from"], found["to"]) == (4, 10)


@pytest.mark.parametrize(
    "body",
    [
        {f"key {number}": 1 for number in range(50_000)},
        {"items": [{f"key {number}": 1 for number in range(50_000)}]},
        {"items": [item("a", {f"key {number}": 1 for number in range(50_000)})]},
        {"items": [5] * 300_000},
        {"items": [item("a", *[5] * 300_000)]},
    ],
)
def test_of_many_faults_few_are_reported_and_soon(client: TestClient, body: dict[str, Any]) -> None:
    began = time.process_time()
    answer = client.post("/v1/predict", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unusable")
    assert len(answer.content) < 700
    assert time.process_time() - began < 5  # a small part of it; one error a fault would take longer


@pytest.mark.parametrize(
    "text", ["\0 screen \0", "screen\u2028\r\n", "\ufeffscreen", "screen \U0010ffff", "ﷺ screen", "ẞ screen İ"]
)
def test_odd_characters_are_scored(client: TestClient, text: str) -> None:
    for path in ("/v1/predict", "/v1/explain"):
        answer = client.post(path, json={"items": [item(text, "screen", "\0")]})
        assert answer.json()["items"][0]["aspects"][0]["aspect"] == "screen"


@pytest.mark.parametrize("given", ["application/json;charset=UTF-8", 'APPLICATION/JSON; charset="utf-8"'])
def test_the_type_may_name_the_encoding(client: TestClient, given: str) -> None:
    assert client.post("/v1/predict", content=b'{"items": []}', headers={"Content-Type": given}).status_code == 200


def test_wrong_methods_and_paths_are_refused_in_the_one_shape(client: TestClient) -> None:
    wrong = client.get("/v1/predict")
    assert (wrong.status_code, wrong.headers["allow"], wrong.json()["error"]["code"]) == (
        405,
        "POST",
        "method_not_allowed",
    )
    assert refusal(client, "/v1/predict/", {}) == (404, "not_found")


def test_sizes_are_limited(start: Start) -> None:
    client = start(items=2, aspects=2, characters=10)
    assert refusal(client, "/v1/predict", {"items": [item("a")] * 3}) == (422, "unusable")
    assert refusal(client, "/v1/predict", {"items": [item("a", "a", "a", "a")]}) == (422, "unusable")
    assert refusal(client, "/v1/explain", {"items": [item("a" * 11)]}) == (422, "unusable")
    assert refusal(client, "/v1/explain", {"items": [item("a", "a" * 11)]}) == (422, "unusable")
    assert len(answers(client, *[item("a" * 10, "a" * 10, "a")] * 2)) == 2


def test_a_service_that_closes_says_so(folders: Folders) -> None:
    batcher = open_batcher([folders.first], Limits())
    with TestClient(create_app(batcher, pages={})) as client:
        assert client.get("/readyz").json() == {"status": "ready"}
        batcher.closing = True
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["error"]["code"]) == (503, "closing")
        assert client.get("/healthz").json() == {"status": "alive"}
        assert refusal(client, "/v1/predict", {"items": []}) == (503, "closing")
    assert not batcher.is_alive


def test_a_service_whose_worker_has_ended_is_neither_ready_nor_alive(folders: Folders) -> None:
    batcher = open_batcher([folders.first], Limits())
    batcher.close()
    batcher.closing = False
    client = TestClient(create_app(batcher, pages={}))
    assert [client.get(path).json()["error"]["code"] for path in ("/healthz", "/readyz")] == ["dead", "dead"]
    assert refusal(client, "/v1/predict", {"items": [item("a", "a")]}) == (503, "overloaded")


def description(client: TestClient) -> Any:
    return client.get("/openapi.json").json()


def test_limits_are_part_of_the_schema(start: Start) -> None:
    schemas = description(start(items=3, aspects=2, characters=9))["components"]["schemas"]
    assert schemas["PredictRequest"]["properties"]["items"]["maxItems"] == 3
    item = schemas["Item"]["properties"]
    assert (item["text"]["maxLength"], item["aspects"]["maxItems"]) == (9, 2)
    assert item["aspects"]["items"]["oneOf"][0] == {"type": "string", "maxLength": 9}


def test_runs_and_saliencies_are_those_that_are_served(start: Start, client: TestClient) -> None:
    alone = description(start())
    explain = alone["components"]["schemas"]["ExplainRequest"]
    assert explain["properties"]["run"]["const"] == "first"
    assert "attention" in explain["properties"]["saliency"]["enum"]
    assert "if" not in explain
    assert alone["paths"]["/v1/csv"]["post"]["parameters"][0]["schema"]["const"] == "first"
    both = description(client)["components"]["schemas"]["ExplainRequest"]
    assert both["properties"]["run"]["enum"] == ["first", "versus"]
    assert "attention" in both["else"]["properties"]["saliency"]["enum"]
    assert "attention" not in both["then"]["properties"]["saliency"]["enum"]


def test_every_error_has_the_one_shape(client: TestClient) -> None:
    found = description(client)
    assert "HTTPValidationError" not in found["components"]["schemas"]
    for operations in found["paths"].values():
        for operation in operations.values():
            takes_body = {"413"} if "requestBody" in operation else set()
            assert set(operation["responses"]) == {"200", "default"} | takes_body
            for status in {"default"} | takes_body:
                assert operation["responses"][status]["$ref"] == "#/components/responses/Refused"
    schema = found["components"]["responses"]["Refused"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/ErrorResponse"}


def test_the_token_is_described_where_it_is_needed(start: Start) -> None:
    guarded = description(start(access=AccessPolicy("secret", frozenset({"localhost"}))))
    for path in ("/v1/model", "/metrics"):
        assert guarded["paths"][path]["get"]["security"] == [{"token": []}]
    assert guarded["paths"]["/v1/predict"]["post"]["security"] == [{"token": []}]
    assert guarded["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert "security" not in guarded["paths"]["/healthz"]["get"]
    assert "security" not in description(start())["paths"]["/v1/model"]["get"]


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/explain"])
def test_a_text_alone_is_a_request(client: TestClient, path: str) -> None:
    one = client.post(path, json=item(TEXT, "screen"))
    assert one.status_code == 200
    assert one.json() == client.post(path, json={"items": [item(TEXT, "screen")]}).json()
    answer = client.post(path, json={"text": 5})
    assert answer.json()["error"]["message"].startswith("text: Input should be a valid string")
    assert client.post(path, json={"text": "a", "aspects": [], "items": []}).status_code == 422


@pytest.mark.slow
def test_every_refusal_shows_a_request_that_is_answered(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_text("text,aspect\nthe screen,screen\n")
    with serving(open_batcher([folders.first], Limits())) as live:
        for method, path in (
            ("POST", "/v1/predict"), ("GET", "/v1/explain"), ("POST", "/v1/csv"), ("POST", "/v1/model"), ("GET", "/x"),
            ("GET", "/v1/evidence/stats"), ("GET", "/evidence"),
        ):  # fmt: skip
            refused = httpx.request(method, f"{live.url}{path}", headers={"Content-Type": "text/plain"})
            assert 400 <= refused.status_code < 500
            command = shlex.split(refused.json()["error"]["example"])
            done = subprocess.run([*command, "-sf"], capture_output=True, cwd=tmp_path)
            assert done.returncode == 0, command


def test_a_refusal_for_want_of_a_token_shows_where_it_goes(start: Start) -> None:
    answer = start(access=AccessPolicy("secret")).get("/v1/model", headers={"Host": "a'b; rm"})
    expected = "curl http://127.0.0.1:80/v1/model -H 'Authorization: Bearer TOKEN'"
    assert answer.json()["error"]["example"] == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text("<p>hello</p>")
    (folder / "evidence.html").write_text("<p>evidence</p>")
    (folder / "app.js").write_text("go()")
    (folder / "notes.txt").write_text("private")
    (tmp_path / "secret.html").write_text("secret")
    return folder


@pytest.fixture
def pages(folder: Path, start: Start) -> TestClient:
    return start(pages=read_pages(folder))


def test_pages_are_read_before_the_first_request_and_sent_as_what_they_are(pages: TestClient, folder: Path) -> None:
    (folder / "app.js").unlink()
    (folder / "late.js").write_text("late()")
    index, script = pages.get("/"), pages.get("/static/app.js")
    assert (index.text, index.headers["content-type"]) == ("<p>hello</p>", "text/html; charset=utf-8")
    assert (script.text, script.headers["content-type"]) == ("go()", "text/javascript; charset=utf-8")
    again = pages.get("/static/app.js", headers={"If-None-Match": script.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert pages.get("/static/late.js").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/static/notes.txt",
        "/static/../secret.html",
        "/static/..%2fsecret.html",
        "/static/%2e%2e/secret.html",
        "/static//etc/passwd",
        "/static/",
        "/static/index.html%00.js",
        "/secret.html",
    ],
)
def test_nothing_else_is_sent(pages: TestClient, path: str) -> None:
    answer = pages.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_the_page_of_evidence_is_there_only_with_evidence(pages: TestClient) -> None:
    answer = pages.get("/evidence")
    assert answer.status_code == 404
    assert "--evidence" in answer.json()["error"]["message"]


def test_the_api_is_shown_without_another_host(start: Start) -> None:
    client = start(pages=read_pages(*page_folders()))
    page = client.get("/docs").text
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(addresses) == 4
    for address in addresses:
        assert client.get(address).status_code == 200, address
