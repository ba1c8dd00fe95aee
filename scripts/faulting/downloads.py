"""Downloads that are cut: a hub that closes the connection in the middle of a file, and a client that is killed there."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from faulting.kills import serving
from faulting.lab import Check, Ended, Lab, kill

__all__ = ["DOWNLOADS"]

_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_FETCH = """
import hashlib, pathlib, sys
import pssa
from pssa.errors import PssaError
try:
    classifier = pssa.load("hf:owner/run")
except PssaError as error:
    sys.exit(f"pssa: {error}")
print(classifier.predict("The screen is bright.", "screen").probabilities)
"""


@dataclass
class Hub:
    """One repository, and how much of its weights is sent before the connection is cut."""

    folder: Path
    cuts: int = 0  # answers that are still to be cut; the others are whole
    slow: bool = False  # send so slowly that a client can be killed meanwhile
    served: list[str] = field(default_factory=list)


@contextmanager
def _serving(hub: Hub) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        self.hub.served.append(f"{self.command} {self.path}")
        if found := re.fullmatch(r"/owner/run/resolve/[^/]+/([^?]+)", self.path.partition("?")[0]):
            return self._file(found.group(1))
        if self.path.startswith("/api/models/owner/run/tree"):
            files = sorted(path for path in self.hub.folder.rglob("*") if path.is_file())
            return self._send(json.dumps([self._entry(path) for path in files]).encode(), {})
        if self.path.startswith("/api/models/owner/run"):
            return self._send(
                json.dumps({"id": "owner/run", "sha": _COMMIT, "private": False, "tags": []}).encode(), {}
            )
        return self._send(b"{}", {}, 404)

    do_GET = do_HEAD = _serve  # noqa: N815

    def _entry(self, path: Path) -> dict[str, Any]:
        name, digest = str(path.relative_to(self.hub.folder)), hashlib.sha256(path.read_bytes()).hexdigest()
        return {"type": "file", "path": name, "size": path.stat().st_size, "oid": digest}

    def _file(self, name: str) -> None:
        content = (self.hub.folder / name).read_bytes()
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": _COMMIT,
            "Accept-Ranges": "bytes",
        }
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if start and self.command == "GET":
            place = int(start.group(1))
            headers["Content-Range"] = f"bytes {place}-{len(content) - 1}/{len(content)}"
            return self._send(content[place:], headers, 206, name)
        return self._send(content, headers, 200, name)

    def _send(self, content: bytes, headers: dict[str, str], status: int = 200, name: str = "") -> None:
        self.send_response(status)
        for key, value in {
            **headers,
            "Content-Length": str(len(content)),
            "Content-Type": "application/octet-stream",
        }.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if name.endswith(".safetensors") and (self.hub.cuts > 0 or self.hub.slow):
            self.hub.cuts -= 1
            self.wfile.write(content[: len(content) // 3])
            self.wfile.flush()
            if self.hub.slow:
                threading.Event().wait(20)
            self.close_connection = True
            self.connection.close()
            return
        self.wfile.write(content)


def cut_and_healed(lab: Lab, check: Check) -> None:
    """A download that is cut a few times comes to its end; one that always is says so, and leaves nothing half done."""
    for cuts in (1, 10**6):
        home, hub = lab.folder / f"cache-{cuts}", Hub(serving(lab), cuts)
        with _serving(hub) as address:
            ended = _fetch(lab, address, home)
            check.times += 1
            if cuts > 1:
                last = ended.err.strip().splitlines()[-1]  # the library tells of every attempt before
                check.said.append(last)
                check.expect(ended.code == 1 and last.startswith("pssa: owner/run: "), f"said {ended.err[-500:]}")
                check.expect(not _weights(home), "half a file lies in the cache under its name")
                hub.cuts = 0
                ended = _fetch(lab, address, home)
            check.expect(ended.code == 0, f"cannot be fetched: {ended.err[-500:]}")
        _compare(lab, check, home)


def killed_client(lab: Lab, check: Check) -> None:
    """A client that was killed in the middle of a file fetches it again."""
    home, hub = lab.folder / "cache-killed", Hub(serving(lab), slow=True)
    with _serving(hub) as address:
        check.kills += kill(_start(lab, address, home), 6)
        check.times += 1
        check.expect(not _weights(home), "half a file lies in the cache under its name")
        hub.slow = False
        ended = _fetch(lab, address, home)
        check.expect(ended.code == 0, f"cannot be fetched: {ended.err[-500:]}")
    _compare(lab, check, home)


def _start(lab: Lab, address: str, home: Path) -> Any:
    environment = {
        "HF_ENDPOINT": address,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DOWNLOAD_TIMEOUT": "60",
    }
    return lab.start(python=("-W", "ignore", "-c", _FETCH), environment=environment)


def _fetch(lab: Lab, address: str, home: Path) -> Ended:
    return lab.end(_start(lab, address, home))


def _weights(home: Path) -> list[Path]:
    return list(home.rglob("snapshots/*/model.safetensors"))


def _compare(lab: Lab, check: Check, home: Path) -> None:
    found = [path.read_bytes() for path in _weights(home)]
    check.expect(found == [(serving(lab) / "model.safetensors").read_bytes()], "other weights than those of the hub")


DOWNLOADS: Mapping[str, Callable[[Lab, Check], None]] = {
    "download cut": cut_and_healed,
    "download killed": killed_client,
}
