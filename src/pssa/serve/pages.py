"""The pages' files, read once at start-up: no path from a request ever opens a file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request, Response

from pssa.serve.errors import ApiError

__all__ = ["FOLDER", "Page", "page_router", "read_pages"]

FOLDER = Path(__file__).parent / "static"
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}


@dataclass(frozen=True)
class Page:
    """A file as it is sent."""

    content: bytes
    media_type: str
    tag: str  # changes with the content


def read_pages(folder: Path = FOLDER) -> dict[str, Page]:
    """The files of a folder that a browser may ask for, by their names."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.name: _read(path) for path in found if path.suffix in _MEDIA_TYPES}


def page_router(pages: Mapping[str, Page], with_evidence: bool) -> APIRouter:
    """`/`, `/static/NAME` and, where there is evidence to review, `/evidence`."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def index(request: Request) -> Response:
        return _send(pages, "index.html", request)

    @router.get("/evidence")
    def evidence(request: Request) -> Response:
        if not with_evidence:
            raise ApiError(404, "not_found", "no evidence is under review; start with --evidence FILE --corpus FILE")
        return _send(pages, "evidence.html", request)

    @router.get("/static/{name}")
    def file(name: str, request: Request) -> Response:
        return _send(pages, name, request)

    return router


def _read(path: Path) -> Page:
    content = path.read_bytes()
    return Page(content, _MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')


def _send(pages: Mapping[str, Page], name: str, request: Request) -> Response:
    page = pages.get(name)
    if page is None:
        raise ApiError(404, "not_found", "there is no such page")
    headers = {"ETag": page.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == page.tag:
        return Response(status_code=304, headers=headers)
    return Response(page.content, headers=headers, media_type=page.media_type)
