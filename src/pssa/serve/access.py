"""Access: who may use the service, under which host names, and with which token."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field

from pssa.errors import InputError, setting

SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
# Requests that only compute, and the media types of their bodies.
MEDIA_TYPES = {
    "/v1/predict": ("application/json",),
    "/v1/explain": ("application/json",),
    "/v1/csv": ("text/csv", "multipart/form-data"),
}
HOST = re.compile(r"([\w.-]+|\[[0-9a-f:]+\])(:\d+)?")  # a name or an address, and a port
_MIN_TOKEN = 8  # characters


@dataclass(frozen=True)
class AccessPolicy:
    """Access policy of a service."""

    token: str = field(default="", repr=False)  # empty: everybody
    hosts: frozenset[str] | None = None  # host names that reach the service, without port; None: any
    only_changes: bool = False  # whether reading and predicting need no token

    def admits_host(self, host: str) -> bool:
        """Return whether the service has the name in a Host header."""
        if self.hosts is None or "*" in self.hosts:
            return True
        found = HOST.fullmatch(host.lower())
        if found is None:
            return False
        return any(found[1] == name or (name[0] == "*" and found[1].endswith(name[1:])) for name in self.hosts)

    def admits_token(self, authorization: str) -> bool:
        """Return whether an Authorization header holds the token; takes as long for a wrong one."""
        scheme, _, secret = authorization.partition(" ")
        same = secrets.compare_digest(secret.strip().encode("utf-8", "surrogatepass"), self.token.encode())
        return same and scheme.lower() == "bearer"

    def protects(self, method: str, path: str) -> bool:
        """Return whether a request needs the token; pages and health checks never do."""
        if not self.token or not (path.startswith("/v1/") or path == "/metrics"):
            return False
        return not self.only_changes or (method not in SAFE_METHODS and path not in MEDIA_TYPES)


def choose_access(
    token: str | None, hosts: frozenset[str] | None, *, declined: bool, has_changes: bool
) -> AccessPolicy:
    """Return the access policy of a service.

    A token that is given protects everything. If none is given, one is drawn where it is needed: for everything if the
    service takes any host name, since any website could then point its own name there; else for changes.

    :param token: the given one; None if there is none.
    :param hosts: host names that reach the service; None: any.
    :param declined: whether the user wants no token.
    :param has_changes: whether anything can be changed.
    :raises InputError: if nothing would protect the service.
    """
    if token is not None and declined:
        raise InputError(f"{setting('no_token')} contradicts the token that is given; leave one of them out")
    if token is not None:
        return AccessPolicy(token, hosts)
    if declined and hosts is None:
        reason = "without a token, any website that a user of this network visits could use the service"
        raise InputError(f"{reason}; add {setting('allow_host', 'NAME')}, or leave {setting('no_token')} out")
    if declined or (hosts is not None and not has_changes):
        return AccessPolicy("", hosts)
    return AccessPolicy(secrets.token_urlsafe(16), hosts, only_changes=hosts is not None)


def check_token(token: str) -> str:
    """Return a token that is hard enough to guess, without space around it."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("holds no token; write letters and digits on one line, without spaces")
    if len(token) < _MIN_TOKEN:
        raise InputError(f"holds a token of {len(token)} characters, which can be guessed; write at least {_MIN_TOKEN}")
    return token
