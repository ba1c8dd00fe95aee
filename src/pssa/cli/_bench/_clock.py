"""Taking times so that they can be compared: contenders in turns, medians, and the exponent of a growth."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from pssa.errors import PssaError

__all__ = ["exponent", "fresh_process", "in_turns", "medians", "seconds_of"]


def seconds_of(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turns(contenders: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """What each contender measures, `repeats` times: A B C, A B C, ...; whatever disturbs the machine disturbs all alike."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, measure in contenders.items():
            found[name].append(measure())
    return found


def medians(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The middle of each contender's numbers; of an even count, the mean of the two in the middle."""
    return {name: median(values) for name, values in found.items()}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The b of seconds = a * size^b, by least squares in logarithms: 1 is linear, 2 quadratic."""
    if len(set(sizes)) < 2:
        raise ValueError(f"an exponent needs at least two different sizes, not {list(sizes)}")
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    along = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return along / sum((a - mean_x) ** 2 for a in x)


def fresh_process(words: Sequence[str]) -> str:
    """What this interpreter prints with these words, in a process of its own.

    :raises PssaError: if it fails.
    """
    # Compiled files of an earlier start are used, as on a user's machine; no hub is asked for anything.
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment)  # noqa: S603
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise PssaError(f"a measured process ended with exit code {done.returncode}: {last}")
    return done.stdout
