"""Middleware: what is checked before a request reaches its route, and what is done with every response.

The order is: host name, origin, token, whether the service is closing or full, media type. Bodies are counted while they arrive.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pssa.serve.access import MEDIA_TYPES, SAFE_METHODS, AccessPolicy
from pssa.serve.batcher import Batcher
from pssa.serve.errors import RETRY, ApiError, error_response
from pssa.serve.monitoring import AccessLog

_DISCONNECTED = 499  # a status that only the metrics see
# Seconds before a client learns that the queue is full: many that repeat at once would take the worker's time.
_OVERLOAD_PAUSE = 0.1
_MAX_CHANGE_BYTES = 1 << 16  # of a request that is neither a table nor texts
_MAX_IGNORED_BYTES = 64 << 20  # of a body that is too large, read and dropped so that its client sees the answer
_CLOSE = {"Connection": "close"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_log = logging.getLogger(__name__)


class Guard:
    """Refuses requests that may not or cannot be carried out, and answers, counts and logs every request.

    It bounds the size and time of bodies, adds headers to every response and turns errors into responses.
    """

    def __init__(self, app: ASGIApp, batcher: Batcher, access: AccessPolicy, log: AccessLog | None = None) -> None:
        self.app = app
        self._batcher = batcher
        self._access = access
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

        async def answer(*error: Any) -> None:
            await error_response(scope, *error)(scope, receive, send_with_headers)

        try:
            await self.app(scope, self._admit(scope, receive), send_with_headers)
        except ClientDisconnect:
            status = _DISCONNECTED
        except ApiError as error:
            if error.code == "overloaded":
                await asyncio.sleep(_OVERLOAD_PAUSE)
            await answer(error.status_code, error.code, error.detail, error.headers)
        except asyncio.CancelledError:  # the service ends, and the time for accepted requests is over
            if not status:  # else the connection is cut
                await answer(503, "closing", "the service has ended before it could answer", RETRY)
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise  # too late for another response: the connection is cut
            await answer(500, "failed", "the service failed; see its log")
        finally:
            seconds = time.perf_counter() - began
            routes = (route.path for route in scope["app"].routes if route.path_regex.match(scope["path"]))
            # The pattern of the path, also of a request that was refused before it reached its route.
            self._batcher.metrics.request(next(routes, "other"), status or _DISCONNECTED, seconds)
            if self._log is not None:
                self._log.record(scope, status or _DISCONNECTED, seconds)

    def _admit(self, scope: Scope, receive: Receive) -> Receive:
        """Check a request; return what receives its body, within limits.

        :raises ApiError: if it is refused.
        """
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if not self._access.admits_host(headers.get("host", "")):
            message = "the service does not have this host name; allow it with --allow-host NAME when it starts"
            raise ApiError(400, "wrong_host", message)
        if method not in SAFE_METHODS and not _is_same_origin(headers.get("origin"), headers.get("host", "")):
            raise ApiError(403, "cross_origin", "pages of other sites cannot use this service")
        if self._access.protects(method, path) and not self._access.admits_token(headers.get("authorization", "")):
            message = "send the token as `Authorization: Bearer TOKEN`; the service printed it when it started"
            raise ApiError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        if path.startswith("/v1/") and self._batcher.closing:
            raise ApiError(503, "closing", "the service is shutting down", RETRY | _CLOSE)
        if path in MEDIA_TYPES and self._batcher.is_full:  # before the body is read, so that refusing costs little
            raise overloaded(self._batcher)
        if path in MEDIA_TYPES and method == "POST":
            _check_media_type(path, headers)
        if method in SAFE_METHODS:
            return receive
        limits = self._batcher.limits
        most = limits.table_bytes if path == "/v1/csv" else limits.body_bytes
        most = most if path in MEDIA_TYPES else min(most, _MAX_CHANGE_BYTES)
        return _counted(receive, headers, most, limits.body_seconds, is_json=path != "/v1/csv")


def _counted(receive: Receive, headers: Headers, most: int, seconds: float, is_json: bool) -> Receive:
    """Return a `receive` that refuses a body of more than `most` bytes, announced or not, and one that comes too slowly."""
    announced = headers.get("content-length", "")
    size = int(announced[:20]) if announced.isdecimal() else 0
    ends = "content-length" in headers and size <= _MAX_IGNORED_BYTES and "expect" not in headers
    n_bytes, until, is_whole = 0, asyncio.get_running_loop().time() + seconds, False

    async def receive_counted() -> Message:
        nonlocal n_bytes, is_whole
        if is_whole:
            return await receive()  # waits for the client to leave
        if size <= most:
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise ApiError(408, "too_slow", "the body came too slowly; send it again, faster", _CLOSE) from None
            content = message.get("body", b"")
            n_bytes += len(content)
            if n_bytes <= most:
                if is_json and b"\0" in content:  # of UTF-16, which Python's parser would take
                    raise ApiError(400, "bad_json", "the body is not UTF-8")
                is_whole = not message.get("more_body", False)
                return message
        advice = f"the body has more than {most} bytes; send it in several requests"
        raise ApiError(413, "too_large", advice, {} if ends else _CLOSE)

    return receive_counted


def overloaded(batcher: Batcher) -> ApiError:
    """Return the error of a full queue."""
    limits, seconds = batcher.limits, batcher.seconds_waiting
    most = f"at most {limits.queue}, or {limits.request_seconds} seconds of work, may"
    message = f"{batcher.n_waiting} aspects are waiting, about {seconds:.0f} seconds of work; {most}; try again"
    return ApiError(503, "overloaded", message, RETRY)


def _check_media_type(path: str, headers: Headers) -> None:
    """Refuse a body of another type, in another encoding than UTF-8, or compressed."""
    given = headers.get("content-type", "")
    media_type, *parameters = (part.strip() for part in given.lower().split(";"))
    charsets = {value.strip("\"' ") for name, _, value in (p.partition("=") for p in parameters) if name == "charset"}
    is_plain = headers.get("content-encoding", "identity") == "identity" and charsets <= {"utf-8", "utf8", "us-ascii"}
    if media_type not in MEDIA_TYPES[path] or not is_plain:
        expected = " or ".join(MEDIA_TYPES[path])
        message = f"the media type is {given[:100]!r}; expected {expected} in UTF-8, not compressed"
        raise ApiError(415, "wrong_type", message)


def _is_same_origin(origin: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this service, or from no page at all."""
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False
