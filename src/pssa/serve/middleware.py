"""The access of the service: who may come in, how much they may bring, and what every answer carries.

In this order: the name the client calls us by, the page it comes from, its token, whether we are about to close or have no
room, its body.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pssa.serve.batcher import Batcher
from pssa.serve.body import ClientGone, announced_size, read_body, replay
from pssa.serve.errors import ApiError

__all__ = ["ASKING", "GONE", "RETRY", "AccessPolicy", "Guard", "overloaded", "protected"]

GONE = 499  # nobody sees this status but the metrics
RETRY = {"Retry-After": "1"}
ASKING = ("/v1/predict", "/v1/explain", "/v1/csv")  # what goes to the batcher
# Seconds until a client is told that there is no room: many that ask again at once would take the worker's time.
_PAUSE = 0.1
_TABLES = 4  # as many of the largest size may be in memory
_READING = ("GET", "HEAD", "OPTIONS", "TRACE")
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
    """Who is let in."""

    token: str = field(default="", repr=False)  # empty: everybody
    hosts: frozenset[str] | None = None  # names we may be called by, without port; None: any

    def admits_host(self, given: str) -> bool:
        """Whether a Host header names us; a page elsewhere can point its own name at this machine."""
        return self.hosts is None or _host_name(given) in self.hosts

    def admits_token(self, given: str) -> bool:
        """Whether an Authorization header holds the token; comparing takes as long for a wrong one."""
        scheme, _, secret = given.partition(" ")
        same = hmac.compare_digest(_digest(secret.strip()), _digest(self.token))
        return not self.token or (same and scheme.lower() == "bearer")


class Guard:
    """Middleware around the whole application."""

    def __init__(self, app: ASGIApp, batcher: Batcher, access: AccessPolicy) -> None:
        self.app = app
        self._batcher = batcher
        self._access = access
        self._held = 0  # bytes of bodies in memory, or expected there

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens, and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, answer = time.perf_counter(), _Answer(send)
        try:
            await self._carry_out(scope, receive, answer)
        except ClientGone:
            answer.status = GONE
        except ApiError as refusal:
            if refusal.code == "overloaded":
                await asyncio.sleep(_PAUSE)
            await answer.refuse(refusal, scope, receive)
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            if answer.status:
                raise  # too late for another answer: the connection is cut
            await answer.refuse(ApiError(500, "failed", "the service failed; its log says why"), scope, receive)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._batcher.metrics.request(route, answer.status or GONE, time.perf_counter() - began)

    async def _carry_out(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        headers = Headers(scope=scope)
        self._admit(scope, headers)
        if scope["method"] in _READING:
            await self.app(scope, receive, answer)
            return
        limits = self._batcher.limits
        most = limits.table_bytes if scope["path"] == "/v1/csv" else limits.body_bytes
        size = min(announced_size(headers, most), most)
        if self._held + size > _TABLES * max(limits.table_bytes, limits.body_bytes):
            raise ApiError(503, "overloaded", "too many requests at once; try again", RETRY)
        self._held += size
        try:
            body = await read_body(receive, headers, most, limits.body_seconds)
            await self.app(scope, replay(body, receive), answer)
        finally:
            self._held -= size

    def _admit(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._access.admits_host(host):
            raise ApiError(421, "wrong_host", "this service is not called by that name; see --allow-host")
        if scope["method"] not in _READING and not _same_site(headers.get("origin"), host):
            raise ApiError(403, "cross_origin", "pages of other sites may not ask this service")
        if protected(scope["path"]) and not self._access.admits_token(headers.get("authorization", "")):
            message = "give the token as `Authorization: Bearer TOKEN`"
            raise ApiError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
        if scope["path"].startswith("/v1/") and self._batcher.closing:
            raise ApiError(503, "closing", "the service is shutting down", RETRY | {"Connection": "close"})
        if scope["path"] in ASKING and self._batcher.full:  # before the body is read, so that refusing costs little
            raise overloaded(self._batcher)


class _Answer:
    """`send` with our headers, which remembers the status."""

    def __init__(self, send: Send) -> None:
        self.status = 0
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)

    async def refuse(self, refusal: ApiError, scope: Scope, receive: Receive) -> None:
        await refusal.response()(scope, receive, self)


def overloaded(batcher: Batcher) -> ApiError:
    """There is no room in the queue."""
    message = f"{batcher.waiting} aspects are waiting, at most {batcher.limits.queue} may; try again"
    return ApiError(503, "overloaded", message, RETRY)


def protected(path: str) -> bool:
    """Whether a path needs the token; pages and signs of life do not."""
    return path.startswith("/v1/") or path == "/metrics"


def _same_site(origin: str | None, host: str) -> bool:
    """Whether a request comes from a page of ours, or from no page at all."""
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False


def _host_name(given: str) -> str:
    """A Host header without its port; `[::1]:8000` is `[::1]`."""
    end = given.find("]") + 1 if given.startswith("[") else len(given.partition(":")[0])
    port = given[end:]
    return given[:end].lower() if not port or (port.startswith(":") and port[1:].isdecimal()) else ""


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
