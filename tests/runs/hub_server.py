"""A model hub in a thread: as much of its protocol as pushing and fetching a run takes, with files in memory.

Weights go the way of large files (batch, upload, verify, and a redirect on the way back), everything else is in the commit.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

TOKEN = "hf_writer"  # noqa: S105 - of the only user, whose name is `owner`


@dataclass
class Repository:
    """Branches and commits, each a tree of files."""

    private: bool
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def commit(self, branch: str, tree: dict[str, bytes], message: str) -> str:
        """Put the branch's head on a new tree."""
        name = hashlib.sha1(f"{len(self.commits)} {message}".encode(), usedforsecurity=False).hexdigest()
        self.commits[name], self.branches[branch] = tree, name
        self.messages.append(message)
        return name


@dataclass
class Hub:
    """What the server knows, for tests to look at."""

    endpoint: str = ""
    store: str = ""  # where large files are; another host, to which the library must not send its token
    repositories: dict[str, Repository] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)  # large files by digest
    requests: list[str] = field(default_factory=list)  # "METHOD /path"

    def files(self, repo_id: str, branch: str = "main") -> dict[str, bytes]:
        """The files of a repository."""
        repository = self.repositories[repo_id]
        return repository.commits[repository.branches[branch]]


@contextmanager
def serve() -> Iterator[Hub]:
    """A hub of its own, until the block ends."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.endpoint, hub.store = (f"http://{host}:{server.server_address[1]}" for host in ("127.0.0.1", "localhost"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def open_hub(cache: Path, patch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Serve an empty hub to this process' library, which has an empty cache and the token of `owner`."""
    library = pytest.importorskip("huggingface_hub")
    with serve() as hub:
        point_library_at(hub, cache, patch)
        yield hub
        library.close_session()


def point_library_at(hub: Hub, cache: Path, patch: pytest.MonkeyPatch) -> None:
    """Let this process' library speak with the hub, as the environment would if it had been set before the import."""
    from huggingface_hub import constants

    patch.setenv("HF_TOKEN", TOKEN)
    patch.setattr(constants, "ENDPOINT", hub.endpoint)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    patch.setattr(constants, "HF_HUB_CACHE", str(cache))
    patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    patch.setattr(constants, "HF_HUB_OFFLINE", False)
    for name in ("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT"):
        patch.setattr(constants, name, 120)  # seconds; a machine that is slow and busy may need many


class Refusal(Exception):
    """A status with the code and message that the hub has for it."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(message)
        self.status, self.headers = status, {"X-Error-Code": code, "X-Error-Message": message}


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on standard error."""

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(f"{self.command} {path}")
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            self.body = b"".join(self._chunks())
        try:
            for pattern, answer in _ROUTES.items():
                if found := re.fullmatch(pattern, f"{self.command} {path}"):
                    return answer(self, **found.groupdict())
            raise Refusal(404, message=f"the stand-in has no {self.command} {path}")
        except Refusal as refusal:
            self.send({"error": str(refusal)}, refusal.status, refusal.headers)

    do_GET = do_HEAD = do_POST = do_PUT = _serve  # noqa: N815

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def send(self, content: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """Answer with bytes, or with JSON."""
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(raw))} | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    @property
    def is_owner(self) -> bool:
        """Whether the request comes with the token of the only user."""
        given = self.headers.get("Authorization")
        if given not in (None, f"Bearer {TOKEN}"):
            raise Refusal(401, message="Invalid credentials in Authorization header")
        return given is not None

    def repository(self, repo_id: str) -> Repository:
        """One that the request may see; the hub does not tell strangers what is missing from what is private."""
        found = self.hub.repositories.get(repo_id)
        if found is None or (found.private and not self.is_owner):
            raise Refusal(404 if self.is_owner else 401, "RepoNotFound", "Repository not found")
        return found

    def own_repository(self, repo_id: str) -> Repository:
        """One that the request may write to."""
        if not self.is_owner:
            raise Refusal(401, message="Invalid username or password.")
        return self.repository(repo_id)

    def at(self, repo_id: str, revision: str) -> tuple[str, dict[str, bytes]]:
        """A commit and its files."""
        repository = self.repository(repo_id)
        commit = repository.branches.get(revision, revision)
        if commit not in repository.commits:
            raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit, repository.commits[commit]


def _create(handler: _Handler) -> None:
    asked = json.loads(handler.body)
    if not handler.is_owner:
        raise Refusal(401, message="Invalid username or password.")
    if asked["organization"] not in (None, "owner"):
        raise Refusal(403, message=f"You don't have the rights to create a model under {asked['organization']}")
    repo_id = f"owner/{asked['name']}"
    taken = repo_id in handler.hub.repositories
    if not taken:
        repository = Repository(private=asked.get("visibility") == "private")
        repository.commit("main", {".gitattributes": b"*.safetensors filter=lfs\n"}, "initial commit")
        handler.hub.repositories[repo_id] = repository
    handler.send({"url": f"{handler.hub.endpoint}/{repo_id}"}, 409 if taken else 200)


def _info(handler: _Handler, repo_id: str, revision: str | None = None) -> None:
    commit, _ = handler.at(repo_id, revision or "main")
    handler.send({"id": repo_id, "sha": commit, "private": handler.repository(repo_id).private, "tags": []})


