"""Shared parts of the benchmarks: options, corpora and runs to measure with, clocks, tables, and the machine they ran on.

A benchmark is a file of this folder with a function `measure(request) -> Measurement` that ends with `main(__doc__, measure)`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

from pssa import __version__
from pssa.cli._output import counted, print_json, print_table, say
from pssa.data import Corpus, embedded, read
from pssa.data.files import write_atomically
from pssa.errors import InputError, PssaError, for_command_line
from pssa.runs.training_run import write_run

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for the archive, which is no part of the package

Cell = str | int | float | None
_PACKAGES = ("torch", "transformers", "numpy")
_TRAINING_INSTANCES = 64  # speed does not depend on the weights
# The system's record of this process; `getrusage` would include the process that started it.
_MEASURED_COMMAND = """
import re, resource, sys, time
from pathlib import Path
from pssa.cli import main
began = time.perf_counter()
code = main([*sys.argv[1:], "--json"])
seconds = time.perf_counter() - began
status = Path("/proc/self/status")
peak = re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1] if status.exists() else 0
scale = 1 if sys.platform == "darwin" else 1024
print(int(peak) * 1024 or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale, seconds, time.process_time())
sys.exit(code)
"""


@dataclass(frozen=True)
class Request:
    """The options of a benchmark.

    :raises InputError: for values that cannot be used.
    """

    data: Path | None = None  # folder of data sets; None: the embedded corpus
    vectors: Path | None = None
    encoder: str | None = None  # folder or hub name
    run: Path | None = None  # to score with; None: a briefly trained model
    rows: tuple[int, ...] = ()  # empty: the default sizes of the benchmark
    repeats: int = 3

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise InputError(f"--repeats is {self.repeats}; it must be at least 1")
        for given in self.rows:
            if given < 1:
                raise InputError(f"--rows holds {given}; every number of rows must be at least 1")
        if self.data is not None and not self.data.is_dir():
            raise InputError(f"--data {self.data} is not a folder; expected one that contains laptop/train.txt")
        for name in ("vectors", "run"):
            path = getattr(self, name)
            if path is not None and not path.exists():
                raise InputError(f"--{name} {path} does not exist; name one that does, or leave it out")
        if self.vectors is not None and self.encoder is not None:
            raise InputError("--vectors and --encoder exclude each other; give one of them")

    def one_size(self, default: int) -> int:
        """Return the number of rows, for a benchmark that takes one.

        :raises InputError: if several are given.
        """
        if len(self.rows) > 1:
            raise InputError(f"--rows names {len(self.rows)} sizes; this benchmark takes one")
        return self.rows[0] if self.rows else default


@dataclass(frozen=True)
class Table:
    """A table of measured numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> list[list[str]]:
        """Return the rows as text for people."""
        return [[_format(cell) for cell in row] for row in self.rows]


