"""Targets of the room `serve`: bodies of requests, tables, changes of a review, its log, and raw bytes on the wire."""

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

__all__ = ["service_targets"]

_ASKED = {
    "items": [{"text": "the screen is bright", "aspects": ["screen", {"from": 4, "to": 10}, "menu"]}],
    "run": "first",
}
_CHANGE = {"index": 0, "version": 0, "action": "drop", "word": 0}
_TABLE = b'text,aspect,label\nthe screen is bright,screen,positive\n"a, b",b,\n'
_BODY = json.dumps(_ASKED).encode()
_RAW = (
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    % (len(_BODY), _BODY),
    b"GET /v1/evidence/sentences?word=a&limit=2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
)


def service_targets(folder: Path) -> dict[str, Target]:
    """By name; `folder` holds the run that is served."""
    write(CORPUS, folder / "train.jsonl")
    write_evidence(EVIDENCE, folder / "reviewed.jsonl")
    log = _log(folder)
    asked, change = json.dumps(_ASKED).encode(), json.dumps(_CHANGE).encode()
    rows = [json.loads(line) for line in log.splitlines()]
    return {
        "serve/predict": Target(_asking(folder, "/v1/predict"), (asked,), grown=request_body(), share=0.5),
        "serve/explain": Target(_asking(folder, "/v1/explain"), (asked,), grown=request_body(), share=0.25),
        "serve/csv": Target(
            _asking(folder, "/v1/csv", "text/csv"), (_TABLE,), grown=table(("text", "aspect", "label")), share=0.25
        ),
        "serve/changes": Target(
            _asking(folder, "/v1/evidence/changes"), (change,), grown=json_document(_CHANGE), share=0.25
        ),
        "serve/log": Target(_reviewing(folder), (log,), grown=json_rows(rows), share=0.5),
        "serve/wire": Target(_wire(folder), _RAW, (b"Host: ", b"Content-Length: ", b"Transfer-Encoding: chunked\r\n"), share=0.1),
    }  # fmt: skip


def _log(folder: Path) -> bytes:
    """The log of a review with a change and an undo."""
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
    batcher = open_batcher(source / "run", None, Limits())
    review = Review.open(folder / "reviewed.jsonl", folder / "train.jsonl")
    return create_app(batcher, review=review), batcher


def _asking(source: Path, path: str, kind: str = "application/json") -> Callable[[Path], Attack]:
    """An attack by the body of a request; a status of 4xx counts as a refusal."""

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


def _reviewing(source: Path) -> Callable[[Path], Attack]:
    def prepare(folder: Path) -> Attack:
        evidence = Path(shutil.copy(source / "reviewed.jsonl", folder / "reviewed.jsonl"))
        log = folder / "reviewed.jsonl.review.jsonl"

        def attack(content: bytes) -> None:
            log.write_bytes(content)
            Review.open(evidence).close()

        return attack

    return prepare


def _wire(source: Path) -> Callable[[Path], Attack]:
    """An attack by whatever comes over a connection; the service must answer or close, and still live."""

    def prepare(folder: Path) -> Attack:
        app, batcher = _application(source, folder)
        bound, started = bind("127.0.0.1", 0), threading.Event()
        server = Server(app, batcher, 5, started.set)
        threading.Thread(target=server.run, args=([bound],), daemon=True).start()
        started.wait(120)
        address = bound.getsockname()

        def attack(content: bytes) -> None:
            said = _exchange(address, content)
            if said and not said.startswith(b"HTTP/1.1 "):
                raise AssertionError(f"an answer that is none: {said[:80]!r}")
            if b"HTTP/1.1 5" in said:
                raise AssertionError(f"a failure: {said[:200]!r}")
            if not _exchange(address, _RAW[0]).startswith(b"HTTP/1.1 200"):
                raise AssertionError("the service does not live any more")

        return attack

    return prepare


def _exchange(address: tuple[str, int], content: bytes) -> bytes:
    said = b""
    with socket.create_connection(address, timeout=120) as connection:  # a judge has less patience
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                said += piece
        except ConnectionError:
            pass  # closed on us, which is an answer too
    return said
