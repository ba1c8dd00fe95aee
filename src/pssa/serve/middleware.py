"""Middleware: what is checked before a request reaches its route, and what is done with every response.

The order is: host name (`TrustedHostMiddleware`), origin, token, whether the service is closing or full, body, media type.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from secrets import compare_digest
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pssa.serve.batcher import Batcher
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.metrics import Metrics

_DISCONNECTED = 499  # a status that only the metrics see
_MEDIA_TYPES = {"/v1/predict": "application/json", "/v1/explain": "application/json", "/v1/csv": "text/csv"}
# Seconds before a client learns that the queue is full: many that repeat at once would take the worker's time.
_OVERLOAD_PAUSE = 0.1
_DISCARD_SECONDS = 2.0  # for a client to finish sending what is not read any more, so that it sees the response
_MAX_TABLES = 4  # of the largest size that may be in memory
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AccessPolicy:
    """Who may use the service."""

    token: str = field(default="", repr=False)  # empty: everybody
    hosts: frozenset[str] | None = None  # host names that reach the service, without port; None: any

    def admits_token(self, authorization: str) -> bool:
        """Return whether an Authorization header holds the token; takes as long for a wrong one."""
        scheme, _, secret = authorization.partition(" ")
        same = compare_digest(secret.strip().encode("utf-8", "surrogatepass"), self.token.encode())
        return not self.token or (same and scheme.lower() == "bearer")


def add_middleware(app: FastAPI, batcher: Batcher, access: AccessPolicy) -> None:
    """Put the checks around an application; what is added last runs first."""
    app.add_middleware(RequestGuard, batcher=batcher, access=access)
    if access.hosts is not None:  # otherwise a site elsewhere could point its own name here
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=sorted(access.hosts), www_redirect=False)
    app.add_middleware(ResponseGuard, metrics=batcher.metrics)


class ResponseGuard:
    """Counts every request, adds headers to every response and turns errors into responses."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except ClientDisconnect:
            status = _DISCONNECTED
        except Exception as error:
            if status:
                _log.exception("%s %s failed", scope["method"], scope["path"])
                raise  # too late for another response: the connection is cut
            await (await _api_error(error, scope)).response()(scope, receive, send_with_headers)
        finally:
            # Of requests that are refused before they reach their route, only these paths are counted by name.
            unrouted = scope["path"] if scope["path"] in _MEDIA_TYPES else "other"
            route = str(getattr(scope.get("route"), "path", unrouted))
            self._metrics.request(route, status or _DISCONNECTED, time.perf_counter() - began)


class RequestGuard:
    """Refuses requests that may not or cannot be carried out, and reads their bodies within bounds of size and time."""

    def __init__(self, app: ASGIApp, batcher: Batcher, access: AccessPolicy) -> None:
        self.app = app
        self._batcher = batcher
        self._access = access
        self._held = 0  # bytes of bodies in memory, or expected there

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on.

        :raises ApiError: if it is refused.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        self._check(scope, headers)
        if scope["method"] in _SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        limits = self._batcher.limits
        most = limits.table_bytes if scope["path"] == "/v1/csv" else limits.body_bytes
        size = min(_announced_size(headers, most), most)
        if self._held + size > _MAX_TABLES * max(limits.table_bytes, limits.body_bytes):
            raise ApiError(503, "overloaded", "too many requests at once; try again", RETRY)
        self._held += size
        try:
            body = await _read_body(Request(scope, receive), most, limits.body_seconds)
            _check_media_type(scope["path"], headers)
            await self.app(scope, _replay(body, receive), send)
        finally:
            self._held -= size

    def _check(self, scope: Scope, headers: Headers) -> None:
        path = scope["path"]
        if scope["method"] not in _SAFE_METHODS and not _is_same_origin(headers.get("origin"), headers.get("host", "")):
            raise ApiError(403, "cross_origin", "pages of other sites cannot use this service")
        is_protected = path.startswith("/v1/") or path == "/metrics"  # pages and health checks are not
        if is_protected and not self._access.admits_token(headers.get("authorization", "")):
            message = "send the token as `Authorization: Bearer TOKEN`"
            raise ApiError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        if path.startswith("/v1/") and self._batcher.closing:
            raise ApiError(503, "closing", "the service is shutting down", RETRY | {"Connection": "close"})
        if path in _MEDIA_TYPES and self._batcher.is_full:  # before the body is read, so that refusing costs little
            raise overloaded(self._batcher)


def overloaded(batcher: Batcher) -> ApiError:
    """Return the error of a full queue."""
    message = f"{batcher.n_waiting} aspects are waiting, at most {batcher.limits.queue} may; try again"
    return ApiError(503, "overloaded", message, RETRY)


async def _api_error(error: Exception, scope: Scope) -> ApiError:
    if not isinstance(error, ApiError):
        _log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
        return ApiError(500, "failed", "the service failed; see its log")
    if error.code == "overloaded":
        await asyncio.sleep(_OVERLOAD_PAUSE)
    return error


async def _read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return the whole body, whether its length was announced or not.

    :raises ApiError: 413 if it has more than `most` bytes, 408 if it takes longer than `seconds`.
    :raises ClientDisconnect: if the client leaves.
    """
    chunks, content = request.stream(), bytearray()
    is_large = _announced_size(request.headers, 0) > most
    try:
        async with asyncio.timeout(seconds):
            while not is_large and (chunk := await anext(chunks, None)) is not None:
                content += chunk
                is_large = len(content) > most
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds; send it again"
        raise ApiError(408, "too_slow", message, {"Connection": "close"}) from None
    if not is_large:
        return bytes(content)
    finished = "expect" not in request.headers and await _discard(chunks, 4 * most)
    message = f"the body has more than {most} bytes; send it in several requests"
    raise ApiError(413, "too_large", message, {} if finished else {"Connection": "close"})


async def _discard(chunks: AsyncIterator[bytes], most: int) -> bool:
    """Read the rest and drop it, within bounds; return whether it came to an end."""
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            async for chunk in chunks:
                most -= len(chunk)
                if most < 0:
                    return False
    except TimeoutError:
        return False
    return True


def _replay(content: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body in one piece and then waits for what follows it."""
    replayed = False

    async def receive_again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": content, "more_body": False}

    return receive_again


def _announced_size(headers: Headers, default: int) -> int:
    given = headers.get("content-length", "")
    return int(given[:20]) if given.isdecimal() else default


def _check_media_type(path: str, headers: Headers) -> None:
    """Refuse a body to score of another type, in another encoding than UTF-8, or compressed."""
    if path not in _MEDIA_TYPES:
        return
    given = headers.get("content-type", "")
    media_type, *parameters = (part.strip() for part in given.lower().split(";"))
    charsets = {value.strip("\"' ") for name, _, value in (p.partition("=") for p in parameters) if name == "charset"}
    is_plain = headers.get("content-encoding", "identity") == "identity" and charsets <= {"utf-8", "utf8", "us-ascii"}
    if media_type != _MEDIA_TYPES[path] or not is_plain:
        message = f"the media type is {given[:100]!r}; expected {_MEDIA_TYPES[path]} in UTF-8, not compressed"
        raise ApiError(415, "wrong_type", message)


def _is_same_origin(origin: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this service, or from no page at all."""
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False
