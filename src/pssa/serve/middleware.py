"""Middleware: what is checked before a request reaches its route, and what is done with every response.

The order is: host name, origin, token, whether the service is closing or full, body, media type, number of values.
"""

from __future__ import annotations

import asyncio
import logging
import time
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pssa.serve.access import MEDIA_TYPES, SAFE_METHODS, AccessPolicy
from pssa.serve.access_log import AccessLog
from pssa.serve.batcher import Batcher
from pssa.serve.bodies import BodyMemory, require_few_values
from pssa.serve.errors import RETRY, ApiError
from pssa.serve.metrics import Metrics

_DISCONNECTED = 499  # a status that only the metrics see
# Seconds before a client learns that the queue is full: many that repeat at once would take the worker's time.
_OVERLOAD_PAUSE = 0.1
_MAX_TABLES, _MAX_BODIES = 4, 16  # of the largest size that may be in memory
_MAX_CHANGE_BYTES = 1 << 16  # of a request that is neither a table nor texts
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_log = logging.getLogger(__name__)


def add_middleware(app: FastAPI, batcher: Batcher, access: AccessPolicy, log: AccessLog | None = None) -> None:
    """Put the checks around an application; what is added last runs first."""
    app.add_middleware(RequestGuard, batcher=batcher, access=access)
    app.add_middleware(ResponseGuard, metrics=batcher.metrics, log=log)


class ResponseGuard:
    """Counts and logs every request, adds headers to every response and turns errors into responses."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: AccessLog | None = None) -> None:
        self.app = app
        self._metrics = metrics
        self._log = log

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
        except (Exception, asyncio.CancelledError) as error:
            if status:
                _log.exception("%s %s failed", scope["method"], scope["path"])
                raise  # too late for another response: the connection is cut
            await (await _api_error(error, scope)).response()(scope, receive, send_with_headers)
        finally:
            # Of requests that are refused before they reach their route, only these paths are counted by name.
            unrouted = scope["path"] if scope["path"] in MEDIA_TYPES else "other"
            route = str(getattr(scope.get("route"), "path", unrouted))
            seconds = time.perf_counter() - began
            self._metrics.request(route, status or _DISCONNECTED, seconds)
            if self._log is not None:
                self._log.record(scope, status or _DISCONNECTED, seconds)


class RequestGuard:
    """Refuses requests that may not or cannot be carried out, and reads their bodies within bounds of size and time."""

    def __init__(self, app: ASGIApp, batcher: Batcher, access: AccessPolicy) -> None:
        self.app = app
        self._batcher = batcher
        self._access = access
        limits = batcher.limits
        # Tables and texts have memory of their own, so that neither keeps the other out.
        self._tables = BodyMemory(_MAX_TABLES * limits.table_bytes)
        self._bodies = BodyMemory(_MAX_BODIES * limits.body_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on.

        :raises ApiError: if it is refused.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        self._check(scope, headers)
        if scope["method"] in SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        limits, path = self._batcher.limits, scope["path"]
        memory = self._tables if path == "/v1/csv" else self._bodies
        most = limits.table_bytes if path == "/v1/csv" else limits.body_bytes
        if path not in MEDIA_TYPES:
            most = min(most, _MAX_CHANGE_BYTES)
        async with memory.read(Request(scope, receive), most, limits.body_seconds) as body:
            _check_media_type(path, headers)
            if MEDIA_TYPES.get(path) == "application/json":
                require_few_values(body, limits)
            await self.app(scope, _replay(body, receive), send)

    def _check(self, scope: Scope, headers: Headers) -> None:
        path = scope["path"]
        if not self._access.admits_host(headers.get("host", "")):
            message = "the service does not have this host name; allow it with --allow-host NAME when it starts"
            raise ApiError(400, "wrong_host", message)
        if scope["method"] not in SAFE_METHODS and not _is_same_origin(headers.get("origin"), headers.get("host", "")):
            raise ApiError(403, "cross_origin", "pages of other sites cannot use this service")
        is_protected = self._access.protects(scope["method"], path)
        if is_protected and not self._access.admits_token(headers.get("authorization", "")):
            message = "send the token as `Authorization: Bearer TOKEN`; the service printed it when it started"
            raise ApiError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        if path.startswith("/v1/") and self._batcher.closing:
            raise ApiError(503, "closing", "the service is shutting down", RETRY | {"Connection": "close"})
        if path in MEDIA_TYPES and self._batcher.is_full:  # before the body is read, so that refusing costs little
            raise overloaded(self._batcher)


def overloaded(batcher: Batcher) -> ApiError:
    """Return the error of a full queue."""
    limits, seconds = batcher.limits, batcher.seconds_waiting
    most = f"at most {limits.queue}, or {limits.request_seconds} seconds of work, may"
    message = f"{batcher.n_waiting} aspects are waiting, about {seconds:.0f} seconds of work; {most}; try again"
    return ApiError(503, "overloaded", message, RETRY)


async def _api_error(error: BaseException, scope: Scope) -> ApiError:
    if isinstance(error, asyncio.CancelledError):  # the service ends, and the time for accepted requests is over
        return ApiError(503, "closing", "the service has ended before it could answer", RETRY)
    if not isinstance(error, ApiError):
        _log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
        return ApiError(500, "failed", "the service failed; see its log")
    if error.code == "overloaded":
        await asyncio.sleep(_OVERLOAD_PAUSE)
    return error


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


def _check_media_type(path: str, headers: Headers) -> None:
    """Refuse a body to score of another type, in another encoding than UTF-8, or compressed."""
    if path not in MEDIA_TYPES:
        return
    given = headers.get("content-type", "")
    media_type, *parameters = (part.strip() for part in given.lower().split(";"))
    charsets = {value.strip("\"' ") for name, _, value in (p.partition("=") for p in parameters) if name == "charset"}
    is_plain = headers.get("content-encoding", "identity") == "identity" and charsets <= {"utf-8", "utf8", "us-ascii"}
    if media_type != MEDIA_TYPES[path] or not is_plain:
        message = f"the media type is {given[:100]!r}; expected {MEDIA_TYPES[path]} in UTF-8, not compressed"
        raise ApiError(415, "wrong_type", message)


def _is_same_origin(origin: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this service, or from no page at all."""
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False
