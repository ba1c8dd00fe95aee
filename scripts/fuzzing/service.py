"""Fuzzing targets of `serve`: request bodies, tables, changes of a review, its log, and raw bytes on the wire."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from fuzzing.grammars import json_document, json_rows, request_body, table
from fuzzing.readers import CORPUS, EVIDENCE
from fuzzing.target import Attack, Target
from pssa.data.evidence_file import write_evidence
from pssa.data.io import write
from pssa.errors import PssaError
from pssa.serve.app import create_app
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits
from pssa.serve.review.session import Review
from pssa.serve.server import Server, bind

_REQUEST = {
    "items": [{"text": "the screen is bright", "aspects": ["screen", {"from": 4, "to": 10}, "menu"]}],
    "run": "first",
}
_CHANGE = {"index": 0, "version": 0, "action": "drop", "word": 0}
_TABLE = b'text,aspect,label\nthe screen is bright,screen,positive\n"a, b",b,\n'
_BODY = json.dumps(_REQUEST).encode()
_RAW = (
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    % (len(_BODY), _BODY),
    b"GET /v1/evidence/sentences?word=a&limit=2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
)


def service_targets(folder: Path) -> dict[str, Target]:
    """Return the targets by name; `folder` holds the served run."""
    write(CORPUS, folder / "train.jsonl")
    write_evidence(EVIDENCE, folder / "reviewed.jsonl")
    log = _log(folder)
    request, change = json.dumps(_REQUEST).encode(), json.dumps(_CHANGE).encode()
    rows = [json.loads(line) for line in log.splitlines()]
    return {
        "serve/predict": Target(_request_body(folder, "/v1/predict"), (request,), grown=request_body(), share=0.5),
        "serve/explain": Target(_request_body(folder, "/v1/explain"), (request,), grown=request_body(), share=0.25),
        "serve/csv": Target(
            _request_body(folder, "/v1/csv", "text/csv"), (_TABLE,), grown=table(("text", "aspect", "label")), share=0.25
        ),
        "serve/changes": Target(
            _request_body(folder, "/v1/evidence/changes"), (change,), grown=json_document(_CHANGE), share=0.25
        ),
        "serve/log": Target(_review_log(folder), (log,), grown=json_rows(rows), share=0.5),
        "serve/wire": Target(_wire(folder), _RAW, (b"Host: ", b"Content-Length: ", b"Transfer-Encoding: chunked\r\n"), share=0.1),
    }  # fmt: skip


def _log(folder: Path) -> bytes:
    """Return the log of a review with a change and an undo."""
    review = Review.open(folder / "reviewed.jsonl")
    word = review.sentences[0].example.findings[0].word
    review.change(0, 0, "flip", word)
    review.undo(1)
    review.close()
    path = folder / "reviewed.jsonl.review.jsonl"
    content = path.read_bytes()
    path.unlink()
    return content


def _application(source: Path, folder: Path) -> tuple[Any, Any]:
    for name in ("train.jsonl", "reviewed.jsonl"):
        shutil.copy(source / name, folder / name)
    batcher = open_batcher([source / "run"], Limits())
    review = Review.open(folder / "reviewed.jsonl", folder / "train.jsonl")
    return create_app(batcher, review=review), batcher


def _request_body(source: Path, path: str, kind: str = "application/json") -> Callable[[Path], Attack]:
    """Attack with the body of a request; a status of 4xx counts as a refusal."""

    def prepare(folder: Path) -> Attack:
        app, _ = _application(source, folder)
        client = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
        client.__enter__()  # stays until the process ends

        def attack(content: bytes) -> None:
            answer = client.post(path, content=content, headers={"Content-Type": kind})
            if answer.status_code == 200:
                return
            found = answer.json()["error"]
            if answer.status_code >= 500:
                raise AssertionError(f"{answer.status_code} {found}")
            raise PssaError(found["message"])

        return attack

    return prepare


def _review_log(source: Path) -> Callable[[Path], Attack]:
    def prepare(folder: Path) -> Attack:
        evidence = Path(shutil.copy(source / "reviewed.jsonl", folder / "reviewed.jsonl"))
        log = folder / "reviewed.jsonl.review.jsonl"

        def attack(content: bytes) -> None:
            log.write_bytes(content)
            Review.open(evidence).close()

        return attack

    return prepare


def _wire(source: Path) -> Callable[[Path], Attack]:
    """Attack with any bytes on a connection; the service must respond or close, and survive."""

    def prepare(folder: Path) -> Attack:
        app, batcher = _application(source, folder)
        bound, started = bind("127.0.0.1", 0), threading.Event()
        server = Server(app, batcher, 5, started.set)
        threading.Thread(target=server.run, args=([bound],), daemon=True).start()
        started.wait(120)
        address = bound.getsockname()

        def attack(content: bytes) -> None:
            received = _exchange(address, content)
            if received and not received.startswith(b"HTTP/1.1 "):
                raise AssertionError(f"not an HTTP response: {received[:80]!r}")
            if b"HTTP/1.1 5" in received:
                raise AssertionError(f"a failure: {received[:200]!r}")
            if not _exchange(address, _RAW[0]).startswith(b"HTTP/1.1 200"):
                raise AssertionError("the service has died")

        return attack

    return prepare


def _exchange(address: tuple[str, int], content: bytes) -> bytes:
    received = b""
    with socket.create_connection(address, timeout=120) as connection:  # a judge has less patience
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
        except ConnectionError:
            pass  # closed on us, which is an answer too
    return received