@dataclass(frozen=True)
class Measurement:
    """The tables of a benchmark, with a sentence or two of conclusions."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)  # every single measurement, in seconds or as named

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        tables = [
            {"title": t.title, "columns": list(t.columns), "rows": [list(row) for row in t.rows]} for t in self.tables
        ]
        return {"tables": tables, "notes": list(self.notes), "raw": dict(self.raw)}


Measure = Callable[[Request], Measurement]


def main(doc: str | None, measure: Measure, argv: Sequence[str] | None = None) -> int:
    """Measure with the options of the command line, print the result and return the exit code.

    :param doc: the benchmark's docstring, which its help shows.
    """
    parser = _parser(doc or "")
    arguments = parser.parse_args(argv)
    try:
        request = Request(
            arguments.data, arguments.vectors, arguments.encoder, arguments.run, arguments.rows, arguments.repeats
        )
        if arguments.out is not None and not arguments.out.parent.is_dir():
            raise InputError(f"--out {arguments.out}: the folder does not exist; make {arguments.out.parent} first")
        before = load_average()
        found = measure(request)
    except PssaError as error:
        print(f"{parser.prog}: {for_command_line(error)}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    load = {"before": before, "after": load_average()}
    result = {"benchmark": Path(parser.prog).stem, "machine": machine(), "load": load, **found.as_dict()}
    if arguments.out is not None:
        write_atomically(arguments.out, (json.dumps(result, indent=1) + "\n").encode())
    if arguments.json:
        print_json(result)
    else:
        _print(found, result)
    return 0


def _parser(doc: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help="folder with laptop/train.txt and others (default: embedded corpus)")
    add("--vectors", type=Path, metavar="F", help="word vectors to start from")
    add("--encoder", metavar="E", help="folder or hub name of an encoder: measure bertabsa_att with it")
    add("--run", type=Path, metavar="RUN", help="run to score with (default: a briefly trained model)")
    add("--rows", type=_numbers, default=(), metavar="N,N", help="sizes to measure at (default: by benchmark)")
    add("--repeats", type=int, default=3, metavar="N", help="number of repetitions (default 3)")
    add("--out", type=Path, metavar="FILE", help="JSON file for all measurements")
    add("--json", action="store_true", help="print one JSON object on standard output")
    return parser


def _numbers(given: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in given.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given!r} is not a list of whole numbers such as 1000,10000") from None


def _print(found: Measurement, result: Mapping[str, Any]) -> None:
    for table in found.tables:
        print_table(table.title, table.columns, table.text())
    for note in found.notes:
        say(note)
    known, load = result["machine"], result["load"]
    cores = counted(known["cores"], "core")
    say(f"{known['processor']}, {cores}; load average {load['before']} before, {load['after']} after")


def open_corpora(request: Request) -> tuple[Corpus, Corpus]:
    """Return the train and the test part of the first data set in `--data`, or of the embedded corpus.

    :raises InputError: if the folder has none.
    """
    if request.data is None:
        return embedded.load("train"), embedded.load("test")
    from paper.experiments.resources import Resources

    name, source = next(iter(Resources.find(request.data, None, None).sources.items()))
    if source.test is None:
        raise InputError(f"data set {name} in {request.data} has no test file; add one")
    return read(source.train), read(source.test)


def model_settings(request: Request) -> dict[str, Any]:
    """Return the settings of TNet-ATT, or of BERTABSA-ATT if an encoder is given."""
    if request.encoder is not None:
        return {"model": "bertabsa_att", "encoder": request.encoder}
    return {"model": "tnet_att", **({"vectors": str(request.vectors)} if request.vectors else {})}


def trained_run(request: Request, folder: Path) -> Path:
    """Return the run of `--run`, or train one in `folder` for an epoch on a few instances."""
    if request.run is not None:
        return request.run

    few = open_corpora(request)[0].select(range(_TRAINING_INSTANCES))
    return write_run(few, folder / "run", epochs=1, **model_settings(request))


def write_rows(corpus: Corpus, count: int, path: Path) -> Path:
    """Write a JSON Lines file of `count` rows: the corpus over and over, with different texts each time."""
    with path.open("w", encoding="utf-8") as lines:
        for number, example in enumerate(islice(cycle(corpus), count)):
            start, end = example.aspect_chars
            # A repeated sentence would share the encoding of the first, which users' files do not allow.
            turn = f" {number // len(corpus)}" if number >= len(corpus) else ""
            row = {"text": example.text + turn, "aspect": example.aspect_text, "from": start, "to": end}
            row |= {"label": example.label} if example.label else {}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turns(contenders: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """Measure the contenders in turns, `repeats` times (A B C, A B C, ...), so that a busy machine slows all alike."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, measure in contenders.items():
            found[name].append(measure())
    return found


def medians(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of each contender's numbers."""
    return {name: median(values) for name, values in found.items()}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Fit the b of seconds = a * size^b by least squares in logarithms: 1 is linear, 2 quadratic."""
    if len(set(sizes)) < 2:
        raise ValueError(f"an exponent needs at least two different sizes, not {list(sizes)}")
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    along = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return along / sum((a - mean_x) ** 2 for a in x)


def fresh_process(arguments: Sequence[str]) -> str:
    """Run this interpreter with these arguments in a new process and return what it prints.

    :raises PssaError: if it fails.
    """
    # Compiled files of an earlier start are used, as on a user's machine; no hub is contacted.
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise PssaError(f"a measured process ended with exit code {done.returncode}: {last}")
    return done.stdout


def peak_memory(*words: str | Path) -> tuple[int, float, float]:
    """Run a command of pssa in a new process; return its peak of memory in bytes, its seconds, and those of processors."""
    peak, *seconds = fresh_process(("-c", _MEASURED_COMMAND, *map(str, words))).splitlines()[-1].split()
    passed, used = map(float, seconds)
    return int(peak), passed, used


def machine() -> dict[str, Any]:
    """Return the versions and hardware that the numbers depend on, without importing any of the packages."""
    found = {name: _version(name) for name in _PACKAGES}
    return {
        "pssa": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        **{name: found[name] for name in _PACKAGES if found[name]},
    }


def load_average() -> float | None:
    """Return the system's load average of the last minute; None where there is none."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = (line.partition(":")[2].strip() for line in lines if "model name" in line)
        return next(names, platform.processor())
    return platform.processor()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _format(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        # Three figures; clocks are not more precise than that.
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
