"""The access: names, origins, tokens, sizes, and the headers of every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tests.serve.conftest import Start

from pssa.serve import app
from pssa.serve.access import AccessPolicy

ASK = {"items": [{"text": "the screen is huge", "aspects": ["screen"]}]}
JSON = {"Content-Type": "application/json"}
LOCAL = AccessPolicy(hosts=frozenset({"localhost", "127.0.0.1", "[::1]"}))


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil:80", "localhost:80:90", ""])
def test_other_names_are_not(start: Start, host: str) -> None:
    answer = start(access=LOCAL).get("/v1/model", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "wrong_host")
    assert answer.json()["error"]["example"] == "curl http://127.0.0.1:80/v1/model"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_star_stands_for_the_names_below_another(start: Start) -> None:
    client = start(access=AccessPolicy(hosts=frozenset({"*.example.com"})))
    hosts = ("a.example.com", "a.b.example.com:80", "example.com", "badexample.com", "a.example.com.evil")
    found = [client.get("/healthz", headers={"Host": host}).status_code for host in hosts]
    assert found == [200, 200, 400, 400, 400]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/model", "/v1/predict", "/metrics", "/v1/nothing"])
@pytest.mark.parametrize(
    "given", [None, "Bearer", "Bearer wrong", "secret", "Basic secret", "Bearer secret2", "Bearer ñ"]
)
def test_without_the_token_nobody_is_let_in(start: Start, path: str, given: str | None) -> None:
    headers = {} if given is None else {b"Authorization": given.encode("latin-1")}
    answer = start(access=AccessPolicy("secret")).get(path, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_with_the_token_everything_works(start: Start) -> None:
    client = start(access=AccessPolicy("secret"))
    client.headers["Authorization"] = "bearer secret"
    assert client.get("/v1/model").status_code == 200
    assert client.get("/metrics").status_code == 200
    assert client.post("/v1/predict", json=ASK).status_code == 200


def test_a_token_for_changes_leaves_reading_and_predicting_open(start: Start) -> None:
    client = start(access=AccessPolicy("secret", only_changes=True))
    assert client.get("/v1/model").status_code == 200
    assert client.post("/v1/predict", json=ASK).status_code == 200
    for path in ("/v1/evidence/changes", "/v1/evidence/export", "/v1/whatever/comes"):
        assert client.post(path, json={}).status_code == 401
        assert client.post(path, json={}, headers={"Authorization": "Bearer secret"}).status_code == 404


def test_signs_of_life_and_pages_need_no_token(start: Start) -> None:
    client = start(access=AccessPolicy("secret"))
    assert [client.get(path).status_code for path in ("/healthz", "/readyz", "/openapi.json")] == [200] * 3
    assert client.get("/").status_code == 404  # there is none here, but the token is not asked for


def test_a_token_is_not_shown_by_accident() -> None:
    assert "secret" not in repr(AccessPolicy("secret"))


def test_pages_of_other_sites_may_not_ask(start: Start) -> None:
    client = start()
    for origin in ("http://evil.example", "null", "http://localhost:81", "http://[", ""):
        answer = client.post("/v1/predict", json=ASK, headers={"Origin": origin})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cross_origin")
    assert client.post("/v1/predict", json=ASK, headers={"Origin": "http://localhost"}).status_code == 200
    assert client.get("/v1/model", headers={"Origin": "http://evil.example"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/model", "/healthz", "/nothing", "/v1/predict"])
def test_every_answer_carries_the_headers(start: Start, path: str) -> None:
    headers = start().get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


def test_a_failure_is_answered_in_the_one_shape_and_logged(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(app, "score_items", fail)
    answer = start().post("/v1/predict", json=ASK)
    assert answer.status_code == 500
    assert answer.json() == {"error": {"code": "failed", "message": "the service failed; see its log"}}
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "a secret" in caplog.text


def test_what_is_cut_off_at_the_end_is_answered_in_the_one_shape(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(app, "score_items", end)
    answer = start().post("/v1/predict", json=ASK)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "closing")


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 10):
        yield b" " * 10


def test_a_large_body_is_read_to_its_end_so_that_its_client_sees_the_answer(start: Start) -> None:
    answer = start().post("/v1/predict", content=b" " * (10 << 20), headers=JSON)
    assert answer.status_code == 413
    assert "connection" not in answer.headers


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/explain"])
def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(start: Start, path: str) -> None:
    client = start(body_bytes=100)
    announced = client.post(path, content=b" " * 101, headers=JSON)
    counted = client.post(path, content=chunks(200), headers=JSON)
    for answer in (announced, counted):
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        assert "100 bytes" in answer.json()["error"]["message"]
    assert client.post(path, content=chunks(100), headers=JSON).status_code != 413


def test_a_table_may_come_as_the_file_of_a_form(start: Start) -> None:
    client, table = start(), b"text,aspect\nthe screen is huge,screen\n"
    sent = client.post("/v1/csv", content=table, headers={"Content-Type": "text/csv"})
    formed = client.post("/v1/csv", files={"file": ("reviews.csv", table)})
    assert (formed.status_code, formed.text) == (200, sent.text)
    answer = client.post("/v1/csv", files={"table": ("a.csv", table)})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_file")
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post("/v1/csv", content=b"no form", headers=headers)
    assert 400 <= answer.status_code < 500
    small = start(table_bytes=100, body_bytes=100)
    assert small.post("/v1/csv", files={"file": ("a.csv", table * 9)}).status_code == 413


def test_a_table_may_be_larger(start: Start) -> None:
    client = start(body_bytes=30, table_bytes=100)
    table = b"text,aspect\nthe screen is huge,screen\n"
    assert client.post("/v1/csv", content=table, headers={"Content-Type": "text/csv"}).status_code == 200
    assert client.post("/v1/csv", content=table * 3, headers={"Content-Type": "text/csv"}).status_code == 413


def test_requests_are_counted_by_route_and_status(start: Start) -> None:
    client = start()
    for _ in range(2):
        client.get("/v1/model")
    client.get("/nothing/1")
    client.get("/nothing/2")
    client.post("/v1/predict", content=b"")
    client.post("/v1/predict", json=ASK)
    client.post("/v1/predict", json={})
    text = client.get("/metrics").text
    assert 'pssa_requests_total{route="/v1/model",status="200"} 2.0' in text
    assert 'pssa_requests_total{route="other",status="404"} 2.0' in text
    for status in (200, 415, 422):
        assert f'pssa_requests_total{{route="/v1/predict",status="{status}"}} 1.0' in text
    assert 'route="/predict"' not in text
    assert 'pssa_request_seconds_count{route="/v1/model"} 2.0' in text
