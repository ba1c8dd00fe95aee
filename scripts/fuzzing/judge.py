"""One case at a time: it must be accepted, or refused in one short line, in bounded time; anything else is a failure.

Memory is bounded for the whole process by `limit_memory`, so that a case that asks for too much meets a `MemoryError`.
"""

from __future__ import annotations

import hashlib
import re
import resource
import signal
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from pssa.errors import PssaError

__all__ = ["Judge", "Tally", "limit_memory"]

LONGEST_MESSAGE = 2000
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class _TookTooLong(BaseException):
    """No handler of `Exception` may swallow it."""


class _BadRefusal(Exception):
    """The refusal itself is not fit to be shown."""


@dataclass
class Tally:
    """What came of the cases of one target by one engine."""

    cases: int = 0
    accepted: int = 0
    refused: int = 0
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)  # by kind and place

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "cases": self.cases,
            "accepted": self.accepted,
            "refused": self.refused,
            "failures": list(self.failures.values()),
        }


class Judge:
    """Tries cases on a target and counts; the bytes of a failure are kept in a folder, once for each kind and place."""

    def __init__(self, name: str, attack: Callable[[bytes], None], kept: Path, seconds: float) -> None:
        self.tally = Tally()
        self._name = name
        self._attack = attack
        self._kept = kept
        self._seconds = seconds
        signal.signal(signal.SIGALRM, _stop)

    def __call__(self, content: bytes) -> None:
        """Try one case."""
        self.tally.cases += 1
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._attack(content)
        except PssaError as error:
            self.tally.refused += 1
            if what := _unfit(str(error)):
                self._fail(content, _BadRefusal(f"{what}: {str(error)[:200]!r}"), error)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a library written in Rust is no Exception
            self._fail(content, error, error)
        else:
            self.tally.accepted += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _fail(self, content: bytes, error: BaseException, raised: BaseException) -> None:
        kind = type(error).__name__.lstrip("_")
        place = _place(raised)
        found = self.tally.failures.setdefault(f"{kind} {place}", {})
        if found:
            found["times"] += 1
            return
        digest = hashlib.sha256(content).hexdigest()[:12]
        path = self._kept / f"{self._name.replace('/', '-')}-{kind}-{digest}"
        self._kept.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        found |= {"kind": kind, "what": str(error)[:300], "place": place, "file": path.name, "times": 1}


def limit_memory(more_bytes: int) -> None:
    """Let this process have so much address space beyond what it has now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    most = pages * resource.getpagesize() + more_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TookTooLong("the case took too long")


def _unfit(message: str) -> str:
    if found := _UNPRINTABLE.search(message):
        return f"a refusal holds {found.group()!r}"
    if len(message) > LONGEST_MESSAGE:
        return f"a refusal has {len(message)} characters"
    return "" if message.strip() else "a refusal says nothing"


def _place(error: BaseException) -> str:
    """The innermost place in the package where it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/pssa/" in frame.filename] or list(frames)
    if not ours:
        return "unknown"
    return f"{ours[-1].filename.rpartition('/pssa/')[2]}:{ours[-1].lineno}"