def _tree(handler: _Handler, repo_id: str, revision: str) -> None:
    handler.send([_entry(name, content) for name, content in handler.at(repo_id, revision)[1].items()])


def _entry(name: str, content: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": name, "size": len(content), "oid": _git_digest(content)}
    if _is_large(name):
        entry["lfs"] = {"oid": _digest(content), "size": len(content), "pointerSize": 134}
    return entry


def _branch(handler: _Handler, repo_id: str, branch: str) -> None:
    branches = handler.own_repository(repo_id).branches
    if branch in branches:
        raise Refusal(409, message=f"Reference already exists: refs/heads/{branch}")
    branches[branch] = branches["main"]
    handler.send({}, 201)


def _check_card(handler: _Handler) -> None:
    known = re.match(r"---\n(.*?\n)---\n", json.loads(handler.body)["content"], re.DOTALL)
    handler.send({"errors": [], "warnings": [] if known else [{"message": "empty or missing yaml metadata"}]})


def _preupload(handler: _Handler, repo_id: str, revision: str) -> None:
    handler.own_repository(repo_id)
    _, tree = handler.at(repo_id, revision)
    files = []
    for file in json.loads(handler.body)["files"]:
        name, there = file["path"], tree.get(file["path"])
        digest = None if there is None else _digest(there) if _is_large(name) else _git_digest(there)
        mode = "lfs" if _is_large(name) else "regular"
        files.append({"path": name, "uploadMode": mode, "shouldIgnore": False, "oid": digest})
    handler.send({"files": files})


def _batch(handler: _Handler, repo_id: str) -> None:
    handler.own_repository(repo_id)
    objects = json.loads(handler.body)["objects"]
    for item in objects:
        if item["oid"] not in handler.hub.uploads:
            place = f"{handler.hub.store}/large/{item['oid']}"
            item["actions"] = {"upload": {"href": place}, "verify": {"href": f"{place}/verify"}}
    handler.send({"transfer": "basic", "objects": objects})


def _upload(handler: _Handler, digest: str) -> None:
    handler.hub.uploads[digest] = handler.body
    handler.send(b"")


def _verify(handler: _Handler, digest: str) -> None:
    if _digest(handler.hub.uploads[digest]) != digest:
        raise Refusal(400, message="the content is not what was announced")
    handler.send({})


def _commit(handler: _Handler, repo_id: str, revision: str) -> None:
    repository = handler.own_repository(repo_id)
    header, *changes = map(json.loads, handler.body.splitlines())
    tree = dict(handler.at(repo_id, revision)[1])
    for change in changes:
        value = change["value"]
        if change["key"] == "file":
            tree[value["path"]] = base64.b64decode(value["content"])
        elif change["key"] == "lfsFile":
            tree[value["path"]] = handler.hub.uploads[value["oid"]]
        else:
            del tree[value["path"]]
    name = repository.commit(revision, tree, header["value"]["summary"])
    handler.send({"commitUrl": f"{handler.hub.endpoint}/{repo_id}/commit/{name}", "commitOid": name})


def _resolve(handler: _Handler, repo_id: str, revision: str, name: str) -> None:
    commit, tree = handler.at(repo_id, revision)
    if name not in tree:
        raise Refusal(404, "EntryNotFound", "Entry not found")
    headers = {"X-Repo-Commit": commit, "ETag": f'"{_git_digest(tree[name])}"'}
    if not _is_large(name):
        return handler.send(tree[name], headers=headers)
    digest, size = _digest(tree[name]), str(len(tree[name]))
    headers |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": size}
    return handler.send(b"", 302, headers | {"Location": f"{handler.hub.store}/large/{digest}"})


def _download(handler: _Handler, digest: str) -> None:
    assert handler.headers.get("Authorization") is None
    handler.send(handler.hub.uploads[digest], headers={"ETag": f'"{digest}"'})


def _is_large(name: str) -> bool:
    return name.endswith(".safetensors")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git_digest(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


_ID, _REVISION, _LARGE = "(?P<repo_id>[^/]+/[^/]+)", "(?P<revision>[^/]+)", "/large/(?P<digest>[0-9a-f]+)"
_ROUTES: dict[str, Callable[..., None]] = {
    "POST /api/repos/create": _create,
    "POST /api/validate-yaml": _check_card,
    f"GET /api/models/{_ID}": _info,
    f"GET /api/models/{_ID}/revision/{_REVISION}": _info,
    f"GET /api/models/{_ID}/tree/{_REVISION}": _tree,
    f"POST /api/models/{_ID}/branch/(?P<branch>[^/]+)": _branch,
    f"POST /api/models/{_ID}/preupload/{_REVISION}": _preupload,
    f"POST /{_ID}[.]git/info/lfs/objects/batch": _batch,
    f"PUT {_LARGE}": _upload,
    f"POST {_LARGE}/verify": _verify,
    f"GET {_LARGE}": _download,
    f"POST /api/models/{_ID}/commit/{_REVISION}": _commit,
    f"(GET|HEAD) /{_ID}/resolve/{_REVISION}/(?P<name>.+)": _resolve,
}
