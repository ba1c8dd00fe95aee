"""Access log: who read or changed what, one line of JSON for each request, without texts.

{"time":"2026-01-31T09:30:00.123+00:00","client":"127.0.0.1","method":"POST","path":"/v1/evidence/changes","status":200,
"ms":4.2,"change":{"index":3,"action":"flip","word":2}}
"""

from __future__ import annotations

import json
import logging
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.types import Scope

from pssa.data.files import open_regular
from pssa.errors import InputError

_QUIET_SECONDS = 60.0  # between two reports that the log cannot be written
_log = logging.getLogger(__name__)


class AccessLog:
    """A log that is open for appending; only its owner can read it.

    :raises InputError: if the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reported = -_QUIET_SECONDS
        is_new = not path.exists()
        try:
            self._descriptor = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            message = f"cannot be written ({error.strerror}); name another file for the access log"
            raise InputError.at(path, None, message) from error
        if is_new:
            os.fchmod(self._descriptor, 0o600)

    def record(self, scope: Scope, status: int, seconds: float) -> None:
        """Write a line about a request. Paths that no route has, and queries, may contain texts and are left out."""
        record: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": (scope.get("client") or ("",))[0],
            "method": scope["method"],
            "path": scope["path"] if scope.get("route") is not None else "other",
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        if change := scope.get("state", {}).get("change"):
            record["change"] = change
        try:
            os.write(self._descriptor, json.dumps(record, separators=(",", ":")).encode() + b"\n")
        except OSError as error:  # a full disk must not stop the service
            if time.monotonic() - self._reported >= _QUIET_SECONDS:
                self._reported = time.monotonic()
                _log.error("%s cannot be written: %s", self._path, error.strerror)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
