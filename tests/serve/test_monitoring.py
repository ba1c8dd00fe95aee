"""Logs: who did what, as lines or as JSON, and no texts."""

from __future__ import annotations

import json
import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serve.conftest import Folders
from tests.serve.review_toys import write_files

from pssa.errors import InputError
from pssa.serve.app import create_app
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits
from pssa.serve.monitoring import AccessLog, log_to_stdout
from pssa.serve.review.session import Review


@pytest.fixture
def client(folders: Folders, tmp_path: Path) -> Iterator[TestClient]:
    review, log = Review.open(write_files(tmp_path)), AccessLog(tmp_path / "access.jsonl")
    app = create_app(open_batcher([folders.first], Limits()), review=review, pages={}, access_log=log)
    with TestClient(app, base_url="http://localhost") as client:
        yield client
    review.close()
    log.close()


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "access.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_every_request_has_a_line_that_says_who_did_what_without_texts(client: TestClient, tmp_path: Path) -> None:
    client.post("/v1/predict", json={"items": [{"text": "a private screen", "aspects": ["screen"]}]})
    client.get("/v1/evidence/sentences?word=private")
    client.get("/no/such path")
    client.post("/v1/csv", content="private", headers={"Content-Type": "text/plain"})
    client.post("/v1/evidence/changes", json={"index": 0, "version": 0, "action": "flip", "word": 0})
    client.post("/v1/evidence/undo", json={"number": 1})
    found = records(tmp_path)
    assert "private" not in json.dumps(found)
    assert [(one["method"], one["path"], one["status"]) for one in found] == [
        ("POST", "/v1/predict", 200),
        ("GET", "/v1/evidence/sentences", 200),
        ("GET", "/no/such path", 404),
        ("POST", "/v1/csv", 415),
        ("POST", "/v1/evidence/changes", 200),
        ("POST", "/v1/evidence/undo", 200),
    ]
    assert {one["client"] for one in found} == {"testclient"}
    assert [one.get("change") for one in found[4:]] == [
        {"index": 0, "action": "flip", "word": 0},
        {"action": "undo", "number": 1},
    ]
    assert stat.S_IMODE((tmp_path / "access.jsonl").stat().st_mode) == 0o600


def test_a_full_disk_stops_no_answer(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        assert [client.get("/healthz").status_code for _ in range(3)] == [200] * 3
    assert caplog.text.count("No space left on device") == 1


def test_what_cannot_be_a_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    for name, why in (("link", "is a symbolic link"), ("no/folder", "cannot be written")):
        with pytest.raises(InputError, match=why):
            AccessLog(tmp_path / name)


def test_standard_output_takes_lines_for_people_too(folders: Folders, capfd: pytest.CaptureFixture[str]) -> None:
    log = AccessLog(Path("-"), "lines")
    with TestClient(create_app(open_batcher([folders.first], Limits()), pages={}, access_log=log)) as client:
        client.get("/healthz")
        client.get("/a path%1b[31m")
    log.close()
    first, second = capfd.readouterr().out.splitlines()
    assert re.fullmatch(r"\S+ testclient GET /healthz 200 \d+\.\d ms", first)
    assert re.fullmatch(r'\S+ testclient GET "/a path\\u001b\[31m" 404 \d+\.\d ms', second)
    assert not Path("-").exists()


def test_what_the_service_reports_is_json_if_one_likes(capsys: pytest.CaptureFixture[str]) -> None:
    with log_to_stdout("json"):
        try:
            raise RuntimeError("gone\nwrong")
        except RuntimeError:
            logging.getLogger("pssa.serve.batcher").exception("an example could not be %s", "scored")
    [line] = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["level"], found["message"]) == ("error", "an example could not be scored")
    assert "RuntimeError" in found["exception"]
