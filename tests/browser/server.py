"""The service as a process of its own, which tests may kill and start again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["Server"]

_SECONDS = 120


class Server:
    """`pssa serve` with these words, at a port that stays the same over restarts."""

    def __init__(self, *words: str | Path, token: str = "") -> None:
        self._words = [str(word) for word in words]
        self._variables = {**os.environ, **({"PSSA_TOKEN": token} if token else {})}
        self._port = 0
        self._token = token
        self.url = ""
        self.start()

    def address(self, path: str = "/") -> str:
        """The address of a page, with the token if the service has one."""
        return f"{self.url}{path}#token={self._token}" if self._token else f"{self.url}{path}"

    def start(self) -> None:
        """Begin to answer; returns when it does."""
        command = [sys.executable, "-m", "pssa", "serve", *self._words, "--json", "--port", str(self._port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._variables)
        assert self._process.stdout is not None
        announced = json.loads(self._process.stdout.readline())
        self.url, self._token = announced["url"], announced.get("token", self._token)
        self._port = urlsplit(self.url).port or 0

    def kill(self) -> None:
        """End it without a chance to tidy up."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as one should."""
        self._end(signal.SIGTERM)

    def _end(self, sign: signal.Signals) -> None:
        self._process.send_signal(sign)
        self._process.wait(_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
