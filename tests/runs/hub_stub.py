"""A model hub in place of the library's client: repositories in memory, and the library's own errors."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

TOKEN = "hf_writer"  # noqa: S105 - of the only user, whose name is `owner`
_GITATTRIBUTES = {".gitattributes": b"*.safetensors filter=lfs\n"}  # every repository of the hub begins with it


@dataclass
class Repository:
    """Branches, each a tree of files."""

    private: bool = False
    branches: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"main": dict(_GITATTRIBUTES)})
    messages: list[str] = field(default_factory=list)


@dataclass
class Hub:
    """The functions of the library that a run or an encoder is pushed and fetched with."""

    cache: Path
    endpoint: str = "https://hub.test"
    online: bool = True
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)  # names of files that were fetched, and of calls

    def files(self, repo_id: str, branch: str = "main") -> dict[str, bytes]:
        """The files of a repository."""
        return self.repositories[repo_id].branches[branch]

    def create_repo(self, repo_id: str, *, private: bool | None, exist_ok: bool) -> Any:
        library = _library()
        library.utils.validate_repo_id(repo_id)
        self._ask("create_repo")
        if os.environ.get("HF_TOKEN") != TOKEN:
            raise _refusal("HfHubHTTPError", 401)
        if not repo_id.startswith("owner/"):
            raise _refusal("HfHubHTTPError", 403)
        self.repositories.setdefault(repo_id, Repository(bool(private)))
        return library.RepoUrl(f"{self.endpoint}/{repo_id}", endpoint=self.endpoint)

    def repo_info(self, repo_id: str) -> Any:
        return SimpleNamespace(private=self._seen(repo_id).private)

    def create_branch(self, repo_id: str, *, branch: str, exist_ok: bool) -> None:
        branches = self._seen(repo_id).branches
        branches.setdefault(branch, dict(branches["main"]))

    def list_repo_files(self, repo_id: str, *, revision: str | None = None) -> list[str]:
        return [*self._tree(repo_id, revision)]

    def create_commit(self, repo_id: str, changes: Any, *, commit_message: str, revision: str | None) -> None:
        tree = self._tree(repo_id, revision)
        for change in changes:
            if hasattr(change, "as_file"):
                with change.as_file() as file:
                    tree[change.path_in_repo] = file.read()
            else:
                del tree[change.path_in_repo]
        self.repositories[repo_id].messages.append(commit_message)

    def snapshot_download(
        self,
        repo_id: str,
        *,
        revision: str | None = None,
        allow_patterns: Any = None,
        ignore_patterns: Any = None,
        local_files_only: bool = False,
        **_: Any,
    ) -> str:
        utils = _library().utils
        utils.validate_repo_id(repo_id)
        folder = self.cache / f"models--{repo_id.replace('/', '--')}" / "snapshots" / (revision or "main")
        if local_files_only or not self.online:
            if folder.is_dir():
                return str(folder)
            raise importlib.import_module("huggingface_hub.errors").LocalEntryNotFoundError("not in the cache")
        tree = self._tree(repo_id, revision)
        for name in utils.filter_repo_objects(tree, allow_patterns=allow_patterns, ignore_patterns=ignore_patterns):
            self.requests.append(name)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(tree[name])
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def _ask(self, what: str) -> None:
        self.requests.append(what)
        if not self.online:
            raise _transport().ConnectError("no connection")

    def _seen(self, repo_id: str) -> Repository:
        """A repository that the caller may see; the hub does not tell strangers what is missing from what is private."""
        self._ask(repo_id)
        found = self.repositories.get(repo_id)
        if found is None or (found.private and os.environ.get("HF_TOKEN") != TOKEN):
            raise _refusal("RepositoryNotFoundError", 404)
        return found

    def _tree(self, repo_id: str, revision: str | None) -> dict[str, bytes]:
        branches = self._seen(repo_id).branches
        if (revision or "main") not in branches:
            raise _refusal("RevisionNotFoundError", 404)
        return branches[revision or "main"]


@contextmanager
def open_hub(cache: Path, patch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Put an empty hub in the place of the library's, with an empty cache and the token of `owner`."""
    library, hub = pytest.importorskip("huggingface_hub"), Hub(cache)
    patch.setenv("HF_TOKEN", TOKEN)
    patch.setattr(library, "HfApi", lambda **_: hub)
    patch.setattr(library, "snapshot_download", hub.snapshot_download)
    yield hub


def _library() -> Any:
    return importlib.import_module("huggingface_hub")


def _transport() -> Any:
    """The library that the hub's library sends requests with."""
    error = importlib.import_module("huggingface_hub.errors").HfHubHTTPError
    return importlib.import_module(error.__mro__[1].__module__.partition(".")[0])


def _refusal(kind: str, status: int) -> Exception:
    transport = _transport()
    response = transport.Response(status, request=transport.Request("GET", "https://hub.test"))
    refusal: Exception = getattr(importlib.import_module("huggingface_hub.errors"), kind)("refused", response=response)
    return refusal
