"""The pages' files: those of the folder at start-up, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serve.conftest import Start

from pssa.serve.app import read_pages


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
def client(folder: Path, start: Start) -> TestClient:
    return start(pages=read_pages(folder))


def test_pages_are_sent_as_what_they_are(client: TestClient) -> None:
    index, script = client.get("/"), client.get("/static/app.js")
    assert (index.text, index.headers["content-type"]) == ("<p>hello</p>", "text/html; charset=utf-8")
    assert (script.text, script.headers["content-type"]) == ("go()", "text/javascript; charset=utf-8")


def test_files_are_read_before_the_first_request(client: TestClient, folder: Path) -> None:
    (folder / "app.js").unlink()
    (folder / "late.js").write_text("late()")
    assert client.get("/static/app.js").text == "go()"
    assert client.get("/static/late.js").status_code == 404


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
def test_nothing_else_is_sent(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_the_page_of_evidence_is_there_only_with_evidence(client: TestClient) -> None:
    answer = client.get("/evidence")
    assert answer.status_code == 404
    assert "--evidence" in answer.json()["error"]["message"]


def test_what_a_browser_has_already_is_not_sent_again(client: TestClient) -> None:
    tag = client.get("/static/app.js").headers["etag"]
    again = client.get("/static/app.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_folder_that_is_not_there_has_no_pages(tmp_path: Path) -> None:
    assert read_pages(tmp_path / "nothing") == {}
